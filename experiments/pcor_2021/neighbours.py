"""A table and its neighbours with a few rows fewer. Rows are added up once; a neighbour takes its rows off the sums.

The slow twin is the engine's own table with the same rows removed: `tests/papers/test_pcor_neighbours.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wallflower.engines import cube
from wallflower.engines.base import Cells
from wallflower.explain.record_view import RecordView


@dataclass(frozen=True)
class Counted:
    """How often each value of the metric occurs in each combination of declared values: what `RecordView` asks of rows."""

    declaration: object
    shape: tuple[int, ...]
    index: np.ndarray
    """The combination of each entry, ascending; within one, values ascend."""
    values: np.ndarray
    copies: np.ndarray
    entry: np.ndarray
    """The entry of each row, in the order of the rows."""

    @classmethod
    def of(cls, data):
        shape = cube.shape_of(data.rows.declaration, data.by)
        flat = cube.flat_index(data.codes, shape)
        pairs, entry, copies = np.unique(
            np.column_stack([flat, data.numbers]), axis=0, return_inverse=True, return_counts=True
        )
        return cls(data.rows.declaration, shape, pairs[:, 0], pairs[:, 1], copies, entry.ravel())

    def without(self, places):
        """The table with the rows at these places removed."""
        copies = self.copies.copy()
        np.subtract.at(copies, self.entry[places], 1)
        return replace(self, copies=copies)

    def cells(self, by, metric, centre):
        held = self.copies > 0
        index, gaps, copies = self.index[held], self.values[held] - centre, self.copies[held]
        if int(np.abs(gaps).max()) ** 2 * int(copies.sum()) < 2**62:
            sums = copies * gaps, copies * gaps * gaps
        else:
            wide = gaps.astype(object)
            sums = copies * wide, copies * wide * wide
        starts = np.flatnonzero(np.diff(index, prepend=-1))
        ends = np.append(starts[1:], len(index)) - 1
        place = index[starts]
        found = [
            np.zeros(int(np.prod(self.shape)), dtype=kind) for kind in (np.int64, object, object, np.int64, np.int64)
        ]
        added = (np.add.reduceat(one, starts) for one in (copies, *sums))
        for into, values in zip(found, (*added, gaps[starts], gaps[ends]), strict=True):
            into[place] = values.tolist() if into.dtype == object else values
        return Cells(*(one.reshape(self.shape) for one in found))

    def nearest(self, by, metric, centre, per_side):
        held = self.copies > 0
        index, values, copies = self.index[held], self.values[held], self.copies[held]
        size = int(np.prod(self.shape))
        starts = np.searchsorted(index, np.arange(size + 1))
        below = np.bincount(index[values < centre], minlength=size)
        at_or_below = np.bincount(index[values <= centre], minlength=size)
        place = np.arange(len(values))
        near = (place >= (starts[:-1] + below)[index] - per_side) & (
            place < (starts[:-1] + at_or_below)[index] + per_side
        )
        return cube.assembled(index[near], values[near], copies[near], size)


@dataclass(frozen=True, kw_only=True)
class CountedView(RecordView):
    """The same questions, asked of entries instead of rows."""

    def between(self, first, last):
        gaps = self.rows.values - self.centre
        inside = (gaps >= first) & (gaps <= last)
        cells = self._cell_of_value[self.rows.index[inside]]
        found = np.bincount(cells, weights=self.rows.copies[inside], minlength=self.counts.size)
        return found.astype(np.int64).reshape(self.space.shape)


def counted(view, rows):
    """The record's view of other rows, its contexts shared."""
    return CountedView(rows=rows, space=view.space, metric=view.metric, centre=view.centre, least=view.least)
