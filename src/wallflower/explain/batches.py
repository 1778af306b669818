"""Contexts decided together: a block of neighbouring indices, or a few anywhere. What `detectors.contexts.Batch` asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.explain.languages import Axis
from wallflower.explain.space import Folded, Space

RUN = 128
"""Neighbouring contexts that differ in the lowest digits alone, at most."""
LAST = 512
"""Contexts that differ in the last column alone, at most, where a detector adds those up itself."""
TOGETHER = 2**22
"""Pairs of a context and a cell looked at together, at most."""
BLOCK = 2**20
"""Contexts of one block, at most, unless one axis alone has more levels."""
NEUTRAL: dict[np.ufunc, int] = {
    np.add: 0,
    np.bitwise_or: 0,
    np.minimum: np.iinfo(np.int64).max,
    np.maximum: np.iinfo(np.int64).min,
}
"""What changes nothing when combined."""


class Statistics:
    """Counts and exact sums of each cell, which a batch adds up over contexts."""

    def __init__(self, counts: NDArray[np.int64], totals: NDArray[np.object_], squares: NDArray[np.object_]) -> None:
        self.counts, self.totals, self.squares = counts, totals, squares


class _Batch:
    """What both kinds of batch share."""

    def __init__(self, space: Space, statistics: Statistics) -> None:
        self.space, self._statistics = space, statistics

    def index(self, place: int) -> int:
        """The index of the context at a place of this batch."""
        raise NotImplementedError

    def over(self, cells: NDArray[Any], combine: np.ufunc = np.add) -> NDArray[Any]:
        raise NotImplementedError

    @cached_property
    def population(self) -> NDArray[np.int64]:
        return self.over(self._statistics.counts)

    def state(self, place: int) -> tuple[int, int, int]:
        word = self.space.words(np.array([self.index(place)]))[0]
        inside = (self.space.cells & ~word) == 0
        totals, squares = self._statistics.totals[inside], self._statistics.squares[inside]
        return int(self._statistics.counts[inside].sum()), int(sum(totals)), int(sum(squares))


class Block(_Batch):
    """All contexts that share their highest digits: a run of indices from `begin` on."""

    def __init__(self, space: Space, statistics: Statistics, *, begin: int, low: int) -> None:
        super().__init__(space, statistics)
        self.begin, self._low = begin, low
        self.size = prod(space.levels[:low])
        self._high = space.level(begin)

    def index(self, place: int) -> int:
        return self.begin + place

    @cached_property
    def levels(self) -> tuple[int, ...]:
        found: tuple[int, ...] = ()
        for size in self.space.levels[: self._low]:
            if prod(found) * size > RUN:
                break
            found += (size,)
        return found

    @property
    def run(self) -> int:
        return prod(self.levels)

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        high: np.uint64 = self.space.words(np.array([self.begin]))[0]
        return np.bitwise_or(self.space.first_words(self.size), high)

    def over(self, cells: NDArray[Any], combine: np.ufunc = np.add) -> NDArray[Any]:
        return _over(cells, self.space.axes, self._high, self._low, combine).ravel()

    @cached_property
    def _folded(self) -> Folded:
        """The last column's lowest axes, as many as fit a run of `LAST` contexts, are left to the caller."""
        digits, size = 0, 1
        for axis in self.space.axes[-1] if self.space.axes else ():
            if digits == self._low or size * (len(axis) + 1) > LAST:
                break
            digits, size = digits + 1, size * (len(axis) + 1)
        return self.space.folded(digits)

    @property
    def last_levels(self) -> tuple[int, ...]:
        return self.space.levels[: self._folded.digits]

    def over_all_but_last(self, cells: NDArray[Any], combine: np.ufunc = np.add) -> NDArray[Any]:
        folded = self._folded
        made = folded.arranged(cells, NEUTRAL[combine])
        return _over(made, folded.axes, self._high[folded.digits :], self._low - folded.digits, combine).reshape(
            -1, folded.kinds
        )


