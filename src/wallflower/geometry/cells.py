"""Capped counts in up to three columns by a grid: rows of a cell that holds the cap are done without being compared.

Cells are so small that any two rows of one are within the radius of each other. Where at least `cap` rows share a cell, each of them
has its count; only rows of other cells look at the cells around them. No row takes longer than a constant times the cap on average,
whatever the rows are. Everything is decided in integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.balls import Ball
from wallflower.geometry.index import MOST

Ints = NDArray[np.int64]

MOST_COLUMNS = 3
"""Beyond, a ball reaches into too many cells and a tree is quicker."""
MOST_CAP = 64
_KEYS = 2**62


def side(ball: Ball, column: int) -> int:
    """Whole steps of a cell in this column: Σ weight·(side − 1)² is within the limit, whatever the other columns.

    >>> side(Ball((1, 1), 100), 0)
    8
    """
    return 1 + math.isqrt(ball.limit // (len(ball.weights) * ball.weights[column]))


@dataclass(frozen=True)
class CellColumn:
    """One column's cells, which every set of columns of the same size and radius shares."""

    numbers: Ints
    cells: Ints
    """The cell of each row, from `margin` on."""
    extent: int
    """Cells from the first to the last, with room for a margin on both sides."""
    margin: int
    """So many cells a ball reaches beyond its own."""

    @classmethod
    def of(cls, numbers: Ints, ball: Ball, column: int) -> CellColumn:
        width = side(ball, column)
        margin = -(-ball.reach(column) // width)
        low = int(numbers.min()) if len(numbers) else 0
        cells = (numbers - low) // width + margin
        extent = (int(cells.max()) if len(numbers) else 0) + margin + 1
        return cls(numbers, cells, extent, margin)


class ColumnCells:
    """The cells of every column of a table, each found once for all sets of columns that want the same."""

    def __init__(self, points: Ints) -> None:
        self._columns = np.ascontiguousarray(points.T)
        self._known: dict[tuple[int, int, int], CellColumn] = {}

    def counts(self, chosen: Sequence[int], ball: Ball, cap: int) -> Ints | None:
        """`capped_counts` over some of the columns."""
        found = []
        for place, axis in enumerate(chosen):
            key = (axis, side(ball, place), ball.reach(place))
            if key not in self._known:
                self._known[key] = CellColumn.of(self._columns[axis], ball, place)
            found.append(self._known[key])
        return capped_counts(found, ball, cap)


def suits(points: Ints, ball: Ball, cap: int) -> bool:
    """Whether the grid may be used: only time depends on it."""
    return (
        len(ball.weights) <= MOST_COLUMNS
        and 0 < cap <= MOST_CAP
        and 0 <= ball.limit < _KEYS
        and max(ball.weights) < _KEYS
        and (not points.size or max(abs(int(points.max())), abs(int(points.min()))) <= MOST)
    )


def capped_counts(columns: Sequence[CellColumn], ball: Ball, cap: int) -> Ints | None:
    """For each row how many rows are within the ball around it, itself included, at most `cap`; None where keys do not fit."""
    from wallflower.geometry.arrangement_kernels import threads_for
    from wallflower.geometry.cells_kernels import count_in_cells

    if math.prod(column.extent for column in columns) >= _KEYS:
        return None
    keys = columns[0].cells
    for column in columns[1:]:
        keys = keys * column.extent + column.cells
    order = np.argsort(keys)
    keys = keys[order]
    edges = np.flatnonzero(np.diff(keys)) + 1
    firsts = np.concatenate([[0], edges, [len(keys)]]).astype(np.int64) if len(keys) else np.zeros(1, dtype=np.int64)
    arranged = np.empty((len(columns), len(keys)), dtype=np.int64)
    for place, column in enumerate(columns):
        np.take(column.numbers, order, out=arranged[place])
    # One step in a column heavier than the limit already leaves the ball: beyond that the weight no longer matters.
    weights = np.array([min(weight, ball.limit + 1) for weight in ball.weights], dtype=np.int64)
    reaches = np.array([min(ball.reach(place), 2 * MOST) for place in range(len(columns))], dtype=np.int64)
    with threads_for(len(keys)):
        counts: Ints = count_in_cells(
            arranged, order, keys[firsts[:-1]], firsts, _strips(columns), (weights, reaches, ball.limit), cap
        )
    return counts


def _strips(columns: Sequence[CellColumn]) -> Ints:
    """The first and last key, relative to a cell's own, of each run of neighbouring cells along the last column; its own run first."""
    found = []
    for offset in product(*(range(-column.margin, column.margin + 1) for column in columns[:-1])):
        key = 0
        for step, column in zip(offset, columns[1:], strict=True):
            key = (key + step) * column.extent
        found.append((sum(abs(step) for step in offset), key - columns[-1].margin, key + columns[-1].margin))
    return np.array([[low, high] for _, low, high in sorted(found)], dtype=np.int64)
