"""The compiled loop behind `identify.counting`: look at every row. Its slow twin is `Metric.near`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@njit(cache=True, nogil=True, parallel=True)
def look_at_every_row(rows: Ints, asked: Ints, decision: Any, cap: int, parts: int) -> Ints:
    """For each asked value and each part of the rows how many are near, at most `cap` each.

    The caller sees to it that limit < 2^62, weights are at most limit + 1, and weights·reach² at most limit: no sum overflows.
    """
    by_gap, weights, reach, limit = decision
    size, width = rows.shape
    found = np.zeros((asked.shape[0], parts), dtype=np.int64)
    for turn in prange(asked.shape[0] * parts):
        question, part = turn // parts, turn % parts
        many = 0
        for place in range(size * part // parts, size * (part + 1) // parts):
            total = 0
            for axis in range(width):
                gap = abs(rows[place, axis] - asked[question, axis])
                if gap == 0:
                    continue
                if by_gap[axis]:
                    if gap > reach[axis]:
                        total = limit + 1
                        break
                    total += weights[axis] * gap * gap
                else:
                    total += weights[axis]
                if total > limit:
                    break
            if total <= limit:
                many += 1
                if many >= cap:
                    break
        found[question, part] = many
    return found
