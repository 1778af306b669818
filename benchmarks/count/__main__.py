"""Run: python -m benchmarks.count [--quick]."""

from __future__ import annotations

import argparse
import math
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from experiments.outlier_counts_2015.published import sweep
from scipy.spatial import cKDTree

from benchmarks.harness import Table, exponent, peak_mebibytes
from wallflower.count.covers import covers
from wallflower.count.degrees import capped_degrees
from wallflower.count.noise import Noise
from wallflower.count.profiles import profile
from wallflower.count.subspaces import subspace_outliers
from wallflower.geometry.balls import Ball
from wallflower.mechanisms.lomax import Lomax
from wallflower.schema.declaration import Column, Declaration
from wallflower.schema.domains import Numbers

K, EPSILON, SIDE = 10, Fraction(9, 10), 10_000


def rows(size: int, width: int, seed: int = 0) -> np.ndarray:
    """99.9 % around zero, 0.1 % far and wide, on a grid of 1/10,000."""
    rng = np.random.default_rng((seed, width))
    values = rng.normal(size=(size, width))
    far = size // 1000
    values[:far] = rng.normal(20, 10, (far, width))
    return np.round(values * SIDE).astype(np.int64)


def radius(points: np.ndarray, tree: cKDTree) -> int:
    """The 99.5 % quantile of the distance to the tenth neighbour, from a sample."""
    sample = points[:: max(1, len(points) // 2000)]
    return int(np.quantile(tree.query(sample.astype(float), k=K + 1, workers=2)[0][:, K], 0.995))


def warm() -> None:
    for width in (1, 2, 3):
        points = rows(5000, width)
        ball = Ball((1,) * width, SIDE**2 // 100)
        noise = Noise(epsilon=EPSILON, dimension=width, k=K, neighbours="replace-one", max_rows=10**6, wanted="lomax")
        bound_of(points, ball, noise)


def bound_of(points, ball, noise):
    degrees = capped_degrees(points, ball, K + noise.horizon)
    return degrees, profile(points, degrees, ball, k=K, horizon=noise.horizon, cap=noise.cap, neighbours="replace-one")


def counts(size: int, sample: int) -> None:
    table = Table(f"exact counts of outliers, {size:,} rows, k = {K}")
    for width, target in ((2, 8), (5, 20), (10, 200)):
        points = rows(size, width)
        tree = cKDTree(points.astype(float))
        reach = radius(points, tree)
        ball = Ball((1,) * width, reach**2)
        ours, ours_cpu, degrees = both(lambda points=points, ball=ball: capped_degrees(points, ball, K), repeats=3)
        asked = np.random.default_rng(1).choice(size, min(sample, size), replace=False)
        # Distances are roots of integers, so half a unit of the square settles every tie the same way as we do.
        bound = math.sqrt(reach**2 + 0.5)
        theirs, theirs_cpu, found = both(
            lambda tree=tree, points=points, asked=asked, bound=bound: tree.query(
                points[asked].astype(float), k=K + 1, distance_upper_bound=bound, workers=2
            ),
            repeats=1,
        )
        share = size / len(asked)
        agree = np.array_equal(np.isfinite(found[0]).sum(axis=1) - 1, degrees[asked])
        table.add(
            f"capped degrees, d = {width}, index included",
            f"scipy cKDTree.query(k + 1, bound), both cores, index not included: {theirs * share:.2f} s, {theirs_cpu * share:.2f} CPU s"
            + (f" (from {len(asked):,} rows)" if len(asked) < size else ""),
            f"{ours:.3f} s, {ours_cpu:.3f} CPU s: {theirs * share / ours:.0f}x, {theirs_cpu * share / ours_cpu:.0f}x in CPU, "
            f"{'identical' if agree else 'DIFFERENT'} on {len(asked):,} rows",
            f">= {target}x in CPU, identical",
        )


def both(work, *, repeats: int):
    """The least wall and the least CPU seconds of some runs: on a busy machine the second says more."""
    walls, cpus = [], []
    for _ in range(repeats):
        start, cpu = time.perf_counter(), time.process_time()
        value = work()
        walls.append(time.perf_counter() - start)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus), value


def growth(large: int) -> None:
    table = Table(f"growth of exact counts, {large // 10:,} to {large:,} rows")
    for width in (2, 3, 5, 10):
        points = rows(large, width)
        few = points[np.random.default_rng(2).permutation(large)[: large // 10]]
        ball = Ball((1,) * width, radius(few, cKDTree(few.astype(float))) ** 2)
        times = [
            both(lambda some=some, ball=ball: capped_degrees(some, ball, K), repeats=3)[1] for some in (few, points)
        ]
        table.add(
            f"d = {width}",
            "-",
            f"{times[0]:.3f} CPU s to {times[1]:.3f} CPU s, exponent {exponent((1, 10), times):.2f}",
            "<= 1.15",
        )


def ten_million() -> None:
    table = Table("exact counts of outliers, 10,000,000 rows, d = 2")
    points = rows(10_000_000, 2)
    start, cpu = time.perf_counter(), time.process_time()
    outliers = int((capped_degrees(points, Ball((1, 1), 300**2), K) < K).sum())
    took, spent = time.perf_counter() - start, time.process_time() - cpu
    table.add(
        f"{outliers:,} outliers",
        "-",
        f"{took:.1f} s, {spent:.1f} CPU s, peak {peak_mebibytes():,.0f} MiB",
        "<= 15 s, 4 GiB",
    )


def bounds(sizes) -> None:
    table = Table("degrees and smooth bound (ε = 0.9), and the noise they allow")
    for size, width in sizes:
        points = rows(size, width)
        ball = Ball((1,) * width, radius(points, cKDTree(points.astype(float))) ** 2)
        noise = Noise(epsilon=EPSILON, dimension=width, k=K, neighbours="replace-one", max_rows=10**6, wanted="lomax")
        start = time.perf_counter()
        _, found = bound_of(points, ball, noise)
        took = time.perf_counter() - start
        lomax = Lomax(epsilon=EPSILON)
        deviation = lomax.deviation(lomax.smooth(found))
        laplace = math.sqrt(2) * noise.cap / float(EPSILON)
        table.add(
            f"{size:,} rows, d = {width}",
            f"Laplace on the global sensitivity {noise.cap}: deviation {laplace:.0f}",
            f"{took:.2f} s; smooth bound {float(lomax.smooth(found)):.1f}, deviation {deviation:.1f}, {laplace / deviation:.1f}x less",
            "<= 10 s" + ("; >= 10x less" if width >= 5 else ""),
        )


def every_pair(size: int) -> None:
    """All 45 pairs of ten columns, as `subspaces` scores them."""
    table = Table(f"outliers in every pair of ten columns, {size:,} rows")
    points = rows(size, 10)
    grid = Numbers(lower=Fraction(-(10**6)), upper=Fraction(10**6), step=Fraction(1))
    names = [f"c{i}" for i in range(10)]
    declaration = Declaration(
        id="made up",
        source=None,
        key=None,
        neighbours="replace-one",
        max_rows=size,
        reviewed=True,
        test=True,
        ledger=Path("none"),
        budgets={},
        columns={name: Column(name=name, role="sensitive", domain=grid) for name in names},
        fingerprint="",
    )
    near = 500
    _, took, scores = both(
        lambda: subspace_outliers(points, declaration, names, size=2, neighbours=K, radius=Fraction(near)), repeats=1
    )
    tree = cKDTree(points[:, :2].astype(float))
    _, theirs, found = both(
        lambda: tree.query(
            points[:, :2].astype(float), k=K + 1, distance_upper_bound=math.sqrt(2 * near**2 + 0.5), workers=2
        ),
        repeats=1,
    )
    agree = int((np.isfinite(found[0]).sum(axis=1) - 1 < K).sum()) == scores[0]
    table.add(
        "45 subspaces",
        f"scipy on one of them, times 45: {45 * theirs:.1f} CPU s",
        f"{took:.2f} CPU s, {45 * theirs / took:.0f}x, the first {'identical' if agree else 'DIFFERENT'}",
        ">= 8x",
    )


def tightness() -> None:
    table = Table("cover against the exact one, 40 rows, two columns")
    rng = np.random.default_rng(3)
    worst, total = 0.0, 0.0
    for _ in range(30):
        points = rng.integers(-3000, 3001, (40, 2))
        exact = sweep(points, 1500)
        ours = min(cover(np.zeros(40, dtype=np.int64), 0) for cover in covers(points, Ball((1, 1), 1500**2)))
        worst, total = max(worst, ours / exact), total + ours / exact / 30
    table.add("30 tables", "exact angular sweep", f"mean {total:.3f}, worst {worst:.3f}", "mean <= 1.15")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warm()
    counts(10_000 if quick else 100_000, 1000 if quick else 20_000)
    growth(100_000 if quick else 1_000_000)
    small = [(10_000, width) for width in (1, 2, 3, 5, 7, 10)]
    large = [(100_000, width) for width in (1, 2, 3, 5, 7, 10)] + [(1_000_000, width) for width in (1, 2, 3)]
    bounds(small if quick else small + large)
    every_pair(10_000 if quick else 100_000)
    tightness()
    if not quick:
        ten_million()
    print(f"\npeak memory {peak_mebibytes():.0f} MiB")


if __name__ == "__main__":
    main()
