"""How messages travel: one small protocol, with an in-process carrier here and MQTT in `mqtt.py`. Carriers know no privacy."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from wallflower.stream.messages import (
    Candidates,
    Codes,
    Corrected,
    Differences,
    Malformed,
    Message,
    Noised,
    Presumed,
    Receipt,
    Threshold,
    Tick,
    parse,
)
from wallflower.stream.roster import part_of

CHANNELS: dict[type[Message], str] = {
    Noised: "noised",
    Codes: "noised",
    Tick: "noised",
    Differences: "differences",
    Presumed: "presumed",
    Threshold: "threshold",
    Candidates: "candidates",
    Corrected: "corrected",
    Receipt: "receipt",
}
HEARS = {
    "sensor": ("receipt",),
    "analyst": ("noised", "threshold", "corrected"),
    "corrector": ("differences", "presumed", "candidates", "receipt"),
}
"""What each party subscribes to; the broker's access list allows no more."""
OTHER_DECLARATION = bytes(16)
"""In place of a digest: the analyst knows the sensor, but not the declaration it speaks under."""
PAPER_ONLY = frozenset({"differences", "presumed", "candidates", "threshold", "corrected"})


@dataclass(frozen=True)
class Delivery:
    """One payload that arrived. `done` tells the carrier that it has been dealt with."""

    topic: str
    payload: bytes
    done: Callable[[], None] = lambda: None


class Transport(Protocol):
    """A party's end of the line."""

    @property
    def connections(self) -> int:
        """How often the line has come up; a change tells a sensor to send again."""
        ...

    def send(self, topic: str, payload: bytes, /) -> bool:
        """Hand a payload over; False when the line is down or full, and the caller keeps it."""
        ...

    def receive(self, timeout: float, /) -> Delivery | None:
        """The next payload, or None when none came within `timeout` seconds."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Topics:
    """Where a stream's messages go: `prefix/channel/part/sensor`, one topic per sensor and channel."""

    prefix: str
    roster: tuple[str, ...]
    partitions: int = 1
    paper: bool = False

    def of(self, channel: str, sensor: str) -> str:
        return f"{self.prefix}/{channel}/{part_of(sensor, self.partitions)}/{sensor}"

    def of_message(self, message: Message) -> str:
        return self.of(CHANNELS[type(message)], message.window.sensor)

    def sensors(self, part: int | None = None) -> list[str]:
        """The rostered sensors, of one part or of all."""
        return [name for name in self.roster if part is None or part_of(name, self.partitions) == part]

    def channels(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if self.paper or name not in PAPER_ONLY]

    def heard(self, party: str, *, sensor: str | None = None, part: int | None = None) -> list[str]:
        """The topics a party listens to: one for each sensor, so that one of them can be cut off alone."""
        whose = self.sensors(part) if sensor is None else [sensor]
        return [self.of(channel, name) for channel in self.channels(HEARS[party]) for name in whose]

    def understand(self, delivery: Delivery, dropped: Counter[str]) -> tuple[Message, bytes] | None:
        """The message of a delivery and the digest of its bytes; None, counted, when it is none or came by the wrong topic."""
        try:
            message = parse(delivery.payload)
        except Malformed:
            dropped["malformed"] += 1
            return None
        if message.window.sensor not in self._known:
            dropped["unknown"] += 1
            return None
        if delivery.topic != self.of_message(message):
            # The broker lets a sensor write under its own name alone; a message about another's window is forged.
            dropped["foreign"] += 1
            return None
        return message, digest_of(delivery.payload)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.roster)


def digest_of(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=16).digest()


@dataclass
class LocalBroker:
    """Carries messages between parties of one process; queues are bounded, and a full one refuses."""

    most_waiting: int = 1024
    _queues: dict[str, list[deque[Delivery]]] = field(default_factory=dict)

    def connect(self, topics: list[str]) -> LocalTransport:
        queue: deque[Delivery] = deque()
        for topic in topics:
            self._queues.setdefault(topic, []).append(queue)
        return LocalTransport(self, queue)

    def route(self, topic: str) -> list[deque[Delivery]]:
        return self._queues.get(topic, [])


@dataclass
class LocalTransport:
    """One party's end of a `LocalBroker`."""

    broker: LocalBroker
    queue: deque[Delivery]
    connections: int = 1

    def send(self, topic: str, payload: bytes, /) -> bool:
        queues = self.broker.route(topic)
        if any(len(queue) >= self.broker.most_waiting for queue in queues):
            return False
        for queue in queues:
            queue.append(Delivery(topic, payload))
        return True

    def receive(self, timeout: float, /) -> Delivery | None:
        return self.queue.popleft() if self.queue else None

    def close(self) -> None:
        self.queue.clear()
