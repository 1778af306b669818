"""The rows as one record sees them: who is in which cell, and how far away. What `detectors.contexts.Contexts` asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.contexts import EVERY, LARGEST, Entries, Side
from wallflower.engines.base import Cells, Fetched, Nearest, Rows
from wallflower.engines.cube import cells_of, nearest_of
from wallflower.explain.batches import BLOCK, Block, Few, Statistics, blocks
from wallflower.explain.languages import MOST_CELLS
from wallflower.explain.space import Space


@dataclass(frozen=True, kw_only=True)
class RecordView:
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

    @property
    def reach(self) -> tuple[int, int]:
        bounds = self.rows.declaration.column(self.metric).numeric
        return self.centre - bounds.first, bounds.last - self.centre

    @property
    def words(self) -> NDArray[np.uint64]:
        return self.space.cells

    @cached_property
    def cells(self) -> Cells:
        """Exact statistics of metric − centre in each cell."""
        if self._pushed_down:
            return _joined(self._values, self._cell_of_value, self.space.shape)
        return cells_of(self.codes, self.shifted, self.space.shape, max(self.reach))

    @property
    def _pushed_down(self) -> bool:
        """Whether the cube of all declared values is small: then the engine adds rows up, else the rows are fetched once."""
        return prod(domain.size for domain in self.space.domains) <= MOST_CELLS

    @cached_property
    def _values(self) -> Cells:
        """Statistics of each combination of declared values."""
        return self.rows.cells(self.space.columns, self.metric, self.centre)

    @cached_property
    def _cell_of_value(self) -> NDArray[np.int64]:
        """The cell of each combination of declared values, in row-major order."""
        found = np.zeros(1, dtype=np.int64)
        for of_code, size in zip(self.space.classes, self.space.shape, strict=True):
            found = (found[:, None] * size + of_code).ravel()
        return found

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The cell of each row, in row-major order of the cube."""
        codes = self._fetched.codes
        found = np.zeros(len(codes), dtype=np.int64)
        for column, (of_code, size) in enumerate(zip(self.space.classes, self.space.shape, strict=True)):
            found = found * size + of_code[codes[:, column]]
        return found

    @cached_property
    def shifted(self) -> NDArray[np.int64]:
        """Metric minus centre of each row."""
        return self._fetched.numbers[:, 0] - self.centre

    @cached_property
    def _fetched(self) -> Fetched:
        """Values and metrics in one fetch: two could come in different orders."""
        return self.rows.fetch(numbers=(self.metric,), codes=self.space.columns)

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.cells.counts

    @cached_property
    def totals(self) -> NDArray[np.int64] | None:
        """None when a sum of cells could outgrow a machine word: far more rows than max_rows declares."""
        within = sum(abs(total) for total in self.cells.totals.ravel()) < 2**62
        return self.cells.totals.astype(np.int64) if within else None

    @cached_property
    def squares(self) -> NDArray[np.float64]:
        return self.cells.squares.astype(np.float64)

    @cached_property
    def lowest(self) -> NDArray[np.int64]:
        return np.where(self.counts == 0, LARGEST, self.cells.least)

    @cached_property
    def highest(self) -> NDArray[np.int64]:
        return np.where(self.counts == 0, -LARGEST, self.cells.most)

    def between(self, first: int, last: int) -> NDArray[np.int64]:
        if not self._pushed_down:
            inside = (self.shifted >= first) & (self.shifted <= last)
            cells, copies = self.codes[inside], np.ones(np.count_nonzero(inside), np.int64)
        elif "_every_value" in self.__dict__:  # whoever asked for all values need not ask the engine again
            near, gaps = self._every_value, self._every_value.values - self.centre
            inside = (gaps >= first) & (gaps <= last)
            cells = np.repeat(self._cell_of_value, np.diff(near.starts))[inside]
            copies = near.multiplicities[inside]
        else:
            asked = (self.centre + first, self.centre + last)
            cells, copies = self._cell_of_value, self.rows.between(self.space.columns, self.metric, *asked).ravel()
        found = np.zeros(self.counts.size, dtype=np.int64)
        np.add.at(found, cells, copies)
        return found.reshape(self.space.shape)

    def shared(self, start: Sequence[Sequence[int]]) -> NDArray[np.int64]:
        """Rows of each cell that are also in the public context with these codes."""
        found = np.zeros(self.counts.size, dtype=np.int64)
        if self._pushed_down:
            inside = np.zeros(self._values.counts.shape, dtype=np.bool_)
            inside[np.ix_(*start)] = True
            np.add.at(found, self._cell_of_value[inside.ravel()], self._values.counts[inside])
        else:
            codes = self._fetched.codes
            kept = np.all([np.isin(codes[:, column], held) for column, held in enumerate(start)], axis=0)
            np.add.at(found, self.codes[kept], 1)
        return found.reshape(self.space.shape)

    def by_value(self, index: int) -> NDArray[np.int64]:
        """Rows of one context by declared values: one axis per column, only the values that it holds."""
        return self._values.counts[np.ix_(*self.space.chosen(index))]

    def entries(self, per_side: int) -> Entries:
        if self._pushed_down:
            near = self._every_value if per_side >= EVERY else self._nearest(per_side)
            cells = np.repeat(self._cell_of_value, np.diff(near.starts))
        else:
            near = nearest_of(self.codes, self.shifted + self.centre, self.counts.size, self.centre, per_side)
            cells = np.repeat(np.arange(self.counts.size), np.diff(near.starts))
        return self._entries(near, cells)

    def _nearest(self, per_side: int) -> Nearest:
        return self.rows.nearest(self.space.columns, self.metric, self.centre, per_side)

    @cached_property
    def _every_value(self) -> Nearest:
        """All distinct values of each combination of declared values."""
        return self._nearest(EVERY)

    def _entries(self, near: Nearest, cells: NDArray[np.int64]) -> Entries:
        gaps, words = near.values - self.centre, self.words.ravel()[cells]
        same = np.zeros(self.counts.size, dtype=np.int64)
        here = gaps == 0
        np.add.at(same, cells[here], near.multiplicities[here])
        return Entries(
            below=_side(gaps < 0, -gaps, near.multiplicities, words),
            above=_side(gaps > 0, gaps, near.multiplicities, words),
            same=same.reshape(self.space.shape),
        )

    @cached_property
    def _statistics(self) -> Statistics:
        return Statistics(self.counts, self.cells.totals, self.cells.squares)

    def blocks(self, most: int = BLOCK) -> Iterator[Block]:
        """All contexts, in order of their indices."""
        return blocks(self.space, self._statistics, most)

    def few(self, indices: NDArray[np.int64]) -> Few:
        return Few(self.space, self._statistics, indices)

    @cached_property
    def population(self) -> NDArray[np.int64]:
        """Rows of every context."""
        return np.concatenate([block.population for block in self.blocks()])


