"""How far the number of outliers can move within t changes of the table: U_t, from degrees and covers (profiles.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wallflower.count.covers import Cover, covers
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import MOST
from wallflower.mechanisms.profiles import Profile

REPLACE_ONE = "replace-one"


def bound(held: int, t: int, neighbours: str) -> int:
    """U_t where one ball can hold `held` of the rows whose degree is within t of the threshold.

    Replacing a row moves the rows around its old or its new place, and itself; adding or removing one moves either the
    rows around it or itself.
    """
    return held + t + 1 if neighbours == REPLACE_ONE else max(1, held + t)


def near_threshold(degrees: NDArray[np.int64], k: int, horizon: int) -> NDArray[np.bool_]:
    """Which rows a profile of this length looks at."""
    return np.asarray((np.abs(degrees - k) < horizon) | (np.abs(degrees - (k - 1)) < horizon))


def profile(
    points: NDArray[np.int64],
    degrees: NDArray[np.int64],
    ball: Ball,
    *,
    k: int,
    horizon: int,
    cap: int,
    neighbours: str,
    most_rows: int = MOST,
) -> Profile:
    """U_0 … U_{horizon−1}. `degrees` may be capped at k + horizon or above; nothing beyond enters."""
    near = near_threshold(degrees, k, horizon)
    members, times = points[near], degrees[near]
    bounds = covers(members, ball, most_rows=most_rows) if len(members) else []
    losing = _nested(bounds, np.abs(times - k), horizon, cap)  # rows that one removal can make outliers
    gaining = _nested(bounds, np.abs(times - (k - 1)), horizon, cap)  # outliers that one addition can make inliers
    held = map(max, losing, gaining)
    return Profile(bounds=tuple(min(bound(most, t, neighbours), cap) for t, most in enumerate(held)), cap=cap)


def of_people(one_row: Profile, rows: int) -> Profile:
    """V_t = U_{t·rows} + … + U_{t·rows + rows − 1}: how far up to `rows` rows of a person, together, can move the count, t people away."""
    people = range(-(-len(one_row.bounds) // rows))
    return Profile(
        bounds=tuple(sum(one_row[place] for place in range(t * rows, (t + 1) * rows)) for t in people),
        cap=rows * one_row.cap,
    )


def _nested(bounds: list[Cover], times: NDArray[np.int64], horizon: int, cap: int) -> list[int]:
    """min over the bounds of h(W_t) for each t, at most cap: it never falls, so equal ends settle all between."""
    sizes = np.cumsum(np.bincount(times[times < horizon], minlength=horizon))
    held = [0] * horizon

    def measure(t: int, low: int) -> int:
        best = min(int(sizes[t]), cap)
        for cover in bounds:
            if best <= low:
                break
            best = min(best, cover(times, t))
        return best

    _fill(held, measure, 0, horizon - 1)
    return held


def _fill(held: list[int], measure: Callable[[int, int], int], first: int, last: int) -> None:
    """Values of a function that never falls, by halving: a stretch with equal ends is that value throughout."""
    if not held:
        return
    held[first] = measure(first, 0)
    held[last] = measure(last, held[first]) if last > first else held[first]
    stretches = [(first, last)]
    while stretches:
        low, high = stretches.pop()
        if held[low] == held[high]:
            held[low : high + 1] = [held[low]] * (high - low + 1)
        elif high - low > 1:
            middle = (low + high) // 2
            held[middle] = measure(middle, held[low])
            stretches += [(low, middle), (middle, high)]
