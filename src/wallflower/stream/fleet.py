"""What many sensors say together: a share with its interval, debiased; all of it post-processing of what they sent."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Share:
    """An estimated share of misbehaving sensor-periods, and an interval that holds the truth 95 times of 100 or more."""

    estimate: float
    low: float
    high: float
    of: int
    """Sensor-periods it was estimated from."""


def share(heard: int, of: int, *, hit: tuple[float, float], false: float) -> Share | None:
    """From `heard` alarms (or yes answers) of `of`, given their public probabilities with cause (least, most) and without.

    The interval is that of Clopper and Pearson for the share of alarms, carried through the public line between the two.

    >>> share(50, 1000, hit=(0.98, 0.98), false=0.05).estimate
    0.0
    """
    least, most = hit
    if of == 0 or least <= false:
        return None
    low, high = _binomial_interval(heard, of)
    return Share(
        estimate=_debiased(heard / of, (least + most) / 2, false),
        low=_debiased(low, most, false),
        high=_debiased(high, least, false),
        of=of,
    )


def _debiased(rate: float, hit: float, false: float) -> float:
    return min(max((rate - false) / (hit - false), 0.0), 1.0)


def _binomial_interval(heard: int, of: int) -> tuple[float, float]:
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if heard == 0 else float(betaincinv(heard, of - heard + 1, tail))
    high = 1.0 if heard == of else float(betaincinv(heard + 1, of - heard, 1 - tail))
    return low, high


def half_width(of: int, truth: float, hit: float, false: float) -> float:
    """About how far an estimate from `of` sensor-periods lies from the truth, 95 times of 100; from public numbers alone."""
    rate = truth * hit + (1 - truth) * false
    return 1.96 * math.sqrt(rate * (1 - rate) / of) / (hit - false)


def precision(truth: float, hit: float, false: float) -> float:
    """The share of alarms that are right where a share `truth` misbehaves."""
    return truth * hit / (truth * hit + (1 - truth) * false)


def ceiling_f1(epsilon: float, truth: float) -> float:
    """No ε-LDP test of a period has a larger F1: the larger of the best test's and of always saying yes.

    >>> round(ceiling_f1(0.1, 0.26), 3), round(ceiling_f1(4.0, 0.25), 3)
    (0.413, 0.965)
    """
    keep = 1 / (1 + math.exp(-epsilon))
    tested = 2 * truth * keep / (truth + truth * keep + (1 - truth) * (1 - keep))
    return max(tested, 2 * truth / (1 + truth))
