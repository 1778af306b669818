"""The work behind `wallflower stream simulate`: made-up readings, live progress, and the picture at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.cli.common import bars_on_stderr
from wallflower.cli.demo_readings import made_up
from wallflower.cli.stream_running import open_results, trust
from wallflower.engines.readings import windows_of_file
from wallflower.errors import UsageError
from wallflower.noise.entropy import Entropy
from wallflower.report.figures import Picture
from wallflower.stream import assembly
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.simulation import Tally, simulate

DRAWN = 4000


def run_simulation(
    declared: StreamDeclaration,
    *,
    data: Path | None,
    sensors: int,
    readings: int,
    results: Path | None,
    parquet: Path | None,
    picture: Path | None,
    entropy: Entropy,
    drawn: list[Picture] | None = None,
) -> dict[str, Any]:
    """Everything `simulate` prints, by name; the page's pictures are added to `drawn`."""
    if picture is not None and picture.suffix != ".html":
        raise UsageError(f"a picture is a page and ends in .html, got '{picture.name}'.")
    kept = open_results(declared, results)
    if kept.totals()[0]:
        raise UsageError(f"'{results}' already holds decisions.", hint="A simulation starts anew: name a new file.")
    shown: list[NDArray[np.float64]] = []
    sources = [_source(declared, data, place, readings, shown) for place in range(sensors)]
    started = time.monotonic()
    with bars_on_stderr() as bars:
        bar = bars.add_task("starting", total=None if data else sensors * readings)

        def tell(tally: Tally) -> None:
            speed = tally.readings / max(time.monotonic() - started, 1e-9)
            words = f"{tally.readings:,} readings, {speed:,.0f}/s, {tally.waiting} windows wait, lag {tally.lag:.2f} s"
            bars.update(bar, completed=tally.readings, description=words)

        sendings = simulate(declared, sources, results=kept, entropy=entropy, tell=tell)
    elapsed = time.monotonic() - started
    windows, seen, presumed, decided = kept.totals()
    statement = sendings[0].book.statement()
    facts: dict[str, Any] = {
        "stream": declared.id,
        "protocol": declared.protocol,
        "sensors": sensors,
        "windows": windows,
        "readings": seen,
        "presumed": presumed,
        "decided": decided,
        "readings a second": int(seen / max(elapsed, 1e-9)),
        "event level epsilon": str(assembly.price(declared).mechanism["epsilon per reading"]),
        "user level epsilon, one sensor": _exact(statement.total),
        "promise": assembly.guarantee(declared).sentence,
        "trust": trust(declared),
        "private": entropy.private and not declared.test,
    }
    if picture is not None:
        pictures = _draw(picture, declared, kept.sample("sensor-0", DRAWN), shown, facts)
        if drawn is not None:
            drawn += pictures
    if parquet is not None:
        kept.export(parquet)
    kept.close()
    return facts


def _source(
    declared: StreamDeclaration, data: Path | None, place: int, readings: int, shown: list[NDArray[np.float64]]
) -> Iterator[NDArray[np.float64]]:
    windows = (
        made_up(declared, readings, seed=place)
        if data is None
        else windows_of_file(data, [column.name for column in declared.columns], length=declared.window)
    )
    for window in windows:
        if place == 0 and sum(map(len, shown)) < DRAWN:
            shown.append(window)
        yield window


def _draw(
    path: Path,
    declared: StreamDeclaration,
    sample: dict[str, NDArray[Any]],
    shown: list[NDArray[np.float64]],
    facts: dict[str, Any],
) -> list[Picture]:
    from wallflower.report.stream import pictures, write_stream_page

    names = [column.name for column in declared.columns]
    received = np.column_stack([np.asarray(sample[name], dtype=np.float64) for name in names])
    measured = np.concatenate(shown)[: len(received)]
    beyond = assembly.centre(declared).distance(assembly.sensor(declared, "drawn").quantise(measured)) > float(
        declared.core_radius
    )
    drawn = pictures(
        names,
        measured=measured,
        beyond=beyond,
        received=received,
        presumed=np.asarray(sample["presumed"], dtype=np.bool_),
        decided=np.asarray(sample["decided"], dtype=np.bool_),
    )
    write_stream_page(path, stream=declared.id, price=assembly.price(declared), facts=facts, drawn=drawn)
    return drawn


def _exact(value: Any) -> str:
    from wallflower.schema.exact import shown

    return shown(value)
