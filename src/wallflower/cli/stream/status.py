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
    from wallflower.cli.stream.process import finish
    from wallflower.errors import UsageError
    from wallflower.stream import assembly, parser
    from wallflower.stream.facts import decided, heard

    declared = parser.load(file)
    if "://" not in results and not Path(results).exists():
        raise UsageError(f"there are no results at '{results}' yet.", hint="The analyst makes them when it starts.")
    kept = assembly.results(declared, results)
    try:
        facts: dict[str, Any] = {
            "stream": declared.id,
            "protocol": declared.protocol,
            **decided(declared, kept),
            **heard(declared, kept, quiet_after=quiet_after),
        }
    finally:
        kept.close()
    finish(facts, as_json=as_json)
