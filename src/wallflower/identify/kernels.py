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

    A gap counts up to `farthest`, one step beyond what the limit allows (1 for a category): then no sum can overflow, which the
    caller sees to, and nothing branches.
    """
    weights, farthest, limit = decision
    size, width = rows.shape
    found = np.zeros((asked.shape[0], parts), dtype=np.int64)
    for turn in prange(asked.shape[0] * parts):
        question, part = turn // parts, turn % parts
        many = 0
        for place in range(size * part // parts, size * (part + 1) // parts):
            total = 0
            for axis in range(width):
                gap = min(abs(rows[place, axis] - asked[question, axis]), farthest[axis])
                total += weights[axis] * gap * gap
            if total <= limit:
                many += 1
                if many >= cap:
                    break
        found[question, part] = many
    return found
