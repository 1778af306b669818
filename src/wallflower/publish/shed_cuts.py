"""Cuts that keep counts right: by category while that is possible, minorities leave instead of turning a column to `*` for everyone.

A part of the rows is cut in the first column that can be cut: taxonomies first, then ordered categories and numbers together, in each class the column
that loses most, the earlier one at a tie. A column with a taxonomy is cut into the children of the node that covers the part: every child that
would be enough by itself stands alone; the others stay together when they are enough, and leave ("shed") when they are not and are at most
a fifth of the part. Where they are more the column is not cut there. All other columns are cut in two where rows times widths of the two sides are
least, so that long tails part from the middle: a reader spreads the rows of a group evenly over its range, and is wrong by what the range is too wide. A border
whose sides are not enough gives way to the next best, ties going down. What was shed is cut again by itself, a few times over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.loss import information_loss
from wallflower.publish.space import Axis

Whole = NDArray[np.int64]
Enough = Callable[[Whole], bool]
SHED = 5
"""At most one part in so many leaves."""
ROUNDS = 8
BORDERS = 12
"""How many borders of a column are tried, the best first."""


@dataclass(frozen=True)
class ShedCutter:
    axes: Sequence[Axis]
    rows: Whole
    """Quasi-identifiers of all rows."""
    enough: Enough
    """Whether these rows could be a group by themselves."""
    least: int = 1
    """Fewer rows are never enough."""
    _starts: dict[tuple[int, int], Whole] = field(default_factory=dict, init=False, repr=False)

    def leaves(self, members: Whole) -> tuple[list[Whole], Whole]:
        """Parts that are enough, and the rows that are in none."""
        parts: list[Whole] = []
        left = members
        for _ in range(ROUNDS):
            if not self.enough(left):
                break
            found, left = self._round(left)
            parts += found
        return parts, left

    def _round(self, members: Whole) -> tuple[list[Whole], Whole]:
        done: list[Whole] = []
        shed: list[Whole] = []
        work = [members]
        while work:
            part = work.pop()
            cut = self.pieces(part)
            if cut is None:
                done.append(part)
                continue
            pieces, gone = cut
            work += pieces[::-1]
            if len(gone):
                shed.append(gone)
        return done, np.sort(np.concatenate(shed)) if shed else members[:0]

    def pieces(self, part: Whole) -> tuple[list[Whole], Whole] | None:
        """The first cut of these rows: what stands alone, and what leaves."""
        rows = self.rows[part]
        low, high = rows.min(axis=0), rows.max(axis=0)
        order = sorted(
            (axis.tree is None, -information_loss(axis, *axis.round_up(int(low[a]), int(high[a]))), a)
            for a, axis in enumerate(self.axes)
            if low[a] < high[a]
        )
        for _, _, a in order:
            column = rows[:, a]
            tree = self.axes[a].tree
            cut = (
                self._two(part, column) if tree is None else self._children(part, column, a, int(low[a]), int(high[a]))
            )
            if cut is not None:
                return cut
        return None

    def _two(self, part: Whole, column: Whole) -> tuple[list[Whole], Whole] | None:
        held, counts = np.unique(column, return_counts=True)
        below = np.cumsum(counts)[:-1]
        above = len(column) - below
        lost = below * (held[:-1] - held[0] + 1.0) + above * (held[-1] - held[1:] + 1.0)  # in doubles: nothing wraps
        borders = np.flatnonzero(np.minimum(below, above) >= self.least)
        for border in borders[np.argsort(lost[borders], kind="stable")][:BORDERS]:
            lower = column <= held[border]
            pieces = [part[lower], part[~lower]]
            if all(self.enough(piece) for piece in pieces):
                return pieces, part[:0]
        return None

    def _children(self, part: Whole, column: Whole, a: int, low: int, high: int) -> tuple[list[Whole], Whole] | None:
        child = np.searchsorted(self._starts_of(a, low, high), column, side="right")
        alone = [part[child == c] for c in np.unique(child)]
        stands = [self.enough(piece) for piece in alone]
        if not any(stands):
            return None
        pieces = [piece for piece, stand in zip(alone, stands, strict=True) if stand]
        rest = [piece for piece, stand in zip(alone, stands, strict=True) if not stand]
        others = np.sort(np.concatenate(rest)) if rest else part[:0]
        if len(rest) > 1 and self.enough(others):
            return [*pieces, others], part[:0]
        return (pieces, others) if SHED * len(others) <= len(part) else None

    def _starts_of(self, a: int, low: int, high: int) -> Whole:
        tree = self.axes[a].tree
        assert tree is not None  # noqa: S101 - asked for columns with a taxonomy alone
        node = tree.cover(low, high)
        starts = self._starts.get((a, node))
        if starts is None:
            starts = self._starts[a, node] = np.array(tree.starts(node)[1:], dtype=np.int64)
        return starts
