"""What an adversary concludes from a published table: the paper's two attacks, and one who knows real quasi-identifiers.

All of them know every row's quasi-identifiers and who is an outlier, as the paper assumes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from wallflower.publish.checker import Checker

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Exposure:
    """Rows whose presence Theorem 4.1 (`single`) or 4.2 (`several`) concludes from one group."""

    single: Whole
    several: Whole

    @property
    def presence(self) -> Whole:
        return np.union1d(self.single, self.several)


def exposed(checker: Checker, low: Whole, high: Whole, values: Whole) -> Exposure:
    """The conditions of Theorems 4.1 and 4.2 for every real outlier whose quasi-identifiers match the box.

    Both quantify over all rows, the outlier's own included, which puts it on a corner of the box in every column; so only
    outliers on corners are looked at. `values` come from `by_closeness`.
    """
    quasi = checker.quasi
    flags = _outlier_rows(checker)
    known = checker.places[flags, :quasi]
    on_corner = ((known == low) | (known == high)).all(axis=1)
    rows, spots = flags[on_corner], known[on_corner]
    if not len(rows):
        none = np.zeros(0, dtype=np.int64)
        return Exposure(none, none)
    lone = np.array([not _some_value_normal(checker, spot, values) for spot in spots])
    bound = np.array([_constrained(checker, spot, low, high) for spot in spots])
    if bound.any():
        bound &= not _every_value_has_a_normal_corner(checker, low, high, values)
    return Exposure(rows[bound], rows[lone])


def _outlier_rows(checker: Checker) -> Whole:
    cached: Whole | None = checker.__dict__.get("_flags")
    if cached is None:
        cached = np.flatnonzero(checker.outliers())
        object.__setattr__(checker, "_flags", cached)
    return cached


def _some_value_normal(checker: Checker, spot: Whole, values: Whole) -> bool:
    return bool(checker.normal(np.column_stack([np.tile(spot, (len(values), 1)), values])).any())


def _every_value_has_a_normal_corner(checker: Checker, low: Whole, high: Whole, values: Whole) -> bool:
    from wallflower.publish.checker import PATIENCE
    from wallflower.publish.kernels import YES
    from wallflower.publish.kernels import values as some_corner

    good = np.zeros(len(values), dtype=np.bool_)
    return bool(some_corner(checker.blocks, low, high, values, good, PATIENCE) == YES)


def _constrained(checker: Checker, spot: Whole, low: Whole, high: Whole) -> bool:
    """Definition 4.3: no row's value lies strictly between the middle of spot and low, and the middle of spot and high."""
    for axis, held in enumerate(_held(checker)):
        twice = 2 * held
        between = (twice > spot[axis] + low[axis]) & (twice < spot[axis] + high[axis])
        if between.any():
            return False
    return True


def _held(checker: Checker) -> list[Whole]:
    """The distinct values of each quasi-identifier."""
    cached: list[Whole] | None = checker.__dict__.get("_distinct")
    if cached is None:
        cached = [np.unique(checker.places[:, axis]) for axis in range(checker.quasi)]
        object.__setattr__(checker, "_distinct", cached)
    return cached
