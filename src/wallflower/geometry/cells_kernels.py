"""The compiled loop behind `geometry.cells`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]

_PARTS = 256


@kernel
def _near(rows: Ints, one: int, other: int, decision: Any) -> bool:
    """Σ weight·Δ² ≤ limit; no term is above the limit when its gap is within reach, so that no sum overflows."""
    weights, reaches, limit = decision
    total = np.int64(0)
    for axis in range(rows.shape[0]):
        gap = abs(rows[axis, one] - rows[axis, other])
        if gap > reaches[axis]:
            return False
        total += weights[axis] * gap * gap
        if total > limit:
            return False
    return True


@kernel(parallel=True)
def count_in_cells(  # noqa: PLR0917 - a parallel loop takes no tuple of tuples, and its body is one walk
    rows: Ints, order: Ints, cells: Ints, firsts: Ints, strips: Ints, decision: Any, cap: int
) -> Ints:
    """For each row, in the given order, how many are near it, at most `cap`. `rows` lie cell by cell, `cells` ascend."""
    counts = np.empty(order.size, dtype=np.int64)
    for part in prange(_PARTS):
        begin, end = np.empty(strips.shape[0], dtype=np.int64), np.empty(strips.shape[0], dtype=np.int64)
        for cell in range(cells.size * part // _PARTS, cells.size * (part + 1) // _PARTS):
            first, last = firsts[cell], firsts[cell + 1]
            if last - first >= cap:
                for place in range(first, last):
                    counts[order[place]] = cap
                continue
            for strip in range(strips.shape[0]):
                begin[strip] = firsts[np.searchsorted(cells, cells[cell] + strips[strip, 0])]
                end[strip] = firsts[np.searchsorted(cells, cells[cell] + strips[strip, 1], side="right")]
            for place in range(first, last):
                many = last - first  # rows of one cell are within the radius of each other
                for strip in range(strips.shape[0]):
                    other = begin[strip]
                    while other < end[strip] and many < cap:
                        if other == first:
                            other = last
                            continue
                        many += _near(rows, place, other, decision)
                        other += 1
                counts[order[place]] = many
    return counts
