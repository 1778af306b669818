"""The two counts behind every answer: rows that hold a value, and rows within the radius of it. Exact up to a cap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.balls import Ball
from wallflower.geometry.index import MOST, RadiusIndex
from wallflower.identify.metric import Metric

Ints = NDArray[np.int64]

FEW = 48
"""Up to so many questions, looking at every row is quicker than arranging the rows first."""
PARTS = 32
"""Into so many parts rows are split when the questions are fewer than the threads could share."""


SMALL = 50_000
"""Up to so many numbers to compare, Python's own integers are quicker than loading what is compiled."""


def copies(points: Ints, asked: Ints, *, cap: int) -> Ints:
    """For each asked value how many points equal it, at most `cap`."""
    width = points.shape[1]
    same = Metric(columns=("",) * width, by_gap=(True,) * width, ball=Ball(weights=(1,) * width, limit=0), doubling=4)
    return within(same, points, asked, cap=cap)


def within(metric: Metric, points: Ints, asked: Ints, *, cap: int) -> Ints:
    """For each asked value how many points are within the radius of it, at most `cap`."""
    if not len(points) or not len(asked):
        return np.zeros(len(asked), dtype=np.int64)
    if asked.size * len(points) <= SMALL:
        return _plainly(metric, points, asked, cap)
    fits = _fits(metric)
    if all(metric.by_gap) and (len(asked) > FEW or not fits):
        return RadiusIndex(points, metric.ball.weights).counts(metric.ball, cap=cap, queries=asked)
    if not fits:  # weights with very long denominators, and categories beside them: exact, and slow
        return _plainly(metric, points, asked, cap)
    return _looked(metric, points, asked, cap)


def of_values(metric: Metric, points: Ints, asked: Ints, *, cap: int) -> tuple[Ints, Ints]:
    """(copies, within) of each asked value, each at most `cap`; many questions share one arrangement of the rows."""
    if len(asked) <= FEW or not all(metric.by_gap) or asked.size * len(points) <= SMALL:
        return copies(points, asked, cap=cap), within(metric, points, asked, cap=cap)
    index = RadiusIndex(points, metric.ball.weights)
    equal = Ball(weights=(1,) * points.shape[1], limit=0)
    return index.counts(equal, cap=cap, queries=asked), index.counts(metric.ball, cap=cap, queries=asked)


def prepare(metric: Metric, made_up: Ints, *, comparisons: int) -> None:
    """Load or compile what `of_values` may need when it compares so many numbers."""
    if comparisons <= SMALL:
        return
    if all(metric.by_gap):
        RadiusIndex(made_up, metric.ball.weights).counts(metric.ball, cap=1, queries=made_up[:1])
    if _fits(metric):
        _looked(metric, made_up, made_up[:1], 1)


def of_rows(metric: Metric, points: Ints, *, until: int, cap: int) -> tuple[Ints, Ints]:
    """(copies, within) of the value of every row, each at most `cap`.

    Copies are counted where at most `until` rows are within, or no other value can be; elsewhere they are given as 1: with `until`
    = β no published margin of a value that is present depends on them there.
    """
    if all(metric.by_gap):
        index = RadiusIndex(points, metric.ball.weights)
        near = index.counts(metric.ball, cap=cap)
        if metric.alone:
            return near, near
        few = np.flatnonzero(near <= until)
        same = np.ones(len(points), dtype=np.int64)
        equal = Ball(weights=(1,) * points.shape[1], limit=0)
        same[few] = index.counts(equal, cap=cap, queries=points[few])
        return same, near
    values, value_of, multiplicity = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    near = within(metric, points, values, cap=cap)
    same = np.where((near <= until) | metric.alone, np.minimum(multiplicity, cap), 1)
    return same[value_of], near[value_of]


def _fits(metric: Metric) -> bool:
    """Whether the sums of `_looked` stay within a machine word."""
    return 4 * (metric.ball.limit + 1) * len(metric.columns) < 2**63


def _plainly(metric: Metric, points: Ints, asked: Ints, cap: int) -> Ints:
    found = [int(metric.near(value, points).sum()) for value in asked]
    return np.minimum(np.array(found, dtype=np.int64), cap)


def _looked(metric: Metric, points: Ints, asked: Ints, cap: int) -> Ints:
    from wallflower.identify.kernels import look_at_every_row

    limit = metric.ball.limit
    # One step in a column heavier than the limit already leaves the radius: beyond that the weight no longer matters.
    weights = np.array([min(weight, limit + 1) for weight in metric.ball.weights], dtype=np.int64)
    # weight·(reach + 1)² is above the limit, and at most 4·(limit + 1): `within` has made sure that such sums fit.
    farthest = [min(metric.ball.reach(at), 2 * MOST) + 1 if gap else 1 for at, gap in enumerate(metric.by_gap)]
    found = look_at_every_row(
        np.ascontiguousarray(points, dtype=np.int64),
        np.ascontiguousarray(asked, dtype=np.int64),
        (weights, np.array(farthest, dtype=np.int64), limit),
        min(cap, 2**62),
        1 if len(asked) > PARTS else PARTS,
    )
    return np.asarray(np.minimum(found.sum(axis=1), cap))
