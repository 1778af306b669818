"""Exact noise against OpenDP's, and how selection grows. `python -m benchmarks.noise [--quick]`"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
from opendp import prelude as dp

from benchmarks.harness import Table, exponent, seconds
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.mechanisms.permute_and_flip import PermuteAndFlip
from wallflower.mechanisms.top import TopH
from wallflower.noise.entropy import SystemEntropy

ENTROPY = SystemEntropy()
FIFTH = Fraction(1, 5)


def laplace(table: Table, draws: int) -> None:
    ours, scale = DiscreteLaplace(scale=Fraction(10, 3)), 10 / 3
    theirs = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)
    baseline, _ = seconds(lambda: [theirs(0) for _ in range(draws)])
    measured, _ = seconds(lambda: [ours(0, ENTROPY) for _ in range(draws)])
    table.add(
        "discrete Laplace, one at a time",
        f"OpenDP {baseline / draws * 1e6:.0f} µs a draw",
        f"{measured / draws * 1e6:.0f} µs, {baseline / measured:.1f}x",
        "faster",
    )


def selection(table: Table, size: int) -> None:
    scores = np.random.default_rng(0).integers(0, 1000, size)
    listed = scores.tolist()
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    for name, mechanism, measure in (
        ("exponential mechanism", Exponential(exponent=FIFTH, monotone=False), dp.zero_concentrated_divergence()),
        ("permute-and-flip", PermuteAndFlip(exponent=FIFTH, monotone=False), dp.max_divergence()),
    ):
        theirs = dp.m.make_noisy_max(*space, measure, scale=5.0)
        baseline, _ = seconds(lambda theirs=theirs: theirs(listed))
        measured, _ = seconds(lambda mechanism=mechanism: mechanism(scores, ENTROPY))
        table.add(
            f"{name}, {size:,} candidates",
            f"OpenDP {baseline * 1e3:.0f} ms",
            f"{measured * 1e3:.1f} ms, {baseline / measured:.0f}x",
            "faster",
        )


def growth(table: Table, sizes: list[int]) -> None:
    for name, mechanism in (
        ("exponential mechanism", Exponential(exponent=FIFTH, monotone=False)),
        ("permute-and-flip", PermuteAndFlip(exponent=FIFTH, monotone=False)),
        ("top 20", TopH(h=20, exponent=FIFTH)),
    ):
        times = []
        for size in sizes:
            scores = np.random.default_rng(0).integers(0, 1000, size)
            times.append(seconds(lambda mechanism=mechanism, scores=scores: mechanism(scores, ENTROPY))[0])
        table.add(
            f"{name}, {sizes[0]:,} to {sizes[-1]:,} candidates",
            f"{times[0] * 1e3:.1f} ms",
            f"{times[-1] * 1e3:.0f} ms, growth exponent {exponent(sizes, times):.2f}",
            "at most about 1",
        )


def main() -> None:
    quick = "--quick" in sys.argv
    dp.enable_features("contrib")
    table = Table("noise")
    laplace(table, 500 if quick else 5000)
    selection(table, 10_000 if quick else 300_000)
    growth(table, [10_000, 100_000] if quick else [500_000, 4_000_000])


if __name__ == "__main__":
    main()
