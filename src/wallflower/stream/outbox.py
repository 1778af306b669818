"""What a sensor has said and nobody has receipted yet: sent, and sent again as the same bytes, until its receipt comes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from wallflower.stream.book import Book
from wallflower.stream.messages import Differences, Message, Noised, Receipt
from wallflower.stream.transport import CHANNELS, OTHER_DECLARATION, Topics, Transport, digest_of

STUBBORN = 3
"""After so many unanswered sendings of one message a sensor says that it waits."""


@dataclass
class _Waiting:
    """A message on its way."""

    body: bytes
    differences: bytes | None
    digest: bytes
    due: float = 0.0
    """When to send it (again)."""
    patience: float = 0.0
    times: int = 0


@dataclass
class Outbox:
    """Joins a sensor's book and its line; sends no faster than the stream's quota, so that no honest sensor is cut off."""

    name: str
    settles: Callable[[Message], bool]
    book: Book
    transport: Transport
    topics: Topics
    quota: float = 500.0
    patience: float = 2.0
    """Seconds before the first resend; doubled each time up to `longest`."""
    longest: float = 30.0
    clock: Callable[[], float] = time.monotonic
    dropped: Counter[str] = field(default_factory=Counter)
    resent: int = 0
    refused: bool = False
    """The analyst has said that it reads another declaration."""
    _waiting: dict[int, _Waiting] = field(default_factory=dict)
    _connections: int = 0
    _allowance: float = 0.0
    _counted: float | None = None

    def __post_init__(self) -> None:
        for number, body, differences in self.book.waiting():
            self.add(number, body, differences)

    def add(self, number: int, body: bytes, differences: bytes | None = None) -> None:
        """A message whose charge and bytes are on disk."""
        self._waiting[number] = _Waiting(body, differences, digest_of(body))

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def unanswered(self) -> bool:
        """Whether messages go out and no receipt ever comes back: a stopped analyst, or one with another declaration."""
        return any(waiting.times >= STUBBORN for waiting in self._waiting.values())

    @property
    def complaint(self) -> str:
        """Why nothing moves, as far as a sensor can tell; empty when all is well."""
        if self.refused:
            return "the analyst reads another declaration than this sensor: did epsilon, a window or a column change? Messages wait"
        if self.unanswered:
            return "messages go out and no receipt comes back: is the analyst running, for this sensor and with this declaration?"
        return ""

    def turn(self, timeout: float = 0.0) -> None:
        """Hear receipts and send what is due; waits at most `timeout` for the first receipt."""
        settled = []
        while (delivery := self.transport.receive(timeout)) is not None:
            timeout = 0.0
            number = self._settled(self.topics.understand(delivery, self.dropped))
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
        if not isinstance(message, Receipt) or not self.settles(message):
            self.dropped["foreign"] += 1
            return None
        waiting = self._waiting.get(message.window.number)
        if message.window.series != self.book.series or waiting is None:
            self.dropped["replayed"] += 1
            return None
        if waiting.digest != message.digest:
            self.refused = self.refused or message.digest == OTHER_DECLARATION
            self.dropped["foreign"] += 1
            return None
        return message.window.number

    def _send(self) -> None:
        now = self.clock()
        elapsed = 1.0 if self._counted is None else now - self._counted
        self._allowance, self._counted = min(self.quota, self._allowance + elapsed * self.quota), now
        if self.transport.connections != self._connections:
            self._connections = self.transport.connections
            for waiting in self._waiting.values():  # whatever was on the old line may be lost
                waiting.due, waiting.patience = 0.0, 0.0
        for waiting in self._waiting.values():
            if waiting.due > now:
                continue
            if self._allowance < 1 or not self._sent(waiting):
                break
            self._allowance -= 1
            self.resent += waiting.patience > 0
            waiting.times += 1
            waiting.patience = min(max(self.patience, 2 * waiting.patience), self.longest)
            waiting.due = now + waiting.patience

    def _sent(self, waiting: _Waiting) -> bool:
        """The corrector's part goes first, so that it is there when the analyst asks."""
        if waiting.differences is not None and not self.transport.send(
            self.topics.of(CHANNELS[Differences], self.name), waiting.differences
        ):
            return False
        return self.transport.send(self.topics.of(CHANNELS[Noised], self.name), waiting.body)
