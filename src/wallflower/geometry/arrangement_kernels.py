"""The compiled arrangement behind `geometry.index`: an order of the rows in which every node of an implicit tree is compact."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numba import get_num_threads, prange, set_num_threads
from numpy.typing import NDArray

from wallflower.compiling import kernel

BLOCK = 128
"""Rows of a leaf."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_WORTH_WAKING = 20_000
_SHARED_LEVELS = 3
_SAMPLE = 1024


@contextmanager
def threads_for(rows: int) -> Iterator[None]:
    """One thread for few rows: waking the others takes longer than the work. Answers do not depend on it."""
    before = get_num_threads()
    set_num_threads(1 if rows < _WORTH_WAKING else before)
    try:
        yield
    finally:
        set_num_threads(before)


@kernel
def _select(values: Floats, order: Ints, kth: int) -> None:
    """Reorder both alike so that place kth holds the value it would hold if sorted, smaller ones before it."""
    left, right = 0, values.size - 1
    while left < right:
        pivot = values[(left + right) >> 1]
        i, j = left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if kth <= j:
            right = j
        elif kth >= i:
            left = i
        else:
            return


@kernel
def _split(columns: Floats, scaled: Floats, blocks: int, node: tuple[int, int], order: Ints) -> None:
    """Part the rows of a node at its middle block, across its widest side.

    Rows are reached through `order`, which on many rows is a wait for memory each: the widest side is that of a sample, and the side is
    copied once before it is parted. Any side would do; only time depends on it.
    """
    level, place = node
    first, last = (blocks * place) >> level, (blocks * (place + 1)) >> level
    if last - first < 2:
        return
    low, high = first * BLOCK, min(last * BLOCK, columns.shape[1])
    stride = max(1, (high - low) // _SAMPLE)
    widest, side = -1.0, 0
    for axis in range(columns.shape[0]):
        least = most = columns[axis, order[low]]
        for i in range(low, high, stride):
            value = columns[axis, order[i]]
            least, most = min(least, value), max(most, value)
        width = scaled[axis] * (most - least) * (most - least)
        if width > widest:
            widest, side = width, axis
    middle = (blocks * (2 * place + 1)) >> (level + 1)
    values = np.empty(high - low)
    for i in range(low, high):
        values[i - low] = columns[side, order[i]]
    _select(values, order[low:high], middle * BLOCK - low)


@kernel(parallel=True)
def arrange(columns: Floats, scaled: Floats, blocks: int, levels: int) -> Ints:
    """An order of the rows in which every node of the block tree is a compact box."""
    order = np.arange(columns.shape[1])
    shared = min(levels, _SHARED_LEVELS)
    for level in range(shared):
        for place in range(1 << level):
            _split(columns, scaled, blocks, (level, place), order)
    for root in prange(1 << shared):  # one parallel stretch: on a busy machine each costs a wait
        for level in range(shared, levels):
            below = level - shared
            for place in range(root << below, (root + 1) << below):
                _split(columns, scaled, blocks, (level, place), order)
    return order
