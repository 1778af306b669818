"""`wallflower stream analyst` and `corrector`: the parties that never see a reading."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated

import typer

from wallflower.cli.options import AsJson
from wallflower.cli.places import refuse_all_but_metrics, refuse_all_but_parquet
from wallflower.cli.stream.options import Idle, Metrics, PasswordFile, StreamFile, User


def analyst(
    file: StreamFile,
    results: Annotated[
        str, typer.Option("-o", "--out", "--output", metavar="RESULTS", help="Decisions.", show_default=False)
    ],
    partition: Annotated[
        str | None,
        typer.Option("--partition", metavar="I/P", help="Take one of the stream's P parts only; the first is 0/P."),
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="At the end, also as Parquet.")
    ] = None,
    metrics: Metrics = None,
    idle: Idle = None,
    user: User = None,
    password_file: PasswordFile = None,
    as_json: AsJson = False,
) -> None:
    """Decide which sensors or readings misbehave, keep the decisions, and receipt each message once it is on disk.

    \b
    Example:
        wallflower stream analyst boiler.toml -o boiler.results
    """
    from wallflower.cli.stream.process import (
        Teller,
        connect,
        finish,
        turns,
        until_stopped,
        warn_doubled,
    )
    from wallflower.errors import UsageError
    from wallflower.stream import assembly, parser
    from wallflower.stream.analyst_loop import AnalystLoop
    from wallflower.stream.facts import concluded
    from wallflower.stream.metrics import analyst_metrics, write_metrics

    declared = parser.load(file)
    part = part_asked(partition, declared.partitions)
    refuse_all_but_parquet(parquet)
    refuse_all_but_metrics(metrics)
    kept = assembly.results(declared, results)
    topics = assembly.topics(declared)
    name = "analyst" if part is None else f"analyst {part}"
    line = connect(
        declared, topics.heard("analyst", part=part), name, user or "analyst", password_file, quota=declared.quota
    )
    loop = AnalystLoop(assembly.analyst(declared), kept, line, topics, sensors=topics.sensors(part))
    told = Teller("readings decided" if declared.slots is None else "slots decided", line)
    wrote = 0.0
    try:
        for _ in turns(loop.turn, until_stopped(), idle):
            told(loop.readings, f"{loop.windows} messages, lag {loop.lag:.2f} s", warn_doubled(loop))
            if metrics is not None and time.monotonic() - wrote > 5:
                write_metrics(metrics, analyst_metrics(declared, loop, line))
                wrote = time.monotonic()
    finally:
        connections = line.connections
        line.close()
        if metrics is not None:
            write_metrics(metrics, analyst_metrics(declared, loop, line))
        if parquet is not None:
            kept.export(parquet)
        facts = concluded(declared, kept, loop, line)
        kept.close()
    if connections == 0 and idle is not None:
        raise UsageError(
            f"the broker at {declared.broker} was never reached, so nothing could be heard.",
            hint="Check that it runs, its address in the declaration and, with mqtts://, its certificate ('ca').",
        )
    finish(facts, as_json=as_json)


def part_asked(written: str | None, partitions: int) -> int | None:
    """`2/4` as the third of four parts; None for all of them."""
    from wallflower.errors import UsageError

    if written is None:
        return None
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", written)
    if match is None or int(match[1]) >= int(match[2]):
        raise UsageError(f"a partition is written like 0/4 or 3/4, got '{written}'.")
    if int(match[2]) != partitions:
        raise UsageError(
            f"the stream has {partitions} parts, and --partition speaks of {match[2]}.",
            hint=f"Sensors publish by the declaration: write partitions = {match[2]} in [stream], for all parties.",
        )
    return int(match[1])


def corrector(
    file: StreamFile,
    idle: Idle = None,
    user: User = None,
    password_file: PasswordFile = None,
    as_json: AsJson = False,
) -> None:
    """Correct the analyst as the 2017 paper does; only its protocol has this party, and it is not private towards it.

    \b
    Example:
        wallflower stream corrector boiler.toml
    """
    from wallflower.cli.stream.process import connect, finish, turns, until_stopped
    from wallflower.stream import assembly, parser
    from wallflower.stream.analyst_loop import CorrectorLoop

    declared = parser.load(file)
    party = assembly.corrector(declared)
    topics = assembly.topics(declared)
    line = connect(
        declared, topics.heard("corrector"), "corrector", user or "corrector", password_file, quota=4 * declared.quota
    )
    loop = CorrectorLoop(party, line, topics)
    try:
        handled = sum(turns(loop.turn, until_stopped(), idle))
    finally:
        line.close()
    dropped = dict(loop.dropped + party.dropped + line.dropped)
    finish({"messages": handled, "dropped": dropped, "trust": declared.trust}, as_json=as_json)
