"""`wallflower stream`: a sensor, an analyst and a corrector, apart or together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wallflower.cli.asking import show_price
from wallflower.cli.options import AsJson, DryRun
from wallflower.cli.places import refuse_all_but_parquet
from wallflower.cli.stream.analyst import analyst, corrector
from wallflower.cli.stream.options import Seed, StreamFile
from wallflower.cli.stream.sensor import sensor
from wallflower.cli.stream.status import status
from wallflower.cli.terminal import bars_on_stderr, out
from wallflower.errors import UsageError

if TYPE_CHECKING:
    from wallflower.noise.entropy import Entropy
    from wallflower.stream.simulated_fleet import SimulatedFleet
    from wallflower.stream.simulation import Tally

Rows = Annotated[Path | None, typer.Option("--data", metavar="CSV|PARQUET", help="Readings; else made-up ones.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="Which sensors misbehave, by messages that hide what was measured: sensor, analyst, corrector.",
    )
    for command in (simulate, sensor, analyst, corrector, status, broker):
        group.command()(command)
    app.add_typer(group, name="stream")


def simulate(
    file: StreamFile,
    data: Rows = None,
    sensors: Annotated[
        int | None,
        typer.Option("--sensors", min=1, max=10_000, help="How many sensors; default: the roster, or 1 with --data."),
    ] = None,
    readings: Annotated[
        int, typer.Option("--readings", min=1, max=1_000_000_000, help="Made-up readings per sensor, in windows.")
    ] = 10_000,
    periods: Annotated[
        int, typer.Option("--periods", min=1, max=1_000_000, help="Made-up periods per sensor, by the clock.")
    ] = 7,
    per_slot: Annotated[
        int, typer.Option("--per-slot", min=1, max=1_000_000, help="Readings that make a slot, by the clock.")
    ] = 10,
    results: Annotated[
        Path | None, typer.Option("-o", "--out", "--output", metavar="RESULTS", help="Keep the decisions.")
    ] = None,
    parquet: Annotated[Path | None, typer.Option("--parquet", metavar="FILE", help="Also as Parquet.")] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE.html", help="Draw what was measured and what was said. NOT PRIVATE."),
    ] = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Run every party of a stream in this process, with nothing to install.

    \b
    Example:
        wallflower stream simulate boiler.toml --sensors 3 --picture boiler.html
    """
    from wallflower.cli.stream.process import finish
    from wallflower.stream import assembly, parser
    from wallflower.stream.prices import price
    from wallflower.stream.simulated_fleet import SimulatedFleet, SimulationPlan

    declared = parser.load(file)
    if dry_run:
        assembly.refuse_unknown_detector(declared)
        show_price(price(declared), as_json=as_json)
        return
    entropy = assembly.entropy(declared, seed)
    if picture is not None and picture.suffix != ".html":
        raise UsageError(f"a picture is a page and ends in .html, got '{picture.name}'.")
    refuse_all_but_parquet(parquet)
    asked = SimulationPlan(
        data=data,
        sensors=sensors or (len(declared.roster) if data is None else 1),
        readings=readings,
        periods=periods,
        per_slot=per_slot,
        results=results,
    )
    fleet = SimulatedFleet(declared, asked)
    try:
        found = _watched(fleet, entropy)
        if picture is not None:
            from wallflower.report.stream import write_fleet_page

            write_fleet_page(picture, fleet, found)
        if parquet is not None:
            fleet.results.export(parquet)
    finally:
        fleet.close()
    finish(found, as_json=as_json)


def _watched(fleet: SimulatedFleet, entropy: Entropy) -> dict[str, Any]:
    """Run it, with its speed on stderr."""
    with bars_on_stderr() as bars:
        bar = bars.add_task("starting", total=fleet.total)

        def tell(tally: Tally, speed: float) -> None:
            words = f"{tally.readings:,} readings, {speed:,.0f}/s, {tally.waiting} messages wait, lag {tally.lag:.2f} s"
            bars.update(bar, completed=tally.readings, description=words)

        return fleet.run(entropy, tell)


def broker(
    file: StreamFile,
    folder: Annotated[
        Path, typer.Option("-o", "--out", "--output", metavar="DIR", help="Where the files go.", show_default=False)
    ],
    certificate: Annotated[Path | None, typer.Option("--certificate", metavar="PEM", help="For mqtts://.")] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", metavar="PEM", help="The certificate's key; the user mosquitto runs as must be able to read it."
        ),
    ] = None,
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
        out.print(f"wrote {path}", highlight=False)
    out.print(
        f"Next: mosquitto_passwd -c {folder / 'passwords'} analyst, then one for each sensor, then mosquitto -c {written[0]}",
        highlight=False,
    )
