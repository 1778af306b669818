"""`python -m benchmarks.identify [--quick]`: margins of all records, growth, one question, memory.

Rows are integers of steps, as the engines give them. The baseline counts the same integer coordinates as doubles.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
from scipy.spatial import cKDTree

from benchmarks.harness import Table, data_folder, exponent, peak_mebibytes, seconds
from wallflower.geometry.balls import Ball
from wallflower.identify.counts import of_rows, within
from wallflower.identify.margins import cap, capped, star
from wallflower.identify.metric import Metric

EPSILON = Fraction(1, 10)
STEPS = 10**6
"""Steps to the unit: the card data has doubles, and a declaration would give them a grid."""


def metric(width: int, radius: float) -> Metric:
    ball = Ball(weights=(1,) * width, limit=round(radius * STEPS) ** 2)
    return Metric(columns=("",) * width, by_gap=(True,) * width, ball=ball, doubling=4)


def margins(points, measure: Metric, *, beta: int, k: int):
    most = cap(EPSILON)
    held, near = of_rows(measure, points, until=beta, cap=beta + most)
    return near, capped(star(held, near, beta=beta, k=k), near, beta=beta, most=most)


def cards():
    frame = pq.read_table(data_folder() / "creditcard_fraud.parquet", columns=[f"V{i}" for i in range(1, 7)])
    return np.rint(np.column_stack([frame[name].to_numpy() for name in frame.column_names]) * STEPS).astype(np.int64)


def made_up(size: int, seed: int = 0):
    """Six columns: 99.5 % Gaussian, the rest spread thinly."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(size, 6)) * 2
    few = size // 200
    points[:few] = rng.uniform(-15, 15, (few, 6))
    return np.rint(points * STEPS).astype(np.int64)


def card_margins(table: Table, *, quick: bool) -> None:
    points, beta, radius = cards(), 1022, 6.7
    measure = metric(6, radius)
    margins(points[:2000], measure, beta=beta, k=1)
    ours, (near, lam) = seconds(lambda: margins(points, measure, beta=beta, k=1))
    rng = np.random.default_rng(1)
    sample = rng.choice(len(points), 500 if quick else 2_000, replace=False)
    coordinates = points.astype(np.float64)
    build, tree = seconds(lambda: cKDTree(coordinates), repeats=1)
    theirs, counts = seconds(
        lambda: tree.query_ball_point(coordinates[sample], radius * STEPS, return_length=True, workers=2), repeats=1
    )
    whole = build + theirs * len(points) / len(sample)
    differ = int((np.minimum(counts, beta + cap(EPSILON)) != near[sample]).sum())
    table.add(
        "margins of all 284,807 x 6 card records (β = 1022, r = 6.7, ε = 0.1)",
        f"scipy cKDTree query_ball_point, {len(sample)} queries extrapolated: {whole:.0f} s",
        f"{ours:.2f} s: {whole / ours:,.0f}x, {differ} of {len(sample)} counts differ, "
        f"{int((near <= beta).sum())} records with at most β near, largest margin {int(lam.max())}",
        ">= 1,000x, identical",
    )


def growth(table: Table, *, quick: bool) -> None:
    sizes = (30_000, 100_000) if quick else (100_000, 1_000_000)
    for label, share in (("β = 400 at every size", None), ("β = 0.4 % of the rows", 0.004)):
        times = []
        before = peak_mebibytes()
        for size in sizes:
            points = made_up(size)
            beta = 400 if share is None else int(share * size)
            taken, _ = seconds(
                lambda points=points, beta=beta: margins(points, metric(6, 3.0), beta=beta, k=1), repeats=1
            )
            times.append(taken)
        measured = ", ".join(f"{size:,}: {taken:.2f} s" for size, taken in zip(sizes, times, strict=True))
        table.add(
            f"growth over rows, d = 6, r = 3, {label}",
            "-",
            f"{measured}: exponent {exponent(sizes, times):.2f}; peak memory {peak_mebibytes():.0f} MiB (before {before:.0f})",
            "<= 1.3" if share is None else "none: counts grow tenfold too",
        )


def one_question(table: Table, *, quick: bool) -> None:
    points = made_up(100_000 if quick else 1_000_000)
    measure = metric(6, 3.0)
    asked = points[-1:].copy()
    within(measure, points[:1000], asked, cap=10)
    ours, found = seconds(lambda: within(measure, points, asked, cap=10**9), repeats=60)
    theirs, expected = seconds(
        lambda: int((((points - asked[0]) ** 2).sum(axis=1) <= measure.ball.limit).sum()), repeats=15
    )
    table.add(
        f"one question on {len(points):,} x 6 rows, warm",
        f"numpy brute force: {1000 * theirs:.0f} ms",
        f"{1000 * ours:.1f} ms: {theirs / ours:.0f}x, {'same' if int(found[0]) == expected else 'DIFFERENT'} count",
        ">= 5x",
    )


def main() -> None:
    quick = "--quick" in sys.argv
    table = Table("identify")
    one_question(table, quick=quick)
    card_margins(table, quick=quick)
    growth(table, quick=quick)


if __name__ == "__main__":
    main()
