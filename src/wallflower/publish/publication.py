"""A publication before it is written: groups, and everything they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.publish.anonymise import anonymise
from wallflower.publish.checker import Checker
from wallflower.publish.diversity import Demands
from wallflower.publish.grouping import Grouping
from wallflower.publish.regions import Run, in_turn, run_over
from wallflower.publish.space import Axis, Space, axis_of


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How rows are grouped, as the question says it."""

    k: int
    level: str
    method: str
    least: int
    """Possible values that everyone has, at the levels that promise them."""
    demands: Demands
    regions: int = 1
    """Into how many parts the table is cut before it is grouped."""
    population: int | None = None
    """How many people the rows are a sample of, where the owner says so; for the owner's report alone."""

    def grouping(self, checker: Checker, run: Run = in_turn) -> Grouping:
        return anonymise(
            checker,
            level=self.level,
            k=self.k,
            method=self.method,
            least=self.least,
            demands=self.demands,
            regions=self.regions,
            run=run,
        )


@dataclass(frozen=True)
class Publication:
    """Who is published with whom. Deterministic: no row order, engine or thread can change it."""

    terms: Terms
    unchanged: tuple[Axis, ...]
    others: NDArray[np.int64]
    """The unchanged columns of all rows."""
    checker: Checker
    grouping: Grouping

    @property
    def space(self) -> Space:
        return self.checker.space

    @property
    def places(self) -> NDArray[np.int64]:
        return self.checker.places


def checker_of(rows: Rows, space: Space) -> Checker:
    """The exact checks over the table's own rows."""
    return Checker(space, _places(rows, space.axes))


def publication_of(rows: Rows, space: Space, *, unchanged: Sequence[str] = (), terms: Terms) -> Publication:
    """Read, put in canonical order, group."""
    declaration = rows.declaration
    beside = tuple(axis_of(declaration.column(name), weight=Fraction(0), declaration=declaration) for name in unchanged)
    table = _places(rows, (*space.axes, *beside))
    places, others = np.ascontiguousarray(table[:, : len(space.axes)]), table[:, len(space.axes) :]
    checker = Checker(space, places)
    return Publication(terms, beside, others, checker, terms.grouping(checker, run_over(rows)))


def _places(rows: Rows, axes: Sequence[Axis]) -> NDArray[np.int64]:
    """All rows in canonical order, so that the order in which an engine hands them out changes nothing."""
    numbers = rows.fetch(numbers=[axis.name for axis in axes]).numbers
    table = np.column_stack([axis.places(numbers[:, a]) for a, axis in enumerate(axes)]).astype(np.int64)
    return np.ascontiguousarray(table[np.lexsort(table.T[::-1])])
