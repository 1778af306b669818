"""The paper's two inferences from one group: Theorems 4.1 and 4.2, decided exactly."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.corner_values import each_at_some_corner
from wallflower.publish.population import Population

Whole = NDArray[np.int64]
NOBODY: Whole = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Exposure:
    """Rows whose presence Theorem 4.1 (`single`) or 4.2 (`several`) concludes from one group."""

    single: Whole
    several: Whole

    @property
    def presence(self) -> Whole:
        return np.union1d(self.single, self.several)


def exposed(
    table: Population, low: Whole, high: Whole, values: Whole, *, people: Whole | None = None, all_normal: bool = False
) -> Exposure:
    """The conditions of Theorems 4.1 and 4.2 for every real outlier whose quasi-identifiers match the box.

    Both quantify over all rows, the outlier's own included, which puts it on a corner of the box in every column that counts in
    the distance; so only outliers on corners are looked at. Columns without weight move no distance and bind nobody. `values`
    come from `by_closeness`. Whoever knows `people`, who match the box, or that each of them is normal with some value
    (so that Theorem 4.2 exposes nobody), saves the work of finding out.
    """
    free_low, free_high = _constrained(table, low, high)
    if all_normal and not (free_low | free_high).all():
        return Exposure(NOBODY, NOBODY)
    people = table.inside(low, high) if people is None else people
    known = table.places[people, : table.quasi]
    counted = np.array([axis.weight > 0 for axis in table.space.quasi], dtype=np.bool_)
    rows = np.sort(people[((known == low) | (known == high))[:, counted].all(axis=1)])
    spots = table.places[rows, : table.quasi]
    bound = (((spots == low) & free_low) | ((spots == high) & free_high) | ~counted).all(axis=1)
    # Counts over all rows are the dear part: first whether the values expose anybody, then who is an outlier.
    if bound.any() and each_at_some_corner(table.blocks, table.guide, low, high, values):
        bound[:] = False
    if all_normal:
        rows, bound = rows[bound], bound[bound]
    outlying = ~table.normal(table.places[rows])
    rows, bound = rows[outlying], bound[outlying]
    lone = np.zeros(len(rows), dtype=np.bool_)
    if not all_normal:
        lone[:] = [not _some_value_normal(table, spot, values) for spot in table.places[rows, : table.quasi]]
    return Exposure(rows[bound], rows[lone])


def _some_value_normal(table: Population, spot: Whole, values: Whole) -> bool:
    return bool(table.normal(np.column_stack([np.tile(spot, (len(values), 1)), values])).any())


def _constrained(table: Population, low: Whole, high: Whole) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each column whether Definition 4.3 lets a spot be at its low end, and at its high end.

    It asks that no row's value lie strictly between the middle of spot and low and the middle of spot and high: for a spot at
    the low end, in the lower half of the interval, for one at the high end in the upper half. A column without weight asks nothing.
    """
    free_low, free_high = np.ones(len(low), dtype=np.bool_), np.ones(len(low), dtype=np.bool_)
    for axis, (held, first, last) in enumerate(zip(table.held, low.tolist(), high.tolist(), strict=True)):
        if table.space.quasi[axis].weight:
            above_low, above_middle = bisect_right(held, first), bisect_right(held, (first + last) // 2)
            free_low[axis] = above_low == len(held) or 2 * held[above_low] >= first + last
            free_high[axis] = above_middle == len(held) or held[above_middle] >= last
    return free_low, free_high
