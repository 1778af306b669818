"""The rows as one record sees them: who is in which cell, and how far away."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Cells, Fetched, Nearest, Rows
from wallflower.explain.cube import over_contexts, total_in
from wallflower.explain.space import Space

LOW_BITS, MIDDLE_BITS = 7, 7
"""An index is cut into high, middle and low bits; a slice is the 2^7 contexts that differ in low bits alone."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The rows as seen from the asked-for record."""

    rows: Rows
    space: Space
    metric: str
    centre: int
    """The record's metric, in steps."""
    least: int
    """Public least population of a valid context."""

    @property
    def step(self) -> Fraction:
        return self.rows.declaration.column(self.metric).numeric.step

    @cached_property
    def cells(self) -> Cells:
        """Exact statistics of metric − centre in each cell of the cube."""
        return self.rows.cells(self.space.columns, self.metric, self.centre)

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.cells.counts

    @cached_property
    def totals(self) -> NDArray[np.int64] | None:
        """Σz per cell in machine words; None when a sum of cells could outgrow one (far more rows than max_rows declares)."""
        within = sum(abs(total) for total in self.cells.totals.ravel()) < 2**62
        return self.cells.totals.astype(np.int64) if within else None

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The cell of each row, in row-major order of the cube."""
        codes = self._fetched.codes.astype(np.int64)
        return np.asarray(np.ravel_multi_index(tuple(codes.T), self.space.shape), dtype=np.int64)

    @cached_property
    def shifted(self) -> NDArray[np.int64]:
        """Metric minus centre of each row."""
        return self._fetched.numbers[:, 0] - self.centre

    @cached_property
    def _fetched(self) -> Fetched:
        """Cells and metrics in one fetch: two could come in different orders."""
        return self.rows.fetch(numbers=(self.metric,), codes=self.space.columns)

    @cached_property
    def population(self) -> NDArray[np.int64]:
        """Rows of each context."""
        return over_contexts(self.counts, self.space.own)

    def state(self, index: int) -> tuple[int, int, int]:
        """Rows, Σz and Σz² of one context in whole numbers, z = metric − centre."""
        inside = (self.space.cells & ~self.space.patterns(np.array([index]))[0]) == 0
        cells = self.cells
        return (
            int(cells.counts.ravel()[inside].sum()),
            sum(cells.totals.ravel()[inside]),
            sum(cells.squares.ravel()[inside]),
        )

    def some_population(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return total_in(self.counts.ravel(), self.space.cells, self.space.patterns(indices))


class Entries:
    """Distinct values per cell, below, at and above the record's, nearest first."""

    def __init__(self, asked: Asked, per_side: int) -> None:
        near: Nearest = asked.rows.nearest(asked.space.columns, asked.metric, asked.centre, per_side)
        cells = np.repeat(np.arange(len(asked.space.cells)), np.diff(near.starts))
        gaps = near.values - asked.centre
        words = asked.space.cells[cells]
        self.below = side(gaps < 0, -gaps, near.multiplicities, words)
        self.above = side(gaps > 0, gaps, near.multiplicities, words)
        here = gaps == 0
        same = np.bincount(cells[here], weights=near.multiplicities[here], minlength=len(asked.space.cells))
        self.same = same.astype(np.int64).reshape(asked.space.shape)


def extremes(asked: Asked) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and largest metric − centre of each cell; an empty cell changes no minimum and no maximum."""
    empty, far = asked.counts == 0, np.iinfo(np.int64).max
    return np.where(empty, far, asked.cells.least), np.where(empty, -far, asked.cells.most)


Side = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]


def side(
    chosen: NDArray[np.bool_], gaps: NDArray[np.int64], copies: NDArray[np.int64], words: NDArray[np.uint64]
) -> Side:
    order = np.argsort(gaps[chosen], kind="stable")
    return gaps[chosen][order], copies[chosen][order].astype(np.int64), words[chosen][order]


def inside(side: Side, word: np.uint64) -> Side:
    kept = (side[2] & ~word) == 0
    return side[0][kept], side[1][kept], side[2][kept]


def slices(space: Space) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Words of the high, middle and low bits of an index; the record's own values are in the high ones."""
    low = min(space.free, LOW_BITS)
    middle = min(space.free - low, MIDDLE_BITS)
    own = np.uint64(space.own_pattern)
    lows = space.patterns(np.arange(2**low)) & ~own
    middles = space.patterns(np.arange(2**middle) << low) & ~own
    return space.patterns(np.arange(2 ** (space.free - low - middle)) << (low + middle)), middles, lows
