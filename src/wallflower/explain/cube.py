"""One statistic of every context at once, from the same statistic of every cell, column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Combine = Callable[..., object]


def over_contexts(cells: NDArray[Any], own: Sequence[int], combine: Combine = np.add) -> NDArray[Any]:
    """`combine` over the cells of each context, in the order of their indices.

    A set of values is the set without its highest value, combined with that value: one addition a context and column.

    >>> over_contexts(np.array([[1, 2, 4], [8, 16, 32]]), own=(0, 1))
    array([ 2,  3,  6,  7, 18, 27, 54, 63])
    """
    # The first column is done last: its steps then run along whole contiguous slices of the others.
    for axis in reversed(range(cells.ndim)):
        source = np.moveaxis(cells, axis, 0)
        others = [code for code in range(source.shape[0]) if code != own[axis]]
        found = np.empty((2 ** len(others), *source.shape[1:]), dtype=cells.dtype)
        found[0] = source[own[axis]]
        for bit, code in enumerate(others):
            half = 1 << bit
            combine(found[:half], source[code], out=found[half : 2 * half])
        cells = np.moveaxis(found, 0, axis)
    return np.ascontiguousarray(cells).ravel()


def total_in(cells: NDArray[Any], where: NDArray[np.uint64], contexts: NDArray[np.uint64]) -> NDArray[Any]:
    """The sum of a cell statistic over a few contexts, given the words of cells and of contexts."""
    found = np.zeros(len(contexts), dtype=cells.dtype)
    together = max(1, 2**22 // len(where))
    for begin in range(0, len(contexts), together):
        inside = (where[None, :] & ~contexts[begin : begin + together, None]) == 0
        found[begin : begin + together] = inside @ cells
    return found
