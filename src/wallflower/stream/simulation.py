"""Every party in one process: sensors, analyst and, for the paper's protocol, a corrector, over the in-process carrier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.entropy import Entropy
from wallflower.stream import assembly
from wallflower.stream.analyst_loop import AnalystLoop, CorrectorLoop
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.results import Results
from wallflower.stream.sensor_loop import SensorLoop
from wallflower.stream.transport import LocalBroker, filters


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How far a simulation has come."""

    windows: int
    readings: int
    waiting: int
    lag: float


def simulate(
    declared: StreamDeclaration,
    sources: Sequence[Iterator[NDArray[np.float64]]],
    *,
    results: Results,
    entropy: Entropy,
    tell: Callable[[Tally], None] = lambda _tally: None,
) -> list[SensorLoop]:
    """Run one sensor per source until every window has been decided and receipted; their books live in memory."""
    broker, prefix = LocalBroker(most_waiting=max(1024, 2 * len(sources))), declared.topic_prefix
    deciding = AnalystLoop(assembly.analyst(declared), results, broker.connect(filters(prefix, "analyst")), prefix)
    correcting = None
    if declared.protocol == "paper":
        correcting = CorrectorLoop(assembly.corrector(declared), broker.connect(filters(prefix, "corrector")), prefix)
    sendings = []
    for place in range(len(sources)):
        name = f"sensor-{place}"
        line = broker.connect(filters(prefix, "sensor", name))
        book = assembly.book(declared, name, None)
        # In one process nothing is lost, so nothing needs sending again: only the protocol's order takes time.
        sendings.append(
            SensorLoop(assembly.sensor(declared, name), book, line, prefix, entropy, ahead=8, patience=60.0)
        )
    open_sources: dict[int, Iterator[NDArray[np.float64]]] = dict(enumerate(sources))
    while open_sources or any(sending.waiting for sending in sendings):
        for place, sending in enumerate(sendings):
            source = open_sources.get(place)
            if source is not None and not _fed(sending, source):
                del open_sources[place]
            sending.turn()
        while deciding.turn() + (correcting.turn() if correcting else 0):
            pass
        waiting = sum(sending.waiting for sending in sendings)
        tell(Tally(windows=deciding.windows, readings=deciding.readings, waiting=waiting, lag=deciding.lag))
    for sending in sendings:
        sending.turn()
    return sendings


def _fed(sending: SensorLoop, source: Iterator[NDArray[np.float64]]) -> bool:
    """Give a sensor as many windows as it has room for; False when its source has ended."""
    windows: list[NDArray[np.int64]] = []
    for _ in range(sending.room):
        values = next(source, None)
        if values is None:
            break
        windows.append(sending.sensor.quantise(values))
    if windows:
        sending.take(windows)
    return bool(windows) or sending.room == 0
