"""How many rows of a set one ball can hold: bounds that are smooth because of what they are.

Each bound h maps a set W of rows to an integer with
    (i)   h(W) ≥ |W ∩ ball| for every ball of the radius around any row the domain allows;
    (ii)  h(W) ≤ h(W ∪ {p});
    (iii) h(W ∪ {p}) ≤ h(W) + 1.
That is all a smooth bound needs (`profiles.md`), and the minimum of such bounds is one. The count around the rows
themselves, max over p in W of |W ∩ B(p, 2r)|, fails (iii): take away the hub of a star and it collapses.

All of them are decided in integers, or by regions rounded outwards that do not depend on the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.balls import Ball
from wallflower.geometry.index import MOST, Graph, RadiusIndex
from wallflower.geometry.line import fullest

LINES_PER_RADIUS = 16
"""How finely the lines of `Lines` are spaced: a public constant."""


MOST_PAIRS = 400_000_000
"""Pairs that a graph may hold, 1.6 GB. Only time depends on it, no answer does."""


UNCOMPILED = 100_000
"""Declared rows up to which loading compiled loops takes longer than doing without. Only time depends on it."""


class Cover(Protocol):
    """A bound on nested sets: member i belongs to set t when times[i] ≤ t."""

    def __call__(self, times: NDArray[np.int64], t: int) -> int: ...


@dataclass(frozen=True)
class Window:
    """The most members in one slab of width 2r across a column; in one column this is exact."""

    order: NDArray[np.int64]
    values: NDArray[np.int64]
    length: int
    compiled: bool = True
    """By a compiled loop, or by a search that needs none: the same number, four times as slowly."""

    @classmethod
    def of(cls, points: NDArray[np.int64], ball: Ball, column: int, *, compiled: bool = True) -> Window:
        order = np.argsort(points[:, column], kind="stable")
        values = np.ascontiguousarray(points[order, column])
        return cls(order, values, min(ball.twice.reach(column), 4 * MOST), compiled)

    def __call__(self, times: NDArray[np.int64], t: int) -> int:
        if not self.compiled:
            return fullest(self.values[times[self.order] <= t], self.length)
        from wallflower.count.kernels import window

        return int(window(self.values, times[self.order], t, self.length))


@dataclass(frozen=True)
class Lines:
    """Two columns: the most members in one ball whose centre lies on one of a fixed family of lines.

    Every ball of radius r lies in one of radius r + pitch/2 around the nearest line, so this is the exact cover but
    for that half pitch, and the regions counted in do not depend on the rows.
    """

    order: NDArray[np.int64]
    across: NDArray[np.int64]
    along: NDArray[np.int64]
    shape: tuple[float, float, int]

    @classmethod
    def suits(cls, ball: Ball) -> bool:
        """A public question: whether lines make sense at all for this radius, and doubles hold what they need."""
        return ball.limit > 0 and all(1 <= ball.reach(column) < MOST // 2 for column in range(2))

    @classmethod
    def of(cls, points: NDArray[np.int64], ball: Ball) -> Lines:
        order = np.argsort(points[:, 1], kind="stable")
        pitch = max(1, ball.reach(1) // LINES_PER_RADIUS)
        wide, tall = (math.sqrt(ball.limit / weight) for weight in ball.weights)
        grown = (1 + pitch / 2 / tall) * (1 + 1e-12)
        return cls(order, points[order, 0].copy(), points[order, 1].copy(), (wide * grown, tall * grown, pitch))

    def __call__(self, times: NDArray[np.int64], t: int) -> int:
        from wallflower.count.kernels import lines_cover

        return int(lines_cover(self.across, self.along, times[self.order], t, self.shape))


@dataclass(frozen=True)
class Core:
    """One more than the degeneracy of the graph of pairs within 2r: rows of one ball are pairwise that near."""

    points: NDArray[np.int64]
    near: Ball
    graph: Graph | None
    """Built once for all t; None where it would not fit, and then the same number is found without it, more slowly."""

    @classmethod
    def of(cls, points: NDArray[np.int64], ball: Ball, *, most: int = MOST_PAIRS) -> Core:
        return cls(points, ball.twice, RadiusIndex(points, ball.weights).graph(ball.twice, most=most))

    def __call__(self, times: NDArray[np.int64], t: int) -> int:
        from wallflower.count.kernels import degeneracy

        if not (times <= t).any():
            return 0
        if self.graph is None:
            return _deepest_core(self.points[times <= t], self.near) + 1
        placed = times[self.graph.order]
        return int(degeneracy(self.graph.starts, self.graph.neighbours, placed, t)) + 1


def _deepest_core(points: NDArray[np.int64], near: Ball) -> int:
    """The degeneracy, as the largest c for which some rows have c others of them near; a deeper core lies in a shallower."""
    depth, step = 0, 1
    while len(deeper := _core(points, near, depth + step)):
        points, depth, step = deeper, depth + step, 2 * step
    while step > 1:
        step //= 2
        deeper = _core(points, near, depth + step)
        if len(deeper):
            points, depth = deeper, depth + step
    return depth


def _core(points: NDArray[np.int64], near: Ball, depth: int) -> NDArray[np.int64]:
    """What is left when rows with fewer than `depth` others near are taken away until there are none."""
    while len(points):
        enough = RadiusIndex(points, near.weights).counts(near, cap=depth + 1) > depth
        if enough.all():
            break
        points = points[enough]
    return points


def covers(points: NDArray[np.int64], ball: Ball, *, most_rows: int = MOST) -> list[Cover]:
    """The bounds that are used for this many columns, the cheapest first.

    `most_rows` is the declared bound: where it is small, one column needs nothing compiled, whatever the rows are.
    """
    width = points.shape[1]
    compiled = width > 1 or most_rows > UNCOMPILED
    found: list[Cover] = [Window.of(points, ball, column, compiled=compiled) for column in range(width)]
    if width == 2 and Lines.suits(ball):
        found.append(Lines.of(points, ball))
    if width > 1:
        found.append(Core.of(points, ball))
    return found
