"""The work behind `wallflower stream simulate`: made-up readings, live progress, and the picture at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.cli.stream.running import decided_facts, said
from wallflower.cli.terminal import bars_on_stderr
from wallflower.demo.made_up_readings import made_up, made_up_slots
from wallflower.engines.readings import windows_of_file
from wallflower.errors import UsageError
from wallflower.noise.entropy import Entropy
from wallflower.report.figures import Picture
from wallflower.schema.exact import shown
from wallflower.stream import assembly
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.periods import Word
from wallflower.stream.prices import price
from wallflower.stream.promises import guarantee
from wallflower.stream.results import Results
from wallflower.stream.simulation import START, Tally, simulate

DRAWN = 4000


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """What was asked for."""

    data: Path | None = None
    sensors: int = 1
    readings: int = 10_000
    """Made-up readings per sensor, for protocols that speak in windows."""
    periods: int = 7
    """Made-up periods per sensor, for those that speak by the clock."""
    per_slot: int = 10
    results: Path | None = None
    parquet: Path | None = None
    picture: Path | None = None


def run_simulation(
    declared: StreamDeclaration, asked: Simulated, *, entropy: Entropy, drawn: list[Picture] | None = None
) -> dict[str, Any]:
    """Everything `simulate` prints, by name; the page's pictures are added to `drawn`."""
    declared, kept = _prepared(declared, asked)
    memory = _Memory()
    sources = [_source(declared, asked, place, memory) for place in range(asked.sensors)]
    started = time.monotonic()
    with bars_on_stderr() as bars:
        bar = bars.add_task("starting", total=_total(declared, asked))

        def tell(tally: Tally) -> None:
            speed = tally.readings / max(time.monotonic() - started, 1e-9)
            words = f"{tally.readings:,} readings, {speed:,.0f}/s, {tally.waiting} messages wait, lag {tally.lag:.2f} s"
            bars.update(bar, completed=tally.readings, description=words)

        books = simulate(declared, sources, results=kept, entropy=entropy, tell=tell)
    elapsed = max(time.monotonic() - started, 1e-9)
    statement = books[0].statement()
    asked_price = price(declared)
    facts: dict[str, Any] = {
        "stream": declared.id,
        "protocol": declared.protocol,
        "sensors": asked.sensors,
        **decided_facts(declared, kept),
        "readings_a_second": int(memory.count / elapsed),
        ("epsilon_of_a_reading" if declared.slots is None else "epsilon_of_a_period"): shown(declared.event_epsilon),
        "epsilon_of_one_sensor": shown(statement.total),
        "promise": guarantee(declared).sentence,
        "trust": declared.trust,
        "simulated": True,
        "private": False,
    }
    if declared.slots is not None:
        facts["expected"] = dict(asked_price.expected)
        if asked.data is None:
            facts["truth"] = memory.judged(declared, kept.words())
    if asked.picture is not None:
        pictures = _draw(asked.picture, declared, kept, memory, facts)
        if drawn is not None:
            drawn += pictures
    if asked.parquet is not None:
        kept.export(asked.parquet)
    kept.close()
    for book in books:
        book.close()
    return facts


def _prepared(declared: StreamDeclaration, asked: Simulated) -> tuple[StreamDeclaration, Results]:
    """The declaration with a roster as long as wanted, and empty results."""
    if asked.picture is not None and asked.picture.suffix != ".html":
        raise UsageError(f"a picture is a page and ends in .html, got '{asked.picture.name}'.")
    if asked.sensors > len(declared.roster):
        declared = replace(declared, roster=tuple(f"sensor-{place}" for place in range(asked.sensors)))
    kept = assembly.results(declared, asked.results)
    if kept.totals()[0]:
        kept.close()
        raise UsageError(
            f"'{asked.results}' already holds decisions.", hint="A simulation starts anew: name a new file."
        )
    return declared, kept


class _Memory:
    """What a simulation may remember because nothing of it is real, or because its owner asked to see it."""

    def __init__(self) -> None:
        self.count = 0
        self.shown: list[NDArray[np.float64]] = []
        self.loud: set[tuple[int, int]] = set()
        """Made-up (sensor, period) that misbehave."""

    def judged(self, declared: StreamDeclaration, words: list[Word]) -> dict[str, int]:
        """Made-up readings know the truth: how many alarms were right."""
        slots = declared.slots
        if slots is None or declared.protocol != "alarm":
            return {"misbehaving_periods": len(self.loud)}
        first = int(START // slots.period)
        places = {name: place for place, name in enumerate(declared.roster)}
        alarms = {(places[sensor], number // slots.count - first) for sensor, number, said in words if said}
        return {
            "misbehaving_periods": len(self.loud),
            "alarms": len(alarms),
            "right": len(alarms & self.loud),
        }


def _total(declared: StreamDeclaration, asked: Simulated) -> int | None:
    if asked.data is not None:
        return None
    if declared.slots is None:
        return asked.sensors * asked.readings
    return asked.sensors * asked.periods * declared.slots.count * asked.per_slot


def _source(
    declared: StreamDeclaration, asked: Simulated, place: int, memory: _Memory
) -> Iterator[NDArray[np.float64]]:
    columns = [column.name for column in declared.columns]
    if asked.data is not None:
        length = declared.window if declared.slots is None else asked.per_slot
        windows = windows_of_file(asked.data, columns, length=length)
    elif declared.slots is None:
        windows = made_up(declared, asked.readings, seed=place)
    else:
        windows = made_up_slots(
            declared, asked.periods, asked.per_slot, seed=place, loud=lambda period: memory.loud.add((place, period))
        )
    for window in windows:
        memory.count += len(window)
        if place == 0 and sum(map(len, memory.shown)) < DRAWN:
            memory.shown.append(window)
        yield window


def _draw(
    path: Path, declared: StreamDeclaration, kept: Results, memory: _Memory, facts: dict[str, Any]
) -> list[Picture]:
    from wallflower.report.stream import calendar, pictures, write_stream_page

    names = [column.name for column in declared.columns]
    if declared.slots is not None:
        slots = declared.slots
        drawn = [
            calendar(
                declared.roster,
                words=kept.words(),
                slots=slots.count,
                loud={(declared.roster[place], period) for place, period in memory.loud},
                known=bool(memory.loud),
                first=int(START // slots.period),
            )
        ]
    else:
        sample = kept.sample(declared.roster[0], DRAWN)
        measured = np.concatenate(memory.shown)[: len(sample["decided"])]
        received = (
            np.column_stack([np.asarray(sample[name], dtype=np.float64) for name in names])
            if declared.protocol != "code"
            else measured
        )
        party = assembly.sensor(declared, "drawn")
        beyond = assembly.centre(declared).distance(party.quantise(measured)) > float(declared.core_radius)
        drawn = pictures(
            names,
            measured=measured,
            beyond=beyond,
            received=received,
            presumed=np.asarray(sample["presumed"], dtype=np.bool_),
            decided=np.asarray(sample["decided"], dtype=np.bool_),
        )
    shown_facts = {
        name: said(name, value) for name, value in facts.items() if name not in {"alarms", "promise", "expected"}
    }
    write_stream_page(path, stream=declared.id, price=price(declared), facts=shown_facts, drawn=drawn)
    return drawn
