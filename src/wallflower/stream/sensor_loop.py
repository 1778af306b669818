"""A sensor at work: readings in, noised windows out, each kept and sent again until its receipt comes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.entropy import Entropy
from wallflower.stream.book import Book, Entry
from wallflower.stream.messages import Differences, Noised, Receipt
from wallflower.stream.sensor import Sensor
from wallflower.stream.transport import CHANNELS, Transport, digest_of, understand


@dataclass
class _Waiting:
    """A window on its way."""

    noised: bytes
    differences: bytes | None
    digest: bytes
    due: float = 0.0
    """When to send it (again)."""
    patience: float = 0.0


@dataclass
class SensorLoop:
    """Joins a sensor, its book and a line. At most `ahead` windows wait for receipts: then readings must wait too."""

    sensor: Sensor
    book: Book
    transport: Transport
    prefix: str
    entropy: Entropy
    ahead: int = 32
    patience: float = 2.0
    """Seconds before the first resend; doubled each time up to `longest`."""
    longest: float = 30.0
    clock: Callable[[], float] = time.monotonic
    dropped: Counter[str] = field(default_factory=Counter)
    resent: int = 0
    _waiting: dict[int, _Waiting] = field(default_factory=dict)
    _connections: int = 0

    def __post_init__(self) -> None:
        self._next = self.book.next_number
        for number, noised, differences in self.book.waiting():
            self._waiting[number] = _Waiting(noised, differences, digest_of(noised))

    @property
    def room(self) -> int:
        """How many more windows may be taken now."""
        return max(0, self.ahead - len(self._waiting))

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def take(self, windows: Sequence[NDArray[np.int64]]) -> None:
        """Noise and charge windows of quantised readings. Raises BudgetError, and then nothing of them is kept or sent."""
        entries = []
        for place, readings in enumerate(windows):
            noised, differences = self.sensor.say(
                readings, series=self.book.series, number=self._next + place, entropy=self.entropy
            )
            entries.append(
                Entry(
                    number=self._next + place,
                    readings=len(readings),
                    noised=noised.encode(),
                    differences=None if differences is None else differences.encode(),
                )
            )
        self.book.charge(entries)
        self._next += len(entries)
        for entry in entries:
            self._waiting[entry.number] = _Waiting(entry.noised, entry.differences, digest_of(entry.noised))

    def turn(self, timeout: float = 0.0) -> None:
        """Hear receipts and send what is due; waits at most `timeout` for the first receipt."""
        settled = []
        while (delivery := self.transport.receive(timeout)) is not None:
            timeout = 0.0
            number = self._settled(understand(self.prefix, delivery, self.dropped))
            delivery.done()
            if number is not None:
                settled.append(number)
                del self._waiting[number]
        if settled:
            self.book.settle(settled)
        self._send()

    def _settled(self, understood: tuple[object, bytes] | None) -> int | None:
        if understood is None:
            return None
        message = understood[0]
        if not isinstance(message, Receipt) or not self.sensor.settles(message):
            self.dropped["foreign"] += 1
            return None
        waiting = self._waiting.get(message.window.number)
        if message.window.series != self.book.series or waiting is None:
            self.dropped["replayed"] += 1
            return None
        if waiting.digest != message.digest:
            self.dropped["foreign"] += 1
            return None
        return message.window.number

    def _send(self) -> None:
        now = self.clock()
        if self.transport.connections != self._connections:
            self._connections = self.transport.connections
            for waiting in self._waiting.values():  # whatever was on the old line may be lost
                waiting.due, waiting.patience = 0.0, 0.0
        for waiting in self._waiting.values():
            if waiting.due > now:
                continue
            if not self._sent(waiting):
                break
            self.resent += waiting.patience > 0
            waiting.patience = min(max(self.patience, 2 * waiting.patience), self.longest)
            waiting.due = now + waiting.patience

    def _sent(self, waiting: _Waiting) -> bool:
        """The corrector's part goes first, so that it is there when the analyst asks."""
        name = self.sensor.name
        if waiting.differences is not None and not self.transport.send(
            f"{self.prefix}/{CHANNELS[Differences]}/{name}", waiting.differences
        ):
            return False
        return self.transport.send(f"{self.prefix}/{CHANNELS[Noised]}/{name}", waiting.noised)
