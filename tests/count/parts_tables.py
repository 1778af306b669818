"""Tables read in strips: an engine that shuffles whatever it may, and tables that are hard on halos."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from wallflower.count.parts.measure import measure_in_strips
from wallflower.count.queries import measure_points
from wallflower.engines.base import Repeated
from wallflower.engines.batches import runs
from wallflower.engines.plan import Plan
from wallflower.engines.spill import Spill
from wallflower.geometry.balls import Ball

SEEDS = st.integers(0, 2**32 - 1)
"""Of `random_case`: its tables depend on each other's numbers too much to be drawn one by one, or made smaller."""


class Sorting:
    """Rows in another order at every question: ties anyhow, batches of any size, equal rows together or apart."""

    def __init__(self, points, seed=0) -> None:
        self.points = np.asarray(points, dtype=np.int64)
        self.random = np.random.default_rng(seed)

    def stream(self, numbers, *, by=None):
        rows = self.points[:, [int(name) for name in numbers]][self.random.permutation(len(self.points))]
        if by is not None:
            rows = rows[np.argsort(rows[:, list(numbers).index(by)], kind="stable")]
        start = 0
        while start < len(rows):
            batch = rows[start : start + int(self.random.integers(1, 9))]
            start += len(batch)
            yield runs(batch) if self.random.random() < 0.5 else Repeated(batch, np.ones(len(batch), dtype=np.int64))


def names(points):
    return [str(at) for at in range(np.shape(points)[1])]


def tiles(points, *, by=0, rows=2):
    return Plan(way="tiles", needs=1, memory=1, along=str(by), rows=rows)


def both(points, ball, *, k, horizon, neighbours="add-remove", cap=1000, by=0, rows=2, seed=0):
    """(count, profile) of the whole table at once, and in strips."""
    points = np.asarray(points, dtype=np.int64).reshape(-1, len(ball.weights))
    noise = SimpleNamespace(k=k, horizon=horizon, neighbours=neighbours, max_rows=10**9)
    plan = tiles(points, by=by, rows=rows)
    return (
        measure_points(points, ball, noise, cap=cap),
        measure_in_strips(Sorting(points, seed), names(points), ball, noise, cap=cap, plan=plan),
    )


def heap_of(points, degrees):
    """Rows with their final degrees, as job 1 leaves them."""
    heap = Spill(np.shape(points)[1] + 1, most=10**6)
    heap.add(np.column_stack([points, degrees]).astype(np.int64))
    return heap


def rectangle(step, along=10, up=2, width=2):
    """A ring of rows in which each is `step` from the next and from no other: a core that every strip sees as paths."""
    bottom = [(x, 0) for x in range(along + 1)]
    top = [(x, up) for x in range(along + 1)]
    sides = [(x, y) for x in (0, along) for y in range(1, up)]
    ring = np.array([*bottom, *top, *sides], dtype=np.int64) * step
    return np.column_stack([ring, *[np.zeros(len(ring), dtype=np.int64)] * (width - 2)])


def random_case(seed, *, most=60):
    """One of many tables: few or many columns, ties, coarse and fine grids, clumps."""
    random = np.random.default_rng(seed)
    width = int(random.choice([1, 2, 2, 3, 4, 5, 6, 7]))
    points = random.integers(0, int(random.choice([4, 10, 40, 200])), (int(random.integers(0, most)), width))
    if len(points) and random.random() < 0.3:
        points = np.repeat(points, random.integers(1, 6, len(points)), axis=0)
    if random.random() < 0.1:
        points = rectangle(10, along=int(random.integers(3, 12)), width=max(width, 2))
        width = points.shape[1]
    ball = Ball(tuple(int(each) for each in random.integers(1, 4, width)), int(random.choice([0, 1, 2, 5, 9, 25, 100])))
    return (
        points,
        ball,
        {
            "k": int(random.integers(1, 6)),
            "horizon": int(random.choice([0, 1, 2, 3, 8, 20])),
            "neighbours": str(random.choice(["add-remove", "replace-one"])),
            "cap": int(random.choice([3, 8, 1000])),
            "by": int(random.integers(width)),
            "rows": int(random.choice([1, 2, 4, 8, 20, 100])),
            "seed": seed,
        },
    )