def _side(
    chosen: NDArray[np.bool_], gaps: NDArray[np.int64], copies: NDArray[np.int64], words: NDArray[np.uint64]
) -> Side:
    order = np.argsort(gaps[chosen], kind="stable")
    return Side(gaps[chosen][order], copies[chosen][order].astype(np.int64), words[chosen][order])


def _joined(cells: Cells, place: NDArray[np.int64], shape: tuple[int, ...]) -> Cells:
    """Statistics of the cells of a space from those of all combinations of values."""
    counts, totals, squares = (
        np.zeros(prod(shape), np.int64),
        np.zeros(prod(shape), object),
        np.zeros(prod(shape), object),
    )
    least, most = np.full(prod(shape), LARGEST), np.full(prod(shape), -LARGEST)
    held = cells.counts.ravel() > 0
    place = place[held]
    np.add.at(counts, place, cells.counts.ravel()[held])
    np.add.at(totals, place, cells.totals.ravel()[held])
    np.add.at(squares, place, cells.squares.ravel()[held])
    np.minimum.at(least, place, cells.least.ravel()[held])
    np.maximum.at(most, place, cells.most.ravel()[held])
    least[counts == 0] = 0
    most[counts == 0] = 0
    return Cells(
        counts.reshape(shape), totals.reshape(shape), squares.reshape(shape), least.reshape(shape), most.reshape(shape)
    )
