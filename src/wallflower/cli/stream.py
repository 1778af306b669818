"""`wallflower stream`: a sensor, an analyst and a corrector, apart or together."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from wallflower.cli.common import AsJson, DryRun, err, out, show_lines, show_price
from wallflower.errors import BudgetError, UsageError

StreamFile = Annotated[Path, typer.Argument(metavar="FILE", help="The stream declaration.", show_default=False)]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Name at the broker.", show_default=False)]
PasswordFile = Annotated[
    Path | None,
    typer.Option("--password-file", metavar="FILE", help="File with the password; else WALLFLOWER_MQTT_PASSWORD."),
]
Idle = Annotated[
    float | None, typer.Option("--idle", metavar="S", help="Stop after this many quiet seconds; else on SIGTERM.")
]
Rows = Annotated[Path | None, typer.Option("--data", metavar="CSV|PARQUET", help="Readings; else made-up ones.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, help="Outliers in readings that are noised at their source: sensor, analyst, corrector."
    )
    for command in (simulate, sensor, analyst, corrector, broker):
        group.command()(command)
    app.add_typer(group, name="stream")


def simulate(
    file: StreamFile,
    data: Rows = None,
    sensors: Annotated[int, typer.Option("--sensors", min=1, max=10_000, help="How many sensors.")] = 1,
    readings: Annotated[int, typer.Option("--readings", min=1, help="Made-up readings per sensor.")] = 10_000,
    results: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="RESULTS.duckdb", help="Keep the decisions.")
    ] = None,
    parquet: Annotated[Path | None, typer.Option("--parquet", metavar="FILE", help="Also as Parquet.")] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE.html", help="Draw readings, presumed, decided. NOT PRIVATE."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Predictable noise, only with test = true. NOT PRIVATE.")
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Run every party of a stream in this process, with nothing to install.

    \b
    Example:
        wallflower stream simulate boiler.toml --sensors 3 --picture boiler.html
    """
    from wallflower.cli.stream_simulation import run_simulation
    from wallflower.stream import declaration, parties

    declared = declaration.load(file)
    if dry_run:
        show_price(parties.price(declared), as_json=as_json)
        return
    facts = run_simulation(
        declared,
        data=data,
        sensors=sensors,
        readings=readings,
        results=results,
        parquet=parquet,
        picture=picture,
        entropy=_entropy(declared.test, seed),
    )
    _finish(facts, as_json=as_json)


