"""Extra tests that a group may have to pass: entropy and recursive l-diversity, and t-closeness, in every sensitive column.

All three hold for the union of two groups that pass (entropy is concave, the other two compare convex sums), so groups with one box may be
merged; a group that takes in a row is tested again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.earth_mover import Ground, leaves, ranks
from wallflower.publish.space import Axis

Whole = NDArray[np.int64]
_HAIR = 1e-9
"""Entropies are compared in doubles; what is this close to the limit fails."""


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What is asked beyond k different values; None asks nothing."""

    entropy: Fraction | None = None
    """Entropy l-diversity: the entropy of a group's values is at least log l (Machanavajjhala et al. 2007)."""
    recursive: tuple[Fraction, int] | None = None
    """(c, l): the commonest value is rarer than c times all values from the l-th commonest on."""
    closeness: Fraction | None = None
    """t: a group's values are within earth mover's distance t of the table's (Li et al. 2007): over ranks for numbers and ordered
    categories, over the hierarchy for other categories (`earth_mover.py`)."""

    @property
    def any(self) -> bool:
        return self.entropy is not None or self.recursive is not None or self.closeness is not None

    @property
    def sentences(self) -> list[str]:
        said = []
        if self.entropy is not None:
            said.append(f"entropy {_short(self.entropy)}-diversity")
        if self.recursive is not None:
            said.append(f"recursive ({_short(self.recursive[0])}, {self.recursive[1]})-diversity")
        if self.closeness is not None:
            said.append(f"{_short(self.closeness)}-closeness")
        return said


def _short(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):g}"


@dataclass(frozen=True)
class DiversityTest:
    """The demands over one table. `codes`: each row's values numbered from 0 in every sensitive column, in the column's order."""

    demands: Demands
    codes: Whole
    grounds: tuple[Ground, ...]
    """How far the values of each column are from each other."""

    @property
    def any(self) -> bool:
        return self.demands.any

    @cached_property
    def _table(self) -> list[Whole]:
        return [np.bincount(column) for column in self.codes.T]

    def passes(self, rows: Whole) -> bool:
        return not self.any or all(self._column(a, rows) for a in range(self.codes.shape[1]))

    def _column(self, a: int, rows: Whole) -> bool:
        counts = np.bincount(self.codes[rows, a], minlength=len(self._table[a]))
        wanted = self.demands
        if wanted.entropy is not None and not _entropy(counts, wanted.entropy):
            return False
        if wanted.recursive is not None and not _recursive(counts, *wanted.recursive):
            return False
        return wanted.closeness is None or self.grounds[a].distance(counts, self._table[a]) <= wanted.closeness


def diversity_test(demands: Demands, axes: Sequence[Axis], held: Whole) -> DiversityTest:
    """`held`: the places of all rows in the sensitive columns, whose axes these are."""
    codes, grounds = [], []
    for axis, column in zip(axes, held.T, strict=True):
        places, code = np.unique(column, return_inverse=True)
        codes.append(code.reshape(-1))
        grounds.append(ranks(len(places)) if axis.tree is None else leaves(axis.tree, places))
    return DiversityTest(demands, np.column_stack(codes).astype(np.int64), tuple(grounds))


def _entropy(counts: Whole, least: Fraction) -> bool:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum()) >= math.log(least) + _HAIR


def _recursive(counts: Whole, c: Fraction, least: int) -> bool:
    descending = np.sort(counts)[::-1]
    return int(descending[0]) < c * int(descending[least - 1 :].sum())
