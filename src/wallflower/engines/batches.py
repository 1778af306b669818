"""Arrow batches gathered into arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.arrow_cells import as_numpy
from wallflower.engines.base import Repeated


class GrowingTable:
    """A table of integers that grows in place, batch by batch: a second copy never exists."""

    def __init__(self, width: int, dtype: Any) -> None:
        self._width, self._filled = width, 0
        self._flat = np.empty(0, dtype)

    def add(self, columns: Sequence[Any], rows: int) -> None:
        """`rows` rows more, given by column."""
        wanted = (self._filled + rows) * self._width
        if wanted > self._flat.size:
            room = max(wanted, self._flat.size + self._flat.size // 4)
            self._flat.resize(room, refcheck=False)  # realloc
        part = self._flat[self._filled * self._width : wanted].reshape(rows, self._width)
        for at, column in enumerate(columns):
            part[:, at] = as_numpy(column)
        self._filled += rows

    def whole(self) -> NDArray[Any]:
        """All rows, in the order they came."""
        self._flat.resize(self._filled * self._width, refcheck=False)
        return self._flat.reshape(self._filled, self._width)


def gathered(batch: Any, width: int) -> NDArray[np.int64]:
    """One Arrow batch of integers as one array."""
    rows = np.empty((batch.num_rows, width), np.int64)
    for at in range(width):
        rows[:, at] = as_numpy(batch.column(at))
    return rows


def runs(rows: NDArray[np.int64]) -> Repeated:
    """Equal rows that follow each other, as one.

    >>> runs(np.array([[1, 2], [1, 2], [3, 4], [1, 2]])).times
    array([2, 1, 1])
    """
    fresh = np.ones(len(rows), np.bool_)
    np.any(rows[1:] != rows[:-1], axis=1, out=fresh[1:])
    begins = np.flatnonzero(fresh)
    times = np.diff(np.append(begins, len(rows)))
    return Repeated(rows if len(begins) == len(rows) else rows[begins], times.astype(np.int64))


def joined(batches: Iterable[Repeated]) -> Iterator[Repeated]:
    """The same rows; equal ones that follow each other as one, from one batch to the next too."""
    last: Repeated | None = None
    for batch in batches:
        if not len(batch.times):
            continue
        numbers, times = batch.numbers, batch.times
        if last is not None:
            numbers, times = np.concatenate([last.numbers, numbers]), np.concatenate([last.times, times])
        fresh = np.ones(len(numbers), np.bool_)
        np.any(numbers[1:] != numbers[:-1], axis=1, out=fresh[1:])
        begins = np.flatnonzero(fresh)
        numbers, times = numbers[begins], np.add.reduceat(times, begins)
        last = Repeated(numbers[-1:], times[-1:])
        if len(numbers) > 1:
            yield Repeated(numbers[:-1], times[:-1])
    if last is not None:
        yield last


def limited(batch: Repeated, most: int) -> NDArray[np.int64]:
    """Each row as often as it occurs, and at most `most` times. The last column adds up, over its copies, to how often it occurs.

    >>> limited(Repeated(np.array([[7], [8]]), np.array([5, 1])), 3).tolist()
    [[7, 3], [7, 1], [7, 1], [8, 1]]
    """
    copies = np.minimum(batch.times, most)
    rows = np.ones((int(copies.sum()), batch.numbers.shape[1] + 1), np.int64)
    rows[:, :-1] = np.repeat(batch.numbers, copies, axis=0)
    rows[np.cumsum(copies) - copies, -1] += batch.times - copies
    return rows
