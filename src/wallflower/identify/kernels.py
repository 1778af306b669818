"""The compiled loop behind `identify.counting`: look at every row. Its slow twin is `Metric.near`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]


@kernel(parallel=True)
def look_at_every_row(rows: Ints, asked: Ints, decision: Any, cap: int, parts: int) -> Ints:
    """For each asked value and each part of the rows how many are near, at most `cap` each.

    A gap counts up to `farthest`, one step beyond what the limit allows (1 for a category): then no sum can overflow, which the
    caller sees to, and nothing branches.
    """
    weights, farthest, limit = decision
    size, width = rows.shape
    numbers = rows.ravel()
    found = np.zeros((asked.shape[0], parts), dtype=np.int64)
    for turn in prange(asked.shape[0] * parts):
        question, part = turn // parts, turn % parts
        value = asked[question]
        first, last = size * part // parts, size * (part + 1) // parts
        # Unsigned places are never counted from the end, and the loop is three times as fast without that test.
        at, columns = np.uint64(first * width), np.uint64(width)
        many = 0
        for _ in range(first, last):
            total = 0
            for axis in range(columns):
                gap = min(abs(numbers[at + axis] - value[axis]), farthest[axis])
                total += weights[axis] * gap * gap
            at += columns
            many += total <= limit
            if many >= cap:
                break
        found[question, part] = many
    return found
