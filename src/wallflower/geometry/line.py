"""One column: how many values lie within reach of each other, by sorting alone. Nothing is compiled for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.balls import Ball
from wallflower.geometry.index import MOST

Ints = NDArray[np.int64]


def is_line(values: Ints, ball: Ball) -> bool:
    """Whether no sum of what is added here leaves 64 bits: so it is wherever the index would take the values too."""
    return ball.limit >= 0 and (not values.size or max(abs(int(values.max())), abs(int(values.min()))) <= MOST)


def within_reach(values: Ints, ball: Ball, cap: int) -> Ints:
    """For each value how many are within the ball around it, itself included, at most `cap`.

    >>> within_reach(np.array([9, 0, 3, 3]), Ball((1,), 9), 10)
    array([1, 3, 3, 3])
    """
    reach = min(ball.reach(0), 2 * MOST)
    order = np.argsort(values)
    ascending = values[order]
    first = np.searchsorted(ascending, ascending - reach)
    past = np.searchsorted(ascending, ascending + reach, side="right")
    counts = np.empty(len(values), np.int64)
    counts[order] = np.minimum(past - first, cap)
    return counts


def fullest(ascending: Ints, length: int) -> int:
    """The most values within one closed interval of this length.

    >>> fullest(np.array([0, 3, 3, 9]), 3)
    3
    """
    first = np.searchsorted(ascending, ascending - length)
    return int((np.arange(1, len(ascending) + 1) - first).max(initial=0))
