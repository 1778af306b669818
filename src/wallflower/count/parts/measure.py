"""The count and the profile of a table that is read in strips, or compared on executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from wallflower.count.degrees import capped_degrees, declared_ball
from wallflower.count.noise import Noise
from wallflower.count.parts.degrees import Degrees, DegreesOnExecutors, plan_of
from wallflower.count.parts.profile import CoversInParts, CoversInStrips, profile_of
from wallflower.count.parts.tasks import TaskTrial
from wallflower.count.profiles import near_threshold
from wallflower.engines.base import Rows
from wallflower.engines.executors import executors_of
from wallflower.engines.plan import Plan
from wallflower.engines.spill import FEW, Spill
from wallflower.geometry.balls import Ball
from wallflower.mechanisms.profiles import Profile


def measure_in_strips(
    rows: Rows, columns: Sequence[str], ball: Ball, noise: Noise, *, cap: int, plan: Plan
) -> tuple[int, Profile | None]:
    """What `count.queries.measure_points` gives for all rows together. Private, both of them."""
    found = Degrees(rows, columns, ball, noise.k + noise.horizon, plan)
    if not noise.horizon:
        return sum(int((degrees < noise.k).sum()) for _, degrees, _ in found), None
    count, many = 0, Counter[int]()
    with Spill(len(columns) + 1, most=plan.rows) as heap:
        for home, degrees, _ in found:
            count += int((degrees < noise.k).sum())
            near = near_threshold(degrees, noise.k, noise.horizon)
            heap.add(np.column_stack([home[near], degrees[near]]))
            many.update(
                dict(zip(*(each.tolist() for each in np.unique(degrees[near], return_counts=True)), strict=True))
            )
        covers = CoversInStrips(heap, ball, found.by, plan.rows)
        return count, profile_of(covers, many, k=noise.k, horizon=noise.horizon, cap=cap, neighbours=noise.neighbours)


def measure_on_executors(
    rows: Rows, columns: Sequence[str], ball: Ball, noise: Noise, *, cap: int, plan: Plan
) -> tuple[int, Profile | None]:
    """The same, with degrees found where the rows lie. What is near the threshold stays there with them, and comes here where it fits."""
    spread = DegreesOnExecutors(rows, columns, ball, noise.k + noise.horizon, plan)
    if not noise.horizon:
        return spread.fewer(noise.k), None
    near, many = spread.near(noise.k, noise.horizon)
    with near:
        count = sum(more for degree, more in many.items() if degree < noise.k)
        made = partial(profile_of, k=noise.k, horizon=noise.horizon, cap=cap, neighbours=noise.neighbours)
        if len(near) > plan.rows:
            return count, made(CoversInParts(near, ball, spread.by, plan.rows), many)
        with Spill(len(columns) + 1, most=plan.rows) as heap:
            heap.add(near.whole())
            return count, made(CoversInStrips(heap, ball, spread.by, plan.rows), many)


def prepare_parts(rows: Rows, columns: Sequence[str], radius: Fraction) -> None:
    """Load or compile what made-up rows, which fit into one strip, do not need; and put something aside. Executors try all their tasks."""
    plan = plan_of(rows.declaration, columns, radius)
    if plan.way not in {"tiles", "distribute"}:
        return
    from wallflower.count.parts.peel_kernels import peel

    alone = np.ones(1, dtype=np.bool_)
    peel(np.array([0, 1]), np.zeros(1, dtype=np.int32), alone, alone, 1)
    with Spill(1, most=0) as heap:
        heap.add(np.zeros((FEW + 1, 1), dtype=np.int64))
    if plan.way == "distribute":
        executors, ball = executors_of(rows), declared_ball(rows.declaration, columns, radius)
        made_up = rows.fetch(numbers=columns).numbers
        executors.run(TaskTrial(ball), [made_up] * executors.slots)


def count_outliers(rows: Rows, columns: Sequence[str], radius: Fraction, k: int) -> int:
    """How many rows have fewer than k others near them, in strips where the rows would not fit. Private."""
    ball, plan = declared_ball(rows.declaration, columns, radius), plan_of(rows.declaration, columns, radius)
    if plan.way == "distribute":
        return DegreesOnExecutors(rows, columns, ball, k, plan).fewer(k)
    if plan.way == "fetch":
        return int((capped_degrees(rows.fetch(numbers=columns).numbers, ball, k) < k).sum())
    return sum(int((degrees < k).sum()) for _, degrees, _ in Degrees(rows, columns, ball, k, plan))
