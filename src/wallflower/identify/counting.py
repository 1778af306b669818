"""The two counts behind every answer: rows that hold a value, and rows within the radius of it. Exact up to a cap.

Rows are grouped by the columns that count only by being different; between two groups the mismatch is one number, and the
rest of the limit is a ball in the other columns (`detectors.radius`). Capping each part keeps a capped sum right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower import progress
from wallflower.detectors.geometry import Ball
from wallflower.detectors.radius import RadiusIndex, scan
from wallflower.identify.metric import Metric

Ints = NDArray[np.int64]

FEW = 48
"""Up to so many questions, looking at every row is quicker than arranging the rows first."""


def copies(points: Ints, asked: Ints, *, cap: int) -> Ints:
    """For each asked value how many points equal it, at most `cap`."""
    same = Ball(weights=(1,) * points.shape[1], limit=0)
    return _within_ball(points, asked, same, cap=cap)


def within(metric: Metric, points: Ints, asked: Ints, *, cap: int) -> Ints:
    """For each asked value how many points are within the radius of it, at most `cap`."""
    counts = np.zeros(len(asked), dtype=np.int64)
    if not len(points) or not len(asked):
        return counts
    by_gap = np.array(metric.by_gap)
    if by_gap.all():
        return _within_ball(points, asked, metric.ball, cap=cap)
    groups, group_of = np.unique(points[:, ~by_gap], axis=0, return_inverse=True)
    kinds, kind_of = np.unique(asked[:, ~by_gap], axis=0, return_inverse=True)
    members = np.split(np.argsort(group_of, kind="stable"), np.cumsum(np.bincount(group_of))[:-1])
    sizes = np.bincount(group_of)
    weights = [weight for weight, gap in zip(metric.ball.weights, metric.by_gap, strict=True) if gap]
    for place, kind in enumerate(kinds):
        progress.report("kinds of values", place, len(kinds))
        rest = metric.ball.limit - _mismatch(metric, kind, groups)
        here = np.flatnonzero(kind_of == place)
        if not weights:
            counts[here] = min(int(sizes[rest >= 0].sum()), cap)
            continue
        for group in np.flatnonzero(rest >= 0):
            part = points[members[group]][:, by_gap]
            ball = Ball(weights=tuple(weights), limit=int(rest[group]))
            found = _within_ball(part, np.ascontiguousarray(asked[here][:, by_gap]), ball, cap=cap)
            counts[here] = np.minimum(counts[here] + found, cap)
    return counts


def of_rows(metric: Metric, points: Ints, *, beta: int, cap: int) -> tuple[Ints, Ints]:
    """(copies, within) of the value of every row, each at most `cap`, with cap > β.

    Copies are counted where at most β rows are within; elsewhere they are given as 1, because no margin of a value that is
    present depends on them there.
    """
    if all(metric.by_gap):
        index = RadiusIndex(points, metric.ball.weights)
        near = index.counts(metric.ball, cap=cap)
        few = np.flatnonzero(near <= beta)
        same = np.ones(len(points), dtype=np.int64)
        equal = Ball(weights=(1,) * points.shape[1], limit=0)
        same[few] = index.counts(equal, cap=cap, queries=points[few])
        return same, near
    values, value_of, multiplicity = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    near = within(metric, points, values, cap=cap)
    same = np.where(near <= beta, np.minimum(multiplicity, cap), 1)
    return same[value_of], near[value_of]


def _within_ball(points: Ints, asked: Ints, ball: Ball, *, cap: int) -> Ints:
    if len(asked) <= FEW:
        return scan(points, asked, ball, cap=cap)
    return RadiusIndex(points, ball.weights).counts(ball, cap=cap, queries=asked)


def _mismatch(metric: Metric, kind: Ints, groups: Ints) -> NDArray[np.object_]:
    weights = [weight for weight, gap in zip(metric.ball.weights, metric.by_gap, strict=True) if not gap]
    total = np.zeros(len(groups), dtype=object)
    for place, weight in enumerate(weights):
        total += (groups[:, place] != kind[place]).astype(object) * weight
    return total
