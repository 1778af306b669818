"""Small tables that are hard on smooth bounds, as hypothesis draws them."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.count.twins import pentagon
from wallflower.geometry.balls import Ball

FAR = 10_000
ADJACENCIES = ("replace-one", "add-remove")

fixed = settings(deadline=None, derandomize=True)
"""Compiled loops take their time once; the cases are the same in every run."""


def _rows(draw, width, spread, *, least=0, most=11):
    cells = st.tuples(*[st.integers(-spread, spread)] * width)
    return np.array(draw(st.lists(cells, min_size=least, max_size=most)), dtype=np.int64).reshape(-1, width)


@st.composite
def tables(draw, width, *, least=1):
    """A table, its ball and k: random, on a coarse grid, coincident, a star with its hub, or a ring of clumps."""
    k = draw(st.integers(1, 4))
    weights = draw(st.tuples(*[st.integers(1, 3)] * width))
    kind = draw(st.sampled_from(["random", "grid", "coincident", "star", "ring"]))
    if kind == "random":
        return _rows(draw, width, 9, least=least), Ball(weights, draw(st.integers(0, 120))), k
    if kind == "grid":
        return 3 * _rows(draw, width, 2, least=least), Ball(weights, 9 * draw(st.integers(1, 5))), k
    if kind == "coincident":
        places = _rows(draw, width, 6, least=3, most=3)
        times = draw(st.tuples(*[st.integers(1, 4)] * 3))
        return np.repeat(places, times, axis=0), Ball(weights, draw(st.integers(0, 200))), k
    axes = np.eye(width, dtype=np.int64)
    if kind == "star":  # leaves at twice the radius of a hub, which alone joins them
        radius = draw(st.integers(2, 5))
        leaves = 2 * radius * np.concatenate([axes, -axes])
        points = np.concatenate([np.zeros((1, width), dtype=np.int64), leaves])
        return points.repeat(draw(st.integers(1, 3)), axis=0), Ball((1,) * width, radius**2), k
    # clumps around a centre, pairwise just further than the radius apart: the packing itself
    ball, clumps = pentagon(100) if width == 2 else (Ball((1,) * width, 100), 10 * np.concatenate([axes, -axes]))
    hub = np.zeros((draw(st.integers(0, 1)), width), dtype=np.int64)
    return np.concatenate([np.repeat(clumps, k, axis=0), hub]), ball, k


@st.composite
def places(draw, points):
    """Where one more row may be put: anywhere near, on another row, half-way between two, or far away."""
    width = points.shape[1]
    kind = draw(st.sampled_from(["near", "on", "between", "far"])) if len(points) else "near"
    if kind == "near":
        return np.array(draw(st.tuples(*[st.integers(-12, 12)] * width)), dtype=np.int64)
    one, other = (points[draw(st.integers(0, len(points) - 1))] for _ in range(2))
    if kind == "far":
        return np.full(width, FAR, dtype=np.int64)
    return one.copy() if kind == "on" else (one + other) // 2


@st.composite
def neighbours_of(draw, points, adjacency):
    """A table that differs by one row."""
    new = draw(places(points))[None, :]
    if not len(points):
        return np.concatenate([points, new]) if adjacency == "add-remove" else points
    changed = draw(st.integers(0, len(points) - 1))
    rest = np.delete(points, changed, axis=0)
    if adjacency == "replace-one":
        return np.concatenate([rest, new])
    return np.concatenate([points, new]) if draw(st.booleans()) else rest