def sensor(
    file: StreamFile,
    data: Annotated[
        str, typer.Option("--data", metavar="CSV|PARQUET|-", help="Readings; - for stdin.", show_default=False)
    ],
    name: Annotated[str, typer.Option("--name", help="This sensor's name, also in the broker's list.")] = "sensor",
    book: Annotated[
        Path | None, typer.Option("--book", metavar="FILE", help="Its ledger and outbox; default NAME.book.")
    ] = None,
    rate: Annotated[float | None, typer.Option("--rate", metavar="R", help="Readings a second, as if live.")] = None,
    user: User = None,
    password_file: PasswordFile = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Predictable noise, only with test = true. NOT PRIVATE.")
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Noise readings at their source, charge for them, and send them until each window has its receipt.

    \b
    Example:
        wallflower stream sensor boiler.toml --data readings.csv --name boiler-7 --rate 100
    """
    from wallflower.stream import declaration, parties
    from wallflower.stream.sending import Sending
    from wallflower.stream.transport import filters, sensor_name

    declared = declaration.load(file)
    if dry_run:
        show_price(parties.price(declared), as_json=as_json)
        return
    entropy = _entropy(declared.test, seed)
    kept = parties.book(declared, sensor_name(name), book or file.parent / f"{name}.book")
    source = _source(data, [column.name for column in declared.columns], declared.window, skip=kept.consumed)
    line = _line(
        declared, filters(declared.topic_prefix, "sensor", name), f"sensor {name}", user or name, password_file
    )
    sending = Sending(parties.sensor(declared, name), kept, line, declared.topic_prefix, entropy)
    stop, told = _stopped(), _Teller("sent", line)
    refused = None
    try:
        refused = _send_all(sending, source, stop, told, rate)
    finally:
        line.close()
        statement = kept.statement()
        kept.close()
    _finish(
        {
            "sensor": name,
            "windows": statement.windows,
            "readings": statement.readings,
            "waiting for receipts": statement.waiting,
            "event level epsilon": _shown(statement.event),
            "user level epsilon today": _shown(statement.today),
            "user level epsilon ever": _shown(statement.total),
            "sent again": sending.resent,
            "dropped": dict(sending.dropped),
            "private": entropy.private,
        },
        as_json=as_json,
    )
    if refused is not None:
        raise refused


def analyst(
    file: StreamFile,
    results: Annotated[
        Path, typer.Option("--out", "-o", metavar="RESULTS.duckdb", help="Decisions.", show_default=False)
    ],
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="At the end, also as Parquet.")
    ] = None,
    idle: Idle = None,
    user: User = None,
    password_file: PasswordFile = None,
    as_json: AsJson = False,
) -> None:
    """Decide which readings misbehave, keep the decisions, and receipt each window once it is on disk.

    \b
    Example:
        wallflower stream analyst boiler.toml -o boiler.duckdb
    """
    from wallflower.stream import declaration, parties
    from wallflower.stream.deciding import Deciding
    from wallflower.stream.transport import filters

    declared = declaration.load(file)
    kept = open_results(declared, results)
    line = _line(declared, filters(declared.topic_prefix, "analyst"), "analyst", user or "analyst", password_file)
    deciding = Deciding(parties.analyst(declared), kept, line, declared.topic_prefix)
    stop, told, quiet = _stopped(), _Teller("decided", line), time.monotonic()
    try:
        while not stop.is_set() and (idle is None or time.monotonic() - quiet < idle):
            if deciding.turn(0.2):
                quiet = time.monotonic()
            told(deciding.readings, f"{deciding.windows} windows, lag {deciding.lag:.2f} s")
    finally:
        line.close()
        if parquet is not None:
            kept.export(parquet)
        windows, readings, presumed, decided = kept.totals()
        kept.close()
    dropped = dict(deciding.dropped + deciding.analyst.dropped)
    _finish(
        {
            "windows": windows,
            "readings": readings,
            "presumed": presumed,
            "decided": decided,
            "dropped": dropped,
            "trust": trust(declared),
        },
        as_json=as_json,
    )


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
    from wallflower.stream import declaration, parties
    from wallflower.stream.deciding import Correcting
    from wallflower.stream.transport import filters

    declared = declaration.load(file)
    party = parties.corrector(declared)
    line = _line(declared, filters(declared.topic_prefix, "corrector"), "corrector", user or "corrector", password_file)
    correcting = Correcting(party, line, declared.topic_prefix)
    stop, handled, quiet = _stopped(), 0, time.monotonic()
    try:
        while not stop.is_set() and (idle is None or time.monotonic() - quiet < idle):
            turned = correcting.turn(0.2)
            handled += turned
            quiet = time.monotonic() if turned else quiet
    finally:
        line.close()
    dropped = dict(correcting.dropped + party.dropped)
    _finish({"messages": handled, "dropped": dropped, "trust": trust(declared)}, as_json=as_json)


def broker(
    file: StreamFile,
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the files go.", show_default=False)],
    certificate: Annotated[Path | None, typer.Option("--certificate", metavar="PEM", help="For mqtts://.")] = None,
    key: Annotated[Path | None, typer.Option("--key", metavar="PEM", help="The certificate's key.")] = None,
) -> None:
    """Write a mosquitto configuration and an access list that let each party say and hear only its own part.

    \b
    Example:
        wallflower stream broker boiler.toml --out broker
    """
    from wallflower.stream import declaration
    from wallflower.stream.broker import write_configuration

    written = write_configuration(declaration.load(file), folder, certificate=certificate, key=key)
    for path in written:
        out.print(f"wrote {path}", markup=False, highlight=False)
    out.print(
        f"Next: mosquitto_passwd -c {folder / 'passwords'} analyst, then one for each sensor, then mosquitto -c {written[0]}",
        markup=False,
        highlight=False,
    )


def open_results(declared: Any, path: Path | None) -> Any:
    from wallflower.engines.results import Results
    from wallflower.stream import parties

    return Results(
        path,
        stream=f"{declared.id} {declared.fingerprint.hex()}",
        columns={column.name: float(column.domain.step) for column in declared.columns},
        facts={"guarantee": json.dumps(parties.guarantee(declared).to_json()), "trust": trust(declared)},
    )


def trust(declared: Any) -> str:
    from wallflower.stream.declaration import TWO_SERVERS

    return TWO_SERVERS if declared.protocol == "paper" else "nobody: the promise holds against all parties together"


def _send_all(
    sending: Any, source: Iterator[Any], stop: threading.Event, told: _Teller, rate: float | None
) -> BudgetError | None:
    """Send until the source ends and every receipt is in; a refused budget lets what was charged still arrive."""
    started, taken, ended, refused = time.monotonic(), 0, False, None
    while not stop.is_set() and not (ended and not sending.waiting):
        windows: list[Any] = []
        while (
            not ended
            and len(windows) < min(8, sending.room)
            and (rate is None or taken <= rate * (time.monotonic() - started))
        ):
            values = next(source, None)
            ended = values is None
            if values is not None:
                windows.append(sending.sensor.quantise(values))
                taken += len(values)
        if windows:
            try:
                sending.take(windows)
            except BudgetError as error:
                ended, refused = True, error
        sending.turn(0.0 if windows else 0.05)
        told(taken, f"{sending.waiting} windows wait for receipts")
    return refused


def _source(data: str, columns: list[str], length: int, *, skip: int) -> Iterator[Any]:
    from wallflower.engines.readings import windows_of_file, windows_of_lines

    if data == "-":
        return windows_of_lines(sys.stdin, columns, length=length)
    return windows_of_file(Path(data), columns, length=length, skip=skip)


def _line(declared: Any, topics: list[str], client: str, user: str, password_file: Path | None) -> Any:
    from wallflower.stream.mqtt import Login, MqttTransport

    password = os.environ.get("WALLFLOWER_MQTT_PASSWORD")
    if password_file is not None:
        try:
            password = password_file.read_text(encoding="utf-8").strip()
        except OSError:
            raise UsageError(f"the password file '{password_file}' cannot be read.") from None
    login = Login(user=user if password else None, password=password, ca=declared.ca)
    return MqttTransport(declared.broker, topics, client=f"wallflower {declared.id} {client}", login=login)


def _entropy(test: bool, seed: int | None) -> Any:
    from wallflower.noise.entropy import SeededEntropy, SystemEntropy

    if seed is None:
        return SystemEntropy()
    if not test:
        raise UsageError(
            "a seed makes the noise predictable, and this stream is not a test.",
            hint="Leave --seed out, or write test = true in [stream] of a declaration for tests.",
        )
    return SeededEntropy(seed)


def _stopped() -> threading.Event:
    """Set by SIGTERM or Ctrl-C: finish the turn, close the line, keep the book."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


class _Teller:
    """Rates on stderr, every two seconds, for the owner's eyes."""

    def __init__(self, verb: str, line: Any) -> None:
        self._verb, self._then, self._before, self._line = verb, time.monotonic(), 0, line

    def __call__(self, readings: int, more: str) -> None:
        now = time.monotonic()
        if now - self._then < 2:
            return
        speed = (readings - self._before) / (now - self._then)
        self._then, self._before = now, readings
        words = f"{readings:,} readings {self._verb}, {speed:,.0f}/s, {more}"
        words += "" if self._line.connections else "; no connection to the broker yet"
        err.print(words, markup=False, highlight=False)


def _finish(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"ok": True, **facts}, ensure_ascii=False))
    else:
        show_lines([(label, _said(value)) for label, value in facts.items()])


def _said(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {kind}" for kind, count in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "NO: drawn from a seed"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _shown(value: Any) -> str:
    from wallflower.schema.exact import shown

    return shown(value)
