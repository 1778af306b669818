"""What an adversary concludes from a published table: the paper's two attacks, and one who knows real quasi-identifiers.

All of them know every row's quasi-identifiers and who is an outlier, as the paper assumes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wallflower.progress import report
from wallflower.publish.checker import NOBODY, Checker

if TYPE_CHECKING:
    from wallflower.publish.published import Crowd

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Exposure:
    """Rows whose presence Theorem 4.1 (`single`) or 4.2 (`several`) concludes from one group."""

    single: Whole
    several: Whole

    @property
    def presence(self) -> Whole:
        return np.union1d(self.single, self.several)


def exposed(
    checker: Checker, low: Whole, high: Whole, values: Whole, *, people: Whole | None = None, all_normal: bool = False
) -> Exposure:
    """The conditions of Theorems 4.1 and 4.2 for every real outlier whose quasi-identifiers match the box.

    Both quantify over all rows, the outlier's own included, which puts it on a corner of the box in every column that counts in
    the distance; so only outliers on corners are looked at. Columns without weight move no distance and bind nobody. `values`
    come from `by_closeness`. Whoever knows `people`, who match the box, or that each of them is normal with some value
    (so that Theorem 4.2 exposes nobody), saves the work of finding out.
    """
    free_low, free_high = _constrained(checker, low, high)
    if all_normal and not (free_low | free_high).all():
        return Exposure(NOBODY, NOBODY)
    people = checker.matching(low, high) if people is None else people
    known = checker.places[people, : checker.quasi]
    counted = np.array([axis.weight > 0 for axis in checker.space.quasi], dtype=np.bool_)
    rows = np.sort(people[((known == low) | (known == high))[:, counted].all(axis=1)])
    spots = checker.places[rows, : checker.quasi]
    bound = (((spots == low) & free_low) | ((spots == high) & free_high) | ~counted).all(axis=1)
    # Counts over all rows are the dear part: first whether the values expose anybody, then who is an outlier.
    if bound.any() and checker.each_at_some_corner(low, high, values):
        bound[:] = False
    if all_normal:
        rows, bound = rows[bound], bound[bound]
    outlying = ~checker.normal(checker.places[rows])
    rows, bound = rows[outlying], bound[outlying]
    lone = np.zeros(len(rows), dtype=np.bool_)
    if not all_normal:
        lone[:] = [not _some_value_normal(checker, spot, values) for spot in checker.places[rows, : checker.quasi]]
    return Exposure(rows[bound], rows[lone])


def _outlier_rows(checker: Checker) -> Whole:
    cached: Whole | None = checker.__dict__.get("_flags")
    if cached is None:
        cached = np.flatnonzero(checker.outliers())
        object.__setattr__(checker, "_flags", cached)
    return cached


def _some_value_normal(checker: Checker, spot: Whole, values: Whole) -> bool:
    return bool(checker.normal(np.column_stack([np.tile(spot, (len(values), 1)), values])).any())


def _constrained(checker: Checker, low: Whole, high: Whole) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each column whether Definition 4.3 lets a spot be at its low end, and at its high end.

    It asks that no row's value lie strictly between the middle of spot and low and the middle of spot and high: for a spot at
    the low end, in the lower half of the interval, for one at the high end in the upper half. A column without weight asks nothing.
    """
    free_low, free_high = np.ones(len(low), dtype=np.bool_), np.ones(len(low), dtype=np.bool_)
    for axis, (held, first, last) in enumerate(zip(_held(checker), low.tolist(), high.tolist(), strict=True)):
        if checker.space.quasi[axis].weight:
            above_low, above_middle = bisect_right(held, first), bisect_right(held, (first + last) // 2)
            free_low[axis] = above_low == len(held) or 2 * held[above_low] >= first + last
            free_high[axis] = above_middle == len(held) or held[above_middle] >= last
    return free_low, free_high


def _held(checker: Checker) -> list[list[int]]:
    """The distinct values of each quasi-identifier, in order."""
    cached: list[list[int]] | None = checker.__dict__.get("_distinct")
    if cached is None:
        cached = [np.unique(checker.places[:, axis]).tolist() for axis in range(checker.quasi)]
        object.__setattr__(checker, "_distinct", cached)
    return cached


@dataclass(frozen=True)
class Leak:
    """One outlier that a group gives away (Definition 4.1)."""

    row: int
    crowd: int
    theorem: str
    presence: float
    """1/h, h the number of outliers whose quasi-identifiers match the group."""
    association: float
    """1/l, l the number of published values that make this outlier's quasi-identifiers an outlier."""


@dataclass(frozen=True)
class Findings:
    """What the attacks found in a published table. Owner only: it names rows."""

    rows: int
    crowds: int
    smallest: int
    """Rows in the smallest group: the k of k-anonymity."""
    least_distinct: int
    """Different sensitive values in the poorest group: the l of distinct l-diversity, the k of plain k-anonymity."""
    outliers: int
    """(p, d)-outliers of the table, published or not."""
    leaks: tuple[Leak, ...]
    """Theorems 4.1 and 4.2."""
    abnormal_values: int
    """Published values that are normal for nobody who matches their group: whoever holds one is an outlier, for certain."""
    abnormal_people: int
    """Pairs of a group and someone who matches it but is an outlier with every value of it."""

    @property
    def presence(self) -> float:
        """The adversary's best presence probability; 0 when no outlier can be inferred."""
        return max((leak.presence for leak in self.leaks), default=0.0)

    @property
    def association(self) -> float:
        return max((leak.association for leak in self.leaks), default=0.0)

    @property
    def succeeded(self) -> bool:
        return bool(self.leaks or self.abnormal_values or self.abnormal_people)


def attack(checker: Checker, published: Sequence[Crowd]) -> Findings:
    """Run every attack on every group. The checker holds the owner's original rows."""
    leaks: list[Leak] = []
    abnormal_values = abnormal_people = 0
    for number, crowd in enumerate(published):
        values = checker.by_closeness(crowd.held)
        leaks += _leaks(checker, number, crowd, values)
        wrong_values, wrong_people = _abnormal(checker, crowd, values)
        abnormal_values += wrong_values
        abnormal_people += wrong_people
        report("attacking", number + 1, len(published))
    return Findings(
        rows=sum(crowd.rows for crowd in published),
        crowds=len(published),
        smallest=min((crowd.rows for crowd in published), default=0),
        least_distinct=min((crowd.distinct for crowd in published), default=0),
        outliers=len(_outlier_rows(checker)),
        leaks=tuple(leaks),
        abnormal_values=abnormal_values,
        abnormal_people=abnormal_people,
    )


def _leaks(checker: Checker, number: int, crowd: Crowd, values: Whole) -> list[Leak]:
    found = exposed(checker, crowd.low, crowd.high, values)
    if not found.presence.size:
        return []
    flags = _outlier_rows(checker)
    known = checker.places[flags, : checker.quasi]
    matching = int(((known >= crowd.low) & (known <= crowd.high)).all(axis=1).sum())
    leaks = []
    for row in found.presence.tolist():
        spot = checker.places[row, : checker.quasi]
        normal = checker.normal(np.column_stack([np.tile(spot, (len(values), 1)), values]))
        theorem = "4.1" if row in found.single else "4.2"
        leaks.append(Leak(row, number, theorem, 1 / matching, 1 / max(1, int((~normal).sum()))))
    return leaks


def _abnormal(checker: Checker, crowd: Crowd, values: Whole) -> tuple[int, int]:
    """The candidate adversary: published values normal for nobody, matching people normal with no value."""
    from wallflower.publish.kernels import everyone, someone

    people = checker.matching(crowd.low, crowd.high)
    known = np.ascontiguousarray(checker.places[people, : checker.quasi])
    good, bad = np.zeros(len(values), dtype=np.bool_), np.zeros(len(known), dtype=np.bool_)
    everyone(checker.blocks, checker.guide, known, values, good, bad, False, False)
    someone(checker.blocks, checker.guide, known, values, good)
    return int((~good).sum()), int(bad.sum())
