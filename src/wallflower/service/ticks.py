"""Ticks: when a request is taken and when its answer may be seen, from the clock and the queue's length alone.

How long a computation takes can depend on the rows. So a request is taken at a tick, and its answer is shown a declared
number of ticks later, whatever else is queued and however soon it was ready.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, kw_only=True)
class Ticks:
    """A period and what happens in it.

    >>> ticks = Ticks(period_s=60, taken_each=4, shown_after=2)
    >>> ticks.at(125.0), ticks.starts(2), ticks.until_next(125.0)
    (2, 120, 55.0)
    """

    period_s: float
    taken_each: int
    """At most so many requests are taken at a tick."""
    shown_after: int
    """An answer is shown so many ticks after its request was taken."""

    def at(self, now: float) -> int:
        """The tick that began last."""
        return int(now // self.period_s)

    def starts(self, tick: int) -> float:
        return tick * self.period_s

    def until_next(self, now: float) -> float:
        return self.starts(self.at(now) + 1) - now

    def shown(self, taken: int, finished: int | None) -> int:
        """The tick at which an answer may be seen: as planned, or, where that was missed, the one after it was ready.

        >>> ticks = Ticks(period_s=60, taken_each=4, shown_after=2)
        >>> ticks.shown(10, 10), ticks.shown(10, 11), ticks.shown(10, 15)
        (12, 12, 16)
        """
        planned = taken + self.shown_after
        return planned if finished is None or finished < planned else finished + 1

    def words(self, tick: int) -> str:
        """The time of a tick, as an answer says it.

        >>> Ticks(period_s=60, taken_each=4, shown_after=2).words(0)
        '1970-01-01T00:00:00Z'
        """
        return datetime.fromtimestamp(self.starts(tick), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
