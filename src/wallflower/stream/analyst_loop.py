"""The analyst and the corrector at work. A receipt leaves only when the window's result is on disk."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from wallflower.stream.analyst import Analyst, CodeAnalyst, Decision, SlotAnalyst
from wallflower.stream.corrector import Corrector
from wallflower.stream.messages import Codes, Message, Noised, Receipt, Tick
from wallflower.stream.results import Results, WindowResult
from wallflower.stream.transport import OTHER_DECLARATION, Delivery, Topics, Transport


@dataclass
class AnalystLoop:
    """Joins an analyst, its results and a line."""

    analyst: Analyst | CodeAnalyst | SlotAnalyst
    results: Results
    transport: Transport
    topics: Topics
    sensors: list[str] | None = None
    """Whose results to look up at the start; None for all."""
    batch: int = 64
    """Deliveries handled between two writes to disk."""
    dropped: Counter[str] = field(default_factory=Counter)
    windows: int = 0
    readings: int = 0
    lag: float = 0.0
    """Seconds from arrival to disk, of the slowest window of the last batch."""
    doubled: set[str] = field(default_factory=set)
    """Sensors under whose name two seem to speak: two books take turns, or one number has two contents."""
    _series: dict[str, bytes] = field(default_factory=dict)
    _retired: set[tuple[str, bytes]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._known = {key: bytes.fromhex(digest) for key, digest in self.results.known(self.sensors).items()}

    def turn(self, timeout: float = 0.0) -> int:
        """Handle what has arrived; returns how many deliveries that was."""
        deliveries: list[Delivery] = []
        decisions: dict[tuple[str, str, int], tuple[Decision, float]] = {}
        receipts: list[Receipt] = []
        while len(deliveries) < self.batch and (delivery := self.transport.receive(timeout)) is not None:
            timeout = 0.0
            deliveries.append(delivery)
            self._hear(delivery, decisions, receipts)
        if decisions:
            stored = self.results.add([_row(decision, received) for decision, received in decisions.values()])
            for key, (decision, _) in decisions.items():
                self._known[key] = bytes.fromhex(stored[key])
                self.readings += len(decision.readings)
                if self._known[key] == decision.digest:
                    receipts.append(decision.receipt())
                else:  # another analyst has decided other bytes under this number
                    self.doubled.add(decision.window.sensor)
            self.windows += len(decisions)
            self.lag = time.time() - min(received for _, received in decisions.values())
        for receipt in receipts:
            self._say(receipt)
        for delivery in deliveries:
            delivery.done()
        return len(deliveries)

    def _hear(
        self,
        delivery: Delivery,
        decisions: dict[tuple[str, str, int], tuple[Decision, float]],
        receipts: list[Receipt],
    ) -> None:
        understood = self.topics.understand(delivery, self.dropped)
        if understood is None:
            return
        message, digest = understood
        if message.window.stream != self.analyst.stream:
            self.dropped["another_declaration"] += 1
            if isinstance(message, Noised | Codes | Tick):
                receipts.append(Receipt(window=message.window, digest=OTHER_DECLARATION))
            return
        key = message.window.key
        if key in decisions:
            self.dropped["replayed"] += 1
            return
        if isinstance(message, Noised | Codes | Tick) and key in self._known:
            self.dropped["replayed"] += 1
            # The sensor has not heard of its receipt. Other bytes under a known number are no resend: no receipt.
            if self._known[key] == digest:
                receipts.append(Receipt(window=message.window, digest=digest))
            else:
                self.doubled.add(message.window.sensor)
            return
        replies, decision = self.analyst.receive(message, digest)
        if decision is not None:
            self._notice_series(message.window.sensor, message.window.series)
            decisions[key] = decision, time.time()
        for reply in replies:
            self._say(reply)

    def _notice_series(self, sensor: str, series: bytes) -> None:
        """A new book retires the old one's series; when the old one speaks again, two sensors have one name."""
        if self._series.get(sensor, series) != series:
            self._retired.add((sensor, self._series[sensor]))
        if (sensor, series) in self._retired:
            self.doubled.add(sensor)
        self._series[sensor] = series

    def _say(self, message: Message) -> None:
        # A message that the line refuses is brought about again by the sensor's resend.
        self.transport.send(self.topics.of_message(message), message.encode())


@dataclass
class CorrectorLoop:
    """Joins a corrector and a line; it keeps nothing on disk, because whatever it forgets is sent again."""

    corrector: Corrector
    transport: Transport
    topics: Topics
    dropped: Counter[str] = field(default_factory=Counter)

    def turn(self, timeout: float = 0.0) -> int:
        handled = 0
        while handled < 256 and (delivery := self.transport.receive(timeout)) is not None:
            timeout = 0.0
            handled += 1
            understood = self.topics.understand(delivery, self.dropped)
            if understood is not None:
                for reply in self.corrector.receive(understood[0]):
                    self.transport.send(self.topics.of_message(reply), reply.encode())
            delivery.done()
        return handled


def _row(decision: Decision, received: float) -> WindowResult:
    sensor, series, number = decision.window.key
    return WindowResult(
        sensor=sensor,
        series=series,
        number=number,
        digest=decision.digest.hex(),
        numbers=decision.readings,
        codes=decision.codes,
        presumed=decision.presumed,
        decided=decision.decided,
        probability=decision.probability,
        received=received,
    )
