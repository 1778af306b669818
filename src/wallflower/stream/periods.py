"""What a stream that speaks by the clock has said: which sensor-periods misbehave, roughly when, and the fleet's share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from wallflower.mechanisms.alarm_clock import AlarmClock
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.fleet import Share, share
from wallflower.stream.promises import clock

MOST_HOURS = 24
Word = tuple[str, int, bool]
"""Sensor, slot since 1970, and what it said."""


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """A sensor-period that was called misbehaving, and when."""

    sensor: str
    period: str
    """When the period began, in UTC."""
    at: str
    """When the slot of the alarm ended; it may have begun any time before."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The analyst's answer; all of it from what the sensors sent and from public numbers."""

    periods: int
    """Sensor-periods heard of."""
    whole: int
    """Those heard to their end; the fleet's share is estimated from them alone."""
    alarms: tuple[Alarm, ...]
    fleet: Share | None
    hours: tuple[tuple[str, Share], ...]
    """`share`: the fleet's share by time of the period."""


def summary(declared: StreamDeclaration, words: Iterable[Word]) -> Summary:
    mechanism = clock(declared)
    if isinstance(mechanism, AlarmClock):
        return _alarms(declared, mechanism, words)
    return _shares(mechanism.slots, mechanism.flip, words)


def _alarms(declared: StreamDeclaration, mechanism: AlarmClock, words: Iterable[Word]) -> Summary:
    heard: dict[tuple[str, int], list[int]] = {}
    first: dict[tuple[str, int], int] = {}
    for sensor, number, said in words:
        period, slot = divmod(number, mechanism.slots)
        heard.setdefault((sensor, period), []).append(slot)
        if said:
            first[sensor, period] = min(slot, first.get((sensor, period), slot))
    whole = [key for key, slots in heard.items() if len(set(slots)) == mechanism.slots]
    late, early = float(mechanism.recall(mechanism.slots - 1)), float(mechanism.recall(0))
    return Summary(
        periods=len(heard),
        whole=len(whole),
        alarms=tuple(
            Alarm(
                sensor=sensor,
                period=moment(declared, period * mechanism.slots),
                at=moment(declared, period * mechanism.slots + slot + 1),
            )
            for (sensor, period), slot in sorted(first.items(), key=lambda item: (item[0][1], item[1], item[0][0]))
        ),
        fleet=share(
            sum(key in first for key in whole), len(whole), hit=(late, early), false=float(mechanism.false_alarms)
        ),
        hours=(),
    )


def _shares(slots: int, flip: float, words: Iterable[Word]) -> Summary:
    answers = [(number % slots, said) for _, number, said in words]
    buckets: dict[int, list[bool]] = {}
    per = max(1, -(-slots // MOST_HOURS))
    for slot, said in answers:
        buckets.setdefault(slot // per, []).append(said)
    kept = 1 - flip
    found = []
    for bucket, words_then in sorted(buckets.items()):
        part = share(sum(words_then), len(words_then), hit=(kept, kept), false=flip)
        if part is not None:
            found.append((f"slot {bucket * per} to {min((bucket + 1) * per, slots) - 1}", part))
    return Summary(
        periods=len(answers),
        whole=len(answers),
        alarms=(),
        fleet=share(sum(said for _, said in answers), len(answers), hit=(kept, kept), false=flip),
        hours=tuple(found),
    )


def moment(declared: StreamDeclaration, slot: int) -> str:
    """The beginning of a slot, in UTC."""
    seconds = slot * declared.slots.slot if declared.slots is not None else Fraction(0)
    return datetime.fromtimestamp(float(seconds), UTC).isoformat().replace("+00:00", "Z")
