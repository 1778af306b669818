"""The slow, obvious twins of `count`'s kernels, and tables that are hard on smooth bounds."""

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


def tables(seed, width):
    """A small table, its ball and k: random, on a coarse grid, coincident, a star with its hub, or a ring of clumps."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    k = int(rng.integers(1, 5))
    weights = tuple(int(weight) for weight in rng.integers(1, 4, width))
    if kind == 0:
        points = rng.integers(-9, 10, (int(rng.integers(0, 12)), width))
        ball = Ball(weights, int(rng.integers(0, 120)))
    elif kind == 1:
        points = 3 * rng.integers(-2, 3, (int(rng.integers(1, 12)), width))
        ball = Ball(weights, 9 * int(rng.integers(1, 6)))
    elif kind == 2:
        points = np.repeat(rng.integers(-6, 7, (3, width)), rng.integers(1, 5, 3), axis=0)
        ball = Ball(weights, int(rng.integers(0, 200)))
    elif kind == 3:  # leaves at twice the radius of a hub, which alone joins them
        radius = int(rng.integers(2, 6))
        ball = Ball((1,) * width, radius**2)
        leaves = [sign * 2 * radius * np.eye(width, dtype=int)[axis] for axis in range(width) for sign in (1, -1)]
        points = np.array([np.zeros(width, dtype=int), *leaves]).repeat(int(rng.integers(1, 4)), axis=0)
    else:  # clumps around a centre, pairwise just further than the radius apart: the packing itself
        ball, clumps = pentagon(100) if width == 2 else (Ball((1,) * width, 100), np.array([[10], [-10]]))
        if width > 2:
            clumps = 10 * np.concatenate([np.eye(width, dtype=int), -np.eye(width, dtype=int)])
        points = np.concatenate([np.repeat(clumps, k, axis=0), np.zeros((int(rng.integers(0, 2)), width), dtype=int)])
    return points.astype(np.int64), ball, k


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


def moves(points, rng, spread):
    """One row put somewhere: at random, on another row, or beside one; also far away."""
    width = points.shape[1]
    choice = rng.integers(0, 4)
    if choice == 0 or not len(points):
        return rng.integers(-spread, spread + 1, width)
    if choice == 1:
        return points[rng.integers(len(points))].copy()
    if choice == 2:
        return (points[rng.integers(len(points))] + points[rng.integers(len(points))]) // 2
    return np.full(width, 10_000) + rng.integers(0, 3, width)
