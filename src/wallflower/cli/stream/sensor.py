"""`wallflower stream sensor`: the one party that sees readings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wallflower.cli.asking import show_price
from wallflower.cli.options import AsJson, DryRun
from wallflower.cli.places import refuse_all_but_metrics
from wallflower.cli.stream.options import Metrics, PasswordFile, Seed, StreamFile, User


def sensor(
    file: StreamFile,
    data: Annotated[
        str, typer.Option("--data", metavar="CSV|PARQUET|-", help="Readings; - for stdin.", show_default=False)
    ],
    name: Annotated[
        str, typer.Option("--name", help="This sensor's name, as on the roster and at the broker.", show_default=False)
    ],
    book: Annotated[
        Path | None, typer.Option("--book", metavar="FILE", help="Its ledger and outbox; default NAME.book.")
    ] = None,
    start_over: Annotated[
        bool, typer.Option("--start-over", help="The book knows another file: take this one from its first reading on.")
    ] = False,
    rate: Annotated[float | None, typer.Option("--rate", metavar="R", help="Readings a second, as if live.")] = None,
    metrics: Metrics = None,
    user: User = None,
    password_file: PasswordFile = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Say what may leave of readings, charged and on disk before it is sent, until each message has its receipt.

    \b
    Example:
        wallflower stream sensor boiler.toml --data readings.csv --name boiler-7 --rate 100
    """
    from wallflower.cli.stream.process import Teller, connect, finish, password_from, say, until_stopped
    from wallflower.stream import assembly, parser
    from wallflower.stream.facts import spent
    from wallflower.stream.metrics import sensor_metrics, write_metrics
    from wallflower.stream.mqtt import paho
    from wallflower.stream.prices import price
    from wallflower.stream.roster import rostered
    from wallflower.stream.sensor_process import SensorTask, refuse_unsendable, send_by_the_clock, send_windows

    declared = parser.load(file)
    rostered(name, declared.roster)
    refuse_all_but_metrics(metrics)
    if dry_run:
        assembly.refuse_unknown_detector(declared)
        show_price(price(declared), as_json=as_json)
        return
    entropy = assembly.entropy(declared, seed)
    password_from(password_file)
    paho()
    refuse_unsendable(declared, data, rate, start_over=start_over)
    kept = assembly.book(declared, name, book or file.parent / f"{name}.book")
    line = None
    refused = None
    try:
        topics = assembly.topics(declared).heard("sensor", sensor=name)
        line = connect(declared, topics, f"sensor {name}", user or name, password_file)
        work = SensorTask(
            declared=declared,
            name=name,
            kept=kept,
            line=line,
            data=data,
            rate=rate,
            entropy=entropy,
            stop=until_stopped(),
            told=Teller("readings taken", line),
            say=say,
            start_over=start_over,
        )
        sent = send_windows(work) if declared.slots is None else send_by_the_clock(work)
        refused = sent.refused
    finally:
        if line is not None:
            line.close()
        statement = kept.statement()
        kept.close()
    if metrics is not None:
        write_metrics(metrics, sensor_metrics(declared, name, statement, sent.outbox))
    private = entropy.private and not declared.test
    finish(spent(declared, name, statement, sent, private=private, released_too=as_json), as_json=as_json)
    if refused is not None:
        raise refused
