"""How much one sensor may send before it is cut off for a while: a bucket of tokens, and a wait that doubles."""

from __future__ import annotations

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
    """Of every topic: what it may still send. Twice the declared rate, so that no honest sensor meets it."""

    rate: float
    """Messages a second that a sensor sends at most."""
    _accounts: dict[str, _Account] = field(default_factory=dict)

    def fair(self, topic: str, now: float) -> bool:
        """Count one message; False when it is one too many."""
        account = self._accounts.setdefault(topic, _Account(tokens=2 * self.rate, counted=now))
        account.tokens = min(2 * self.rate, account.tokens + (now - account.counted) * 2 * self.rate)
        account.counted = now
        if account.tokens < 1:
            return False
        account.tokens -= 1
        return True

    def cut_off(self, topic: str, now: float) -> bool:
        """Whether `topic` is to be cut off now; False when it already is."""
        account = self._accounts.setdefault(topic, _Account(tokens=0, counted=now))
        if account.until is not None:
            return False
        account.wait = SHORTEST_WAIT if now - account.offended > FORGIVEN else min(2 * account.wait, LONGEST_WAIT)
        account.until, account.offended = now + account.wait, now
        return True

    def is_cut_off(self, topic: str) -> bool:
        account = self._accounts.get(topic)
        return account is not None and account.until is not None

    def due(self, now: float) -> list[str]:
        """Topics whose wait is over; they count as let in again, with an empty bucket half filled."""
        back = [
            topic for topic, account in self._accounts.items() if account.until is not None and account.until <= now
        ]
        for topic in back:
            self._accounts[topic].until = None
            self._accounts[topic].tokens = self.rate
        return back