class Few(_Batch):
    """Contexts named one by one."""

    run, levels, last_levels = 1, (), ()

    def __init__(self, space: Space, statistics: Statistics, indices: NDArray[np.int64]) -> None:
        super().__init__(space, statistics)
        self.indices = indices

    def index(self, place: int) -> int:
        return int(self.indices[place])

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        return self.space.words(self.indices)

    def over(self, cells: NDArray[Any], combine: np.ufunc = np.add) -> NDArray[Any]:
        flat = cells.ravel()
        found = np.zeros(len(self.indices), dtype=cells.dtype)
        together = max(1, TOGETHER // len(flat))
        for begin in range(0, len(found), together):
            inside = self._inside if len(found) <= together else self._held(begin, begin + together)
            if combine is np.add and cells.dtype == np.int64:  # in whole numbers any order gives the same sum
                found[begin : begin + together] = inside @ flat
                continue
            held = np.where(inside, flat[None, :], np.asarray(NEUTRAL[combine], dtype=cells.dtype))
            found[begin : begin + together] = combine.reduce(held, axis=1)
        return found

    @cached_property
    def _inside(self) -> NDArray[np.bool_]:
        """Which cells each context holds; kept where it is small, since a detector adds up several statistics."""
        return self._held(0, len(self.indices))

    def _held(self, begin: int, end: int) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (self.space.cells.ravel()[None, :] & ~self.words[begin:end, None]) == 0
        return found

    def over_all_but_last(self, cells: NDArray[Any], combine: np.ufunc = np.add) -> NDArray[Any]:
        return self.over(cells, combine)[:, None]


def blocks(space: Space, statistics: Statistics, most: int = BLOCK) -> Iterator[Block]:
    """All contexts in order of their indices, a block at a time."""
    low, size = 0, 1
    while low < len(space.levels) and (low == 0 or size * space.levels[low] <= most):
        size, low = size * space.levels[low], low + 1
    for begin in range(0, space.count, size):
        yield Block(space, statistics, begin=begin, low=low)


def _over(
    cells: NDArray[Any], columns: Sequence[Sequence[Axis]], high: Sequence[int], low: int, combine: np.ufunc
) -> NDArray[Any]:
    """`combine` over the cells of every context that has the given digits from `low` on; a further axis of the cells is kept."""
    digit = sum(len(axes) for axes in columns)
    for axes in columns:  # the highest columns first: each that is fixed shrinks the cube
        digit -= len(axes)
        if digit >= low:
            cells = _fixed(cells, axes, high[digit : digit + len(axes)], column=0, combine=combine)
    # The last column is grown first: the steps of the others then run along whole contiguous stretches.
    digit, fixed = 0, sum(1 for place in range(len(columns)) if sum(map(len, columns[place + 1 :])) >= low)
    column = len(columns) - fixed - 1
    for axes in reversed(columns):
        if digit >= low:
            break
        above = high[max(low, digit) : digit + len(axes)] if digit + len(axes) > low else ()
        cells = _grown(cells, axes, len(axes) - len(above), above, column=column, combine=combine)
        digit, column = digit + len(axes), column - 1
    return np.ascontiguousarray(cells)


def _fixed(
    cells: NDArray[Any], axes: Sequence[Axis], levels: Sequence[int], *, column: int, combine: np.ufunc
) -> NDArray[Any]:
    """The cells of a column whose levels are known, combined."""
    chosen, first = [0], 1
    for axis, level in zip(axes, levels, strict=True):
        chosen += range(first, first + level)
        first += len(axis)
    return np.asarray(combine.reduce(np.take(cells, chosen, axis=column), axis=column))


def _grown(
    cells: NDArray[Any], axes: Sequence[Axis], free: int, high: Sequence[int], *, column: int, combine: np.ufunc
) -> NDArray[Any]:
    """A column's cells replaced by its sets: every level of the first `free` axes, the given levels of the others.

    A set is the set one level below, combined with the step between them: one operation a context and axis.
    """
    others = [axis for axis in range(cells.ndim) if axis != column]
    source = cells.transpose(
        column, *others
    )  # what np.moveaxis does, at a tenth of its price: small tables come here often
    starts = list(accumulate((len(axis) for axis in axes), initial=1))
    base = source[0]
    for start, level in zip(starts[free:], high, strict=False):
        for step in range(start, start + level):
            base = combine(base, source[step])
    found = np.empty((prod(len(axis) + 1 for axis in axes[:free]), *source.shape[1:]), dtype=cells.dtype)
    found[0] = base
    held = 1
    for axis, start in zip(axes[:free], starts, strict=False):
        for step in range(len(axis)):
            combine(
                found[step * held : (step + 1) * held],
                source[start + step],
                out=found[(step + 1) * held : (step + 2) * held],
            )
        held *= len(axis) + 1
    back = range(1, cells.ndim)
    return found.transpose(*back[:column], 0, *back[column:])
