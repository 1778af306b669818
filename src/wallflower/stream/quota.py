"""How much one sensor may send before it is cut off for a while: a bucket of tokens, and a wait that doubles."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

SHORTEST_WAIT = 1.0
LONGEST_WAIT = 300.0
FORGIVEN = 600.0
"""Seconds of good behaviour after which the next wait is short again."""


@dataclass
class _Account:
    tokens: float
    counted: float
    wait: float = SHORTEST_WAIT
    until: float | None = None
    """Cut off until then."""
    offended: float = -FORGIVEN


@dataclass
class Quotas:
    """Of every topic: what it may still send. Twice the declared rate, so that no honest sensor meets it.

    The network thread counts while the party's own asks whose wait is over; a lock keeps them apart.
    """

    rate: float
    """Messages a second that a sensor sends at most."""
    _accounts: dict[str, _Account] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fair(self, topic: str, now: float) -> bool:
        """Count one message; False when it is one too many."""
        with self._lock:
            account = self._accounts.setdefault(topic, _Account(tokens=2 * self.rate, counted=now))
            account.tokens = min(2 * self.rate, account.tokens + (now - account.counted) * 2 * self.rate)
            account.counted = now
            if account.tokens < 1:
                return False
            account.tokens -= 1
            return True

    def cut_off(self, topic: str, now: float) -> bool:
        """Whether `topic` is to be cut off now; False when it already is."""
        with self._lock:
            account = self._accounts.setdefault(topic, _Account(tokens=0, counted=now))
            if account.until is not None:
                return False
            account.wait = SHORTEST_WAIT if now - account.offended > FORGIVEN else min(2 * account.wait, LONGEST_WAIT)
            account.until, account.offended = now + account.wait, now
            return True

    def is_cut_off(self, topic: str) -> bool:
        with self._lock:
            account = self._accounts.get(topic)
            return account is not None and account.until is not None

    def due(self, now: float) -> list[str]:
        """Topics whose wait is over; they count as let in again, with a bucket half filled."""
        with self._lock:
            back = [
                name for name, account in self._accounts.items() if account.until is not None and account.until <= now
            ]
            for topic in back:
                self._accounts[topic].until = None
                self._accounts[topic].tokens = self.rate
            return back
