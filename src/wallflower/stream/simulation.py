"""Every party in one process: sensors, analyst and, for the paper's protocol, a corrector, over the in-process carrier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.entropy import Entropy
from wallflower.stream import assembly
from wallflower.stream.analyst_loop import AnalystLoop, CorrectorLoop
from wallflower.stream.book import Book
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.results import Results
from wallflower.stream.sensor_loop import SensorLoop
from wallflower.stream.slot_loop import SlotLoop
from wallflower.stream.transport import LocalBroker

PATIENCE = 1e9
"""In one process nothing is lost, so nothing needs sending again: only the protocol's order takes time."""
Readings = Iterator[NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How far a simulation has come."""

    windows: int
    readings: int
    waiting: int
    lag: float


def simulate(
    declared: StreamDeclaration,
    sources: Sequence[Readings],
    *,
    results: Results,
    entropy: Entropy,
    tell: Callable[[Tally], None] = lambda _tally: None,
) -> list[Book]:
    """Run one sensor per source until every message has been decided and receipted; gives their books, which live in memory.

    A source gives windows of readings or, for a stream that speaks by the clock, the readings of one slot after another.
    """
    if len(sources) > len(declared.roster):
        declared = replace(declared, roster=tuple(f"sensor-{place}" for place in range(len(sources))))
    if declared.slots is not None:
        return _by_the_clock(declared, sources, results=results, entropy=entropy, tell=tell)
    broker, topics = LocalBroker(most_waiting=max(1024, 2 * len(sources))), assembly.topics(declared)
    analyst = AnalystLoop(assembly.analyst(declared), results, broker.connect(topics.heard("analyst")), topics)
    corrector = None
    if declared.protocol == "paper":
        corrector = CorrectorLoop(assembly.corrector(declared), broker.connect(topics.heard("corrector")), topics)
    sensors = []
    for name in declared.roster[: len(sources)]:
        party, kept = assembly.sensor(declared, name), assembly.book(declared, name, None)
        line = broker.connect(topics.heard("sensor", sensor=name))
        outbox = assembly.outbox(declared, party, kept, line, patience=PATIENCE, quota=1e9)
        sensors.append(SensorLoop(party, outbox, entropy, ahead=8))
    open_sources: dict[int, Readings] = dict(enumerate(sources))
    while open_sources or any(sensor.waiting for sensor in sensors):
        for place, sensor in enumerate(sensors):
            source = open_sources.get(place)
            if source is not None and not _fed(sensor, source):
                del open_sources[place]
            sensor.turn()
        while analyst.turn() + (corrector.turn() if corrector else 0):
            pass
        waiting = sum(sensor.waiting for sensor in sensors)
        tell(Tally(windows=analyst.windows, readings=analyst.readings, waiting=waiting, lag=analyst.lag))
    for sensor in sensors:
        sensor.turn()
    return [sensor.outbox.book for sensor in sensors]


def _fed(sensor: SensorLoop, source: Readings) -> bool:
    """Give a sensor as many windows as it has room for; False when its source has ended."""
    windows: list[NDArray[np.int64]] = []
    for _ in range(sensor.room):
        values = next(source, None)
        if values is None:
            break
        windows.append(sensor.sensor.quantise(values))
    if windows:
        sensor.take(windows)
    return bool(windows) or sensor.room == 0


@dataclass
class _VirtualClock:
    seconds: Fraction

    def __call__(self) -> float:
        return float(self.seconds)


def _by_the_clock(
    declared: StreamDeclaration,
    sources: Sequence[Readings],
    *,
    results: Results,
    entropy: Entropy,
    tell: Callable[[Tally], None],
) -> list[Book]:
    """Time is as long as the sources are: it begins with a period and passes slot by slot."""
    slots = declared.slots
    if slots is None:
        raise AssertionError("this protocol speaks in windows.")
    now = _VirtualClock(START - START % slots.period + slots.slot / 2)
    broker, topics = LocalBroker(most_waiting=max(1024, 2 * len(sources))), assembly.topics(declared)
    line = broker.connect(topics.heard("analyst"))
    analyst = AnalystLoop(assembly.analyst(declared, now=now), results, line, topics)
    sensors = []
    for name in declared.roster[: len(sources)]:
        party, kept = assembly.slot_sensor(declared, name), assembly.book(declared, name, None)
        line = broker.connect(topics.heard("sensor", sensor=name))
        outbox = assembly.outbox(declared, party, kept, line, patience=PATIENCE, quota=1e9)
        sensors.append(SlotLoop(party, outbox, entropy, slots.slot, now=now))
    live = dict(enumerate(sources))
    seen = 0
    while live:
        for place, source in list(live.items()):
            values = next(source, None)
            if values is None:
                del live[place]
            else:
                sensors[place].hear(values)
                seen += len(values)
        if not live:
            break
        now.seconds += slots.slot
        for sensor in sensors:
            sensor.turn()
        while analyst.turn():
            pass
        tell(Tally(windows=analyst.windows, readings=seen, waiting=sum(s.waiting for s in sensors), lag=analyst.lag))
    for sensor in sensors:
        sensor.turn()
    return [sensor.outbox.book for sensor in sensors]


START = Fraction(1_798_761_600)
"""Where a simulation's time begins: 2027-01-01 in UTC, or the start of the period that holds it."""
