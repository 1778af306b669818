"""`wallflower stream status`: what an operator wants to know of a running stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wallflower.cli.options import AsJson
from wallflower.cli.stream.options import StreamFile


def status(
    file: StreamFile,
    results: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            "--output",
            metavar="RESULTS",
            help="Where the analyst keeps its decisions.",
            show_default=False,
        ),
    ],
    quiet_after: Annotated[
        float | None,
        typer.Option(
            "--quiet-after", metavar="S", help="Name sensors not heard for this long; default: two slots, or an hour."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which sensors of the roster were heard, when last, and how much has been decided; may run beside the analyst.

    \b
    Example:
        wallflower stream status boiler.toml -o boiler.results
    """
    import time
    from datetime import UTC, datetime

    from wallflower.cli.stream.running import decided_facts, finish
    from wallflower.errors import UsageError
    from wallflower.stream import assembly, parser

    declared = parser.load(file)
    if "://" not in results and not Path(results).exists():
        raise UsageError(f"there are no results at '{results}' yet.", hint="The analyst makes them when it starts.")
    kept = assembly.results(declared, results)
    try:
        heard = kept.heard()
        facts: dict[str, Any] = {"stream": declared.id, "protocol": declared.protocol, **decided_facts(declared, kept)}
    finally:
        kept.close()
    slots = declared.slots
    limit = quiet_after or (3600.0 if slots is None else 2 * float(slots.slot) + 60)
    silent = [name for name in declared.roster if name not in heard or time.time() - heard[name][1] > limit]
    facts |= {
        "sensors_on_the_roster": len(declared.roster),
        "sensors_heard": len(heard),
        "not_heard_lately": silent,
        "strangers_in_the_results": sorted(set(heard) - set(declared.roster)),
        "last_message": max(
            (datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds") for _, when in heard.values()),
            default="never",
        ),
        "trust": declared.trust,
    }
    finish(facts, as_json=as_json)
