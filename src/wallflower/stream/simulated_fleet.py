"""Sensors that are not there: made-up readings, or an owner's file, through every party, and what is remembered of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.readings import windows_of_file
from wallflower.errors import UsageError
from wallflower.noise.entropy import Entropy
from wallflower.schema.exact import shown
from wallflower.stream import assembly, facts
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.made_up_readings import made_up, made_up_slots
from wallflower.stream.prices import price
from wallflower.stream.promises import guarantee
from wallflower.stream.simulation import START, Tally, simulate

REMEMBERED = 4000
"""Readings of the first sensor that are kept for a picture."""


@dataclass(frozen=True, kw_only=True)
class SimulationPlan:
    """What is simulated."""

    data: Path | None = None
    """A file of readings; None: made-up ones."""
    sensors: int = 1
    readings: int = 10_000
    """Made-up readings per sensor, for protocols that speak in windows."""
    periods: int = 7
    """Made-up periods per sensor, for those that speak by the clock."""
    per_slot: int = 10
    results: Path | None = None
    """Where decisions are kept; None: in memory."""


class SimulatedFleet:
    """One simulation: `run` once, then look, then `close`. It remembers what it may: nothing of it is real, or its owner asked to see it."""

    def __init__(self, declared: StreamDeclaration, asked: SimulationPlan) -> None:
        """The declaration is given a roster as long as wanted; results that hold decisions are refused."""
        if asked.sensors > len(declared.roster):
            declared = replace(declared, roster=tuple(f"sensor-{place}" for place in range(asked.sensors)))
        self.declared, self.asked = declared, asked
        self.results = assembly.results(declared, asked.results)
        if self.results.totals()[0]:
            self.results.close()
            raise UsageError(
                f"'{asked.results}' already holds decisions.", hint="A simulation starts anew: name a new file."
            )
        self.readings = 0
        self._remembered: list[NDArray[np.float64]] = []
        self._loud: set[tuple[int, int]] = set()
        """Made-up (sensor, period) that misbehave."""

    @property
    def total(self) -> int | None:
        """How many readings there will be; None where a file holds them."""
        asked, slots = self.asked, self.declared.slots
        if asked.data is not None:
            return None
        if slots is None:
            return asked.sensors * asked.readings
        return asked.sensors * asked.periods * slots.count * asked.per_slot

    def run(
        self, entropy: Entropy, tell: Callable[[Tally, float], None] = lambda _tally, _speed: None
    ) -> dict[str, Any]:
        """Every party at work until all is decided; what came out, by name. `tell` hears how far it is, and readings a second."""
        declared, started = self.declared, time.monotonic()
        books = simulate(
            declared,
            [self._source(place) for place in range(self.asked.sensors)],
            results=self.results,
            entropy=entropy,
            tell=lambda tally: tell(tally, tally.readings / max(time.monotonic() - started, 1e-9)),
        )
        elapsed = max(time.monotonic() - started, 1e-9)
        statement = books[0].statement()
        for book in books:
            book.close()
        found: dict[str, Any] = {
            "stream": declared.id,
            "protocol": declared.protocol,
            "sensors": self.asked.sensors,
            **facts.decided(declared, self.results),
            "readings_a_second": int(self.readings / elapsed),
            facts.epsilon_of_one(declared): shown(declared.event_epsilon),
            "epsilon_of_one_sensor": shown(statement.total),
            "promise": guarantee(declared).sentence,
            "trust": declared.trust,
            "simulated": True,
            "private": False,
        }
        if declared.slots is not None:
            found["expected"] = dict(price(declared).expected)
            if self.asked.data is None:
                found["truth"] = self._truth()
        return found

    def close(self) -> None:
        self.results.close()

    def sample(self) -> dict[str, NDArray[Any]]:
        """The first sensor's readings as measured and as received, and what was beyond the core, presumed and decided of each."""
        declared = self.declared
        kept = self.results.sample(declared.roster[0], REMEMBERED)
        measured = np.concatenate(self._remembered)[: len(kept["decided"])]
        received = measured
        if declared.protocol != "code":
            received = np.column_stack([np.asarray(kept[each.name], dtype=np.float64) for each in declared.columns])
        steps = assembly.sensor(declared, "drawn").quantise(measured)
        return {
            "measured": measured,
            "beyond": assembly.centre(declared).distance(steps) > float(declared.core_radius),
            "received": received,
            "presumed": np.asarray(kept["presumed"], dtype=np.bool_),
            "decided": np.asarray(kept["decided"], dtype=np.bool_),
        }

    def periods(self) -> dict[str, Any]:
        """What every sensor said by the clock, beside the periods that were made up to misbehave."""
        slots = self.declared.slots
        if slots is None:
            raise AssertionError("this protocol speaks in windows.")
        return {
            "words": self.results.words(),
            "slots": slots.count,
            "loud": {(self.declared.roster[place], period) for place, period in self._loud},
            "known": bool(self._loud),
            "first": int(START // slots.period),
        }

    def _truth(self) -> dict[str, int]:
        """Made-up readings know the truth: how many alarms were right."""
        declared, slots = self.declared, self.declared.slots
        if slots is None or declared.protocol != "alarm":
            return {"misbehaving_periods": len(self._loud)}
        first = int(START // slots.period)
        places = {name: place for place, name in enumerate(declared.roster)}
        words = self.results.words()
        alarms = {(places[sensor], number // slots.count - first) for sensor, number, said in words if said}
        return {
            "misbehaving_periods": len(self._loud),
            "alarms": len(alarms),
            "right": len(alarms & self._loud),
        }

    def _source(self, place: int) -> Iterator[NDArray[np.float64]]:
        declared, asked = self.declared, self.asked
        if asked.data is not None:
            length = declared.window if declared.slots is None else asked.per_slot
            windows = windows_of_file(asked.data, [column.name for column in declared.columns], length=length)
        elif declared.slots is None:
            windows = made_up(declared, asked.readings, seed=place)
        else:
            windows = made_up_slots(
                declared, asked.periods, asked.per_slot, seed=place, loud=lambda period: self._loud.add((place, period))
            )
        for window in windows:
            self.readings += len(window)
            if place == 0 and sum(map(len, self._remembered)) < REMEMBERED:
                self._remembered.append(window)
            yield window
