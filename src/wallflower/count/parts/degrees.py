"""Degrees of every row: strip by strip, from rows that the engine has sorted, or part beside part, on executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.count.degrees import capped_degrees, declared_ball
from wallflower.count.parts import halos
from wallflower.count.parts.tasks import DegreesAtHome
from wallflower.engines.base import Rows
from wallflower.engines.batches import joined, limited
from wallflower.engines.executors import Spread, executors_of
from wallflower.engines.partition import Cut
from wallflower.engines.plan import Plan, plan_rows
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import EVERYTHING
from wallflower.geometry.strips import strips
from wallflower.schema.declaration import Declaration

Ints = NDArray[np.int64]


def plan_of(declaration: Declaration, columns: Sequence[str], radius: Fraction) -> Plan:
    """How a question about these columns reads the rows; public."""
    ball = declared_ball(declaration, columns, radius)
    return plan_rows(declaration, len(columns), along=columns[halos.cut_across(declaration, columns, ball)])


@dataclass(frozen=True)
class Degrees:
    """Degrees of all rows of some columns, at most `cap`, a strip at a time. Private."""

    rows: Rows
    columns: Sequence[str]
    ball: Ball
    cap: int
    """Counts include the row itself and stop at cap + 1; then it is taken off."""
    plan: Plan

    @property
    def by(self) -> int:
        return list(self.columns).index(self.plan.along)

    def __iter__(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """The rows of each strip, their degrees, and how many rows each stands for: of those that occur more than cap + 1 times, whose
        degree is `cap`, only so many are given.
        """
        halo = halos.of_degrees(self.ball, self.by)
        batches = joined(self.rows.stream(self.columns, by=self.plan.along))
        given = (limited(batch, min(self.cap, EVERYTHING) + 1) for batch in batches)
        for strip in strips(given, self.by, below=halo, above=halo, most=self.plan.rows):
            rows, stands_for = np.ascontiguousarray(strip.rows[:, :-1]), strip.rows[strip.home, -1]
            yield rows[strip.home], capped_degrees(rows, self.ball, self.cap)[strip.home], stands_for

    def histogram(self) -> Ints:
        """How many rows have each degree from 0 to `cap`."""
        found = np.zeros(self.cap + 1, dtype=np.int64)
        for _, degrees, stands_for in self:
            np.add.at(found, degrees, stands_for)
        return found


@dataclass(frozen=True)
class DegreesOnExecutors:
    """The same degrees, found where the rows lie. Private."""

    rows: Rows
    columns: Sequence[str]
    ball: Ball
    cap: int
    plan: Plan

    @property
    def by(self) -> int:
        return list(self.columns).index(self.plan.along)

    def fewer(self, k: int) -> int:
        """How many rows have fewer than k others near them, for k up to the cap."""
        return sum(more for degree, more in self.many().items() if degree < k)

    def histogram(self) -> Ints:
        """How many rows have each degree from 0 to `cap`."""
        found, many = np.zeros(self.cap + 1, dtype=np.int64), self.many()
        found[list(many)] = list(many.values())
        return found

    def many(self) -> Mapping[int, int]:
        """How many rows have each degree."""
        spread, cut = self._parted()
        return _added(told for _, told in spread.each(DegreesAtHome(self.ball, self.cap, k=0, horizon=0), cut))

    def near(self, k: int, horizon: int) -> tuple[Spread, Mapping[int, int]]:
        """The rows near the threshold with the degree that they have at home, as they stay on the executors; and how many rows have each
        degree. Rows that come with more than cap + 1 equal ones stand for all of them; none of those is near the threshold.
        """
        spread, cut = self._parted()
        kept, told = spread.kept(DegreesAtHome(self.ball, self.cap, k, horizon), cut, width=len(self.columns) + 1)
        return kept, _added(told)

    def _parted(self) -> tuple[Spread, Cut]:
        halo, spread = halos.of_degrees(self.ball, self.by), executors_of(self.rows).spread(self.columns)
        copies = min(self.cap, EVERYTHING) + 1
        return spread, spread.cut(self.by, below=halo, above=halo, most=self.plan.rows, copies=copies)


def _added(told: Iterable[tuple[Ints, Ints]]) -> Mapping[int, int]:
    many = Counter[int]()
    for degrees, more in told:
        many.update(dict(zip(degrees.tolist(), more.tolist(), strict=True)))
    return many
