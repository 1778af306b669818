"""The slow, obvious twins of `count`'s kernels."""

from __future__ import annotations

import itertools

import numpy as np

from wallflower.count.profiles import profile
from wallflower.geometry.balls import Ball


def near(ball: Ball, one, other) -> bool:
    return [int(a) - int(b) for a, b in zip(one, other, strict=True)] in ball


def degrees(points, ball):
    gaps = points[:, None, :] - points[None, :, :]
    return ((gaps**2 * np.array(ball.weights)).sum(axis=2) <= ball.limit).sum(axis=1) - 1


def outliers(points, ball, k):
    return int((degrees(points, ball) < k).sum())


def bounds_of(points, ball, *, k, neighbours, cap, horizon=None):
    points = np.asarray(points, dtype=np.int64).reshape(-1, len(ball.weights))
    return profile(
        points,
        degrees(points, ball),
        ball,
        k=k,
        horizon=cap if horizon is None else horizon,
        cap=cap,
        neighbours=neighbours,
    )


def held_by_a_ball(points, ball, centres):
    """The most of `points` in one ball around one of `centres`."""
    return max((sum(near(ball, p, c) for p in points) for c in centres), default=0)


def degeneracy(points, ball):
    left, deepest = list(range(len(points))), 0
    while left:
        degree = {i: sum(i != j and near(ball, points[i], points[j]) for j in left) for i in left}
        least = min(left, key=degree.__getitem__)
        deepest = max(deepest, degree[least])
        left.remove(least)
    return deepest


def window(values, length):
    return max((sum(low <= v <= low + length for v in values) for low in values), default=0)


def lines_cover(points, shape):
    """Over every line of the family and every place on it where an interval begins."""
    wide, tall, pitch = shape
    best = 0
    if not len(points):
        return 0
    reach = int(tall) + 1
    for line in range(-(-(int(points[:, 1].min()) - reach) // pitch), (int(points[:, 1].max()) + reach) // pitch + 1):
        intervals = []
        for x, y in points:
            gap = int(y) - line * pitch
            if abs(gap) <= reach:
                half = int(wide * np.sqrt(max(0.0, 1.0 - (gap / tall) ** 2) + 1e-12)) + 1
                intervals.append((int(x) - half, int(x) + half))
        for begin, _ in intervals:
            best = max(best, sum(low <= begin <= high for low, high in intervals))
    return best


def pentagon(radius):
    """Five points within `radius` of the origin, pairwise further apart."""
    angles = 2 * np.pi * np.arange(5) / 5
    corners = np.floor(np.stack([np.cos(angles), np.sin(angles)], axis=1) * radius).astype(np.int64)
    corners = np.where(
        np.linalg.norm(corners, axis=1)[:, None] > radius, np.sign(corners) * (abs(corners) - 1), corners
    )
    ball = Ball((1, 1), radius**2)
    assert all(near(ball, corner, (0, 0)) for corner in corners)
    assert not any(near(ball, a, b) for a, b in itertools.combinations(corners, 2))
    return ball, corners
