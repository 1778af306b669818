"""How messages travel: one small protocol, with an in-process carrier here and MQTT in `mqtt.py`. Carriers know no privacy."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from wallflower.errors import UsageError
from wallflower.stream.messages import (
    Candidates,
    Corrected,
    Differences,
    Malformed,
    Message,
    Noised,
    Presumed,
    Receipt,
    Threshold,
    parse,
)

CHANNELS: dict[type[Message], str] = {
    Noised: "noised",
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

RESERVED = ("analyst", "corrector")
"""No sensor may have these names: the broker lets every party write under its own name, and only sensors have readings."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


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


def sensor_name(name: str) -> str:
    """A sensor's name is part of a topic and of the broker's access list, so it is plain."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a sensor's name is 1 to 64 letters, digits, dots, dashes or underscores, got {name!r}.",
            hint="For example --name boiler-7.",
        )
    if name in RESERVED:
        raise UsageError(f"'{name}' is another party's name.", hint="For example --name boiler-7.")
    return name


def topic_of(prefix: str, message: Message) -> str:
    return f"{prefix}/{CHANNELS[type(message)]}/{message.window.sensor}"


def filters(prefix: str, party: str, sensor: str = "+") -> list[str]:
    """The topics a party listens to."""
    return [f"{prefix}/{channel}/{sensor}" for channel in HEARS[party]]


def understand(prefix: str, delivery: Delivery, dropped: Counter[str]) -> tuple[Message, bytes] | None:
    """The message of a delivery and the digest of its bytes; None, counted, when it is none or came by the wrong topic."""
    try:
        message = parse(delivery.payload)
    except Malformed:
        dropped["malformed"] += 1
        return None
    name = message.window.sensor
    if delivery.topic != topic_of(prefix, message) or name in RESERVED or not _NAME.fullmatch(name):
        # The broker lets a sensor write under its own name alone; a message about another's window is forged.
        dropped["foreign"] += 1
        return None
    return message, digest_of(delivery.payload)


def digest_of(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=16).digest()


@dataclass
class LocalBroker:
    """Carries messages between parties of one process; queues are bounded, and a full one refuses."""

    most_waiting: int = 1024
    _exact: dict[str, list[deque[Delivery]]] = field(default_factory=dict)
    _wild: list[tuple[re.Pattern[str], deque[Delivery]]] = field(default_factory=list)

    def connect(self, topics: list[str]) -> LocalTransport:
        queue: deque[Delivery] = deque()
        for topic in topics:
            if "+" in topic:
                self._wild.append((re.compile(re.escape(topic).replace(r"\+", "[^/]+")), queue))
            else:
                self._exact.setdefault(topic, []).append(queue)
        return LocalTransport(self, queue)

    def route(self, topic: str) -> list[deque[Delivery]]:
        return [*self._exact.get(topic, ()), *(queue for pattern, queue in self._wild if pattern.fullmatch(topic))]


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
