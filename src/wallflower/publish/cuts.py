"""Mondrian: cut the rows in two at the median, again and again, while both halves keep k distinct sensitive values.

Ties follow one rule: the column whose published interval would lose most is tried first, the earlier column at a tie; rows at the
median go to the lower half unless that is everybody. A column with a taxonomy is cut only between two children of the node
that covers the rows, at the border nearest to the median.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.loss import information_loss
from wallflower.publish.space import Axis

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Cutter:
    axes: Sequence[Axis]
    rows: Whole
    """Quasi-identifiers of all rows."""
    codes: NDArray[np.int64]
    """Sensitive values of all rows, numbered from 0 in each column."""
    k: int
    passes: Callable[[Whole], bool] = lambda _: True
    """What else is asked of every part."""
    _starts: dict[tuple[int, int], NDArray[np.int64]] = field(default_factory=dict, init=False, repr=False)

    def distinct(self, members: Whole) -> int:
        """The least number of different values over the sensitive columns."""
        codes = self.codes[members]
        return (
            min(int(np.count_nonzero(np.bincount(codes[:, a]))) for a in range(codes.shape[1])) if len(members) else 0
        )

    def enough(self, part: Whole) -> bool:
        """Whether these rows could be a group by themselves, but for its level."""
        return len(part) >= self.k and self.distinct(part) >= self.k and self.passes(part)

    def leaves(self, members: Whole, *, at_most: int | None = None) -> list[Whole]:
        """The rows of each leaf. With `at_most`, cuts only what is larger and asks for no distinct values."""
        enough: Callable[[Whole], bool] = self.enough if at_most is None else lambda part: len(part) > 0
        done: list[Whole] = []
        work = [members] if len(members) else []
        while work:
            part = work.pop()
            if (at_most is not None and len(part) <= at_most) or (at_most is None and len(part) < 2 * self.k):
                done.append(part)
                continue
            halves = self._cut(part, enough)
            if halves is None:
                done.append(part)
            else:
                work += [halves[1], halves[0]]
        return done

    def pieces(self, part: Whole) -> tuple[list[Whole], Whole] | None:
        """The first cut of these rows into regions, for `regions.parted`."""
        halves = self._cut(part, lambda half: len(half) >= self.k)
        return None if halves is None else (list(halves), part[:0])

    def _cut(self, part: Whole, enough: Callable[[Whole], bool]) -> tuple[Whole, Whole] | None:
        rows = self.rows[part]
        low, high = rows.min(axis=0), rows.max(axis=0)
        lost = [
            -information_loss(axis, *axis.round_up(int(low[a]), int(high[a]))) if low[a] < high[a] else 1.0
            for a, axis in enumerate(self.axes)
        ]
        for a in np.argsort(lost, kind="stable"):
            if low[a] == high[a]:
                return None
            column = rows[:, a]
            border = self._border(int(a), column, int(low[a]), int(high[a]))
            below = column < border
            left, right = part[below], part[~below]
            if enough(left) and enough(right):
                return left, right
        return None

    def _border(self, a: int, column: Whole, low: int, high: int) -> int:
        """The first place of the upper half."""
        middle = int(np.partition(column, (len(column) - 1) // 2)[(len(column) - 1) // 2])
        tree = self.axes[a].tree
        if tree is None:
            return middle + 1 if middle < high else middle
        node = tree.cover(low, high)
        starts = self._starts.get((a, node))
        if starts is None:
            starts = self._starts[a, node] = np.array(tree.starts(node)[1:], dtype=np.int64)
        inside = starts[(starts > low) & (starts <= high)]
        below = np.searchsorted(np.sort(column), inside)
        return int(inside[np.argmin(np.abs(2 * below - len(column)))])
