"""`wallflower stream`: a sensor, an analyst and a corrector, apart or together."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from wallflower.cli.common import AsJson, DryRun, out, show_price

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
    from wallflower.cli.stream_release import released
    from wallflower.cli.stream_running import entropy_of, finish
    from wallflower.cli.stream_simulation import run_simulation
    from wallflower.schema.exact import exact
    from wallflower.stream import assembly, parser

    declared = parser.load(file)
    if dry_run:
        show_price(assembly.price(declared), as_json=as_json)
        return
    facts = run_simulation(
        declared,
        data=data,
        sensors=sensors,
        readings=readings,
        results=results,
        parquet=parquet,
        picture=picture,
        entropy=entropy_of(declared.test, seed),
    )
    if as_json:
        facts |= released(
            declared,
            account=f"{declared.id}, simulated: no book was kept",
            windows=facts["windows"],
            today=exact(facts["user level epsilon, one sensor"]),
            value={name: facts[name] for name in ("readings", "presumed", "decided")},
            private=facts["private"],
        )
    finish(facts, as_json=as_json)


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
    from wallflower.cli.stream_release import released
    from wallflower.cli.stream_running import Feed, Teller, connect, entropy_of, finish, send_all, until_stopped
    from wallflower.schema.exact import shown
    from wallflower.stream import assembly, parser
    from wallflower.stream.sensor_loop import SensorLoop
    from wallflower.stream.transport import filters, sensor_name

    declared = parser.load(file)
    if dry_run:
        show_price(assembly.price(declared), as_json=as_json)
        return
    entropy = entropy_of(declared.test, seed)
    kept = assembly.book(declared, sensor_name(name), book or file.parent / f"{name}.book")
    feed = Feed(data, [column.name for column in declared.columns], declared.window, skip=kept.consumed)
    line = connect(
        declared, filters(declared.topic_prefix, "sensor", name), f"sensor {name}", user or name, password_file
    )
    sending = SensorLoop(assembly.sensor(declared, name), kept, line, declared.topic_prefix, entropy)
    stop, told = until_stopped(), Teller("sent", line)
    refused = None
    try:
        refused = send_all(sending, feed, stop, told, rate)
    finally:
        line.close()
        statement = kept.statement()
        kept.close()
    facts: dict[str, Any] = {
        "sensor": name,
        "windows": statement.windows,
        "readings": statement.readings,
        "waiting for receipts": statement.waiting,
        "event level epsilon": shown(statement.event),
        "user level epsilon today": shown(statement.today),
        "user level epsilon ever": shown(statement.total),
        "sent again": sending.resent,
        "dropped": dict(sending.dropped),
        "private": entropy.private and not declared.test,
    }
    if as_json:
        facts |= released(
            declared,
            account=f"{declared.id}, sensor {name}",
            windows=statement.windows,
            today=statement.today,
            value={"windows": statement.windows, "readings": statement.readings},
            private=entropy.private and not declared.test,
        )
    finish(facts, as_json=as_json)
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
    from wallflower.cli.stream_running import Teller, connect, finish, open_results, trust, until_stopped
    from wallflower.stream import assembly, parser
    from wallflower.stream.analyst_loop import AnalystLoop
    from wallflower.stream.transport import filters

    declared = parser.load(file)
    kept = open_results(declared, results)
    line = connect(declared, filters(declared.topic_prefix, "analyst"), "analyst", user or "analyst", password_file)
    deciding = AnalystLoop(assembly.analyst(declared), kept, line, declared.topic_prefix)
    stop, told, quiet = until_stopped(), Teller("decided", line), time.monotonic()
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
    finish(
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
    from wallflower.cli.stream_running import connect, finish, trust, until_stopped
    from wallflower.stream import assembly, parser
    from wallflower.stream.analyst_loop import CorrectorLoop
    from wallflower.stream.transport import filters

    declared = parser.load(file)
    party = assembly.corrector(declared)
    line = connect(
        declared, filters(declared.topic_prefix, "corrector"), "corrector", user or "corrector", password_file
    )
    correcting = CorrectorLoop(party, line, declared.topic_prefix)
    stop, handled, quiet = until_stopped(), 0, time.monotonic()
    try:
        while not stop.is_set() and (idle is None or time.monotonic() - quiet < idle):
            turned = correcting.turn(0.2)
            handled += turned
            quiet = time.monotonic() if turned else quiet
    finally:
        line.close()
    dropped = dict(correcting.dropped + party.dropped)
    finish({"messages": handled, "dropped": dropped, "trust": trust(declared)}, as_json=as_json)


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
    from wallflower.stream import parser
    from wallflower.stream.broker import write_configuration

    written = write_configuration(parser.load(file), folder, certificate=certificate, key=key)
    for path in written:
        out.print(f"wrote {path}", markup=False, highlight=False)
    out.print(
        f"Next: mosquitto_passwd -c {folder / 'passwords'} analyst, then one for each sensor, then mosquitto -c {written[0]}",
        markup=False,
        highlight=False,
    )
