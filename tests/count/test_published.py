"""What is wrong in the paper, shown: each attack succeeds on the printed variant and fails on ours."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from experiments.outlier_counts_2015 import nissim, published
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.count import twins
from tests.count.strategies import fixed, neighbours_of, tables
from wallflower.audit.density import hockey_stick
from wallflower.count.covers import covers
from wallflower.count.noise import Noise
from wallflower.count.sensitivity import global_sensitivity
from wallflower.geometry.balls import Ball


def test_algorithm_1_as_printed_never_tries_the_last_point():
    one = [(0.0, 0.0)]
    assert published.algorithm_1(one, 1.0, printed=True) == 0
    assert published.algorithm_1(one, 1.0, printed=False) == 1
    three = [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5)]
    assert published.algorithm_1(three, 1.0, printed=True) == 2
    assert published.algorithm_1(three, 1.0, printed=False) == 3


@settings(fixed, max_examples=12)
@given(st.lists(st.tuples(st.integers(-40, 40), st.integers(-40, 40)), min_size=8, max_size=8))
def test_algorithm_1_the_sweep_and_our_covers_agree(cells):
    points, radius = np.array(cells), 25
    exact = published.algorithm_1([tuple(map(float, point)) for point in points], radius, printed=False)
    assert published.sweep(points, radius) == exact
    ours = [cover(np.zeros(8, dtype=np.int64), 0) for cover in covers(points, Ball((1, 1), radius**2))]
    assert exact <= min(ours) <= exact + 2


def test_the_global_sensitivity_of_the_figures_is_too_small():
    assert published.lower_sensitivity(50, 2, 3) == 13 < global_sensitivity(2, 3, "replace-one") == 16
    ball, corners = twins.pentagon(100)
    clumps = np.repeat(corners, 3, axis=0)
    moved = [np.concatenate([clumps, [place]]) for place in ([0, 0], [9999, 0])]
    assert abs(twins.outliers(moved[0], ball, 3) - twins.outliers(moved[1], ball, 3)) == 16


@pytest.mark.parametrize(("epsilon", "least"), [(0.7, 23.2), (0.9, 18.0)])
def test_theorem_2_cannot_give_noise_below_7(epsilon, least):
    """Even for the least smooth bound there can be, and far more for the least that Theorem 6 can give."""
    assert nissim.gaussian([1], epsilon, published.DELTA) > least > 7
    calmest = [t + 1 for t in range(10_000)]
    assert nissim.gaussian(calmest, epsilon, published.DELTA) > 190


def test_smoothing_by_epsilon_is_not_smooth_enough_for_theorem_2():
    """Neighbours whose printed bounds differ by e^ε: at the printed scale δ is far above 0.01, at Theorem 2's it is not."""
    epsilon, delta = 0.9, published.DELTA

    def normal(x):
        return -(np.asarray(x) ** 2) / 2 - math.log(2 * math.pi) / 2

    # A change of S at scale σ = S·√(2 ln(2/δ))/ε, where the neighbour's scale is e^ε times as large.
    printed = epsilon / math.sqrt(2 * math.log(2 / delta))
    assert hockey_stick(normal, epsilon=epsilon, shift=printed, scale=math.exp(epsilon)) > 5 * delta
    beta = epsilon / (4 * (1 + math.log(2 / delta)))
    proved = epsilon / (5 * math.sqrt(2 * math.log(2 / delta)))
    assert hockey_stick(normal, epsilon=epsilon, shift=proved, scale=math.exp(beta)) < delta


def test_printed_and_proved_smoothing_differ_on_a_real_pair():
    bounds = [2, 4, 7, 11]
    assert published.smooth_by_epsilon(bounds, 0.9) < nissim.smooth(bounds, 0.9 / 25.2)


def test_lomax_needs_far_less_noise_than_theorem_2_on_the_same_bounds():
    noise = Noise(epsilon=Fraction(9, 10), dimension=2, k=3, neighbours="replace-one", max_rows=50, wanted="lomax")
    calm = nissim.gaussian([min(t + 1, noise.cap) for t in range(100)], 0.9, published.DELTA)
    assert calm > 8 * noise._lomax.deviation(noise.floor)
    assert noise._lomax.deviation(noise.cap) < 200


@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 20), Fraction(1, 10**6)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(9, 20), Fraction(2)])
def test_propose_test_release_needs_one_more_with_discrete_noise(delta, epsilon):
    mechanism = nissim.ProposeTestRelease(bound=5, test=epsilon, release=epsilon, delta=delta)
    assert mechanism.release_probability(0) <= float(delta)


def test_the_threshold_for_continuous_noise_passes_too_often():
    passed = [
        nissim.ProposeTestRelease(bound=5, test=Fraction(step, 100), release=Fraction(1), delta=Fraction(1, 100))
        for step in range(50, 400)
    ]
    shares = [m.release_probability(0, m.threshold - 1) / float(m.delta) for m in passed]
    assert max(shares) > 1.5


@fixed
@given(st.data())
def test_the_distance_of_propose_test_release_moves_by_at_most_one(data):
    mechanism = nissim.ProposeTestRelease(bound=3, test=Fraction(1), release=Fraction(1), delta=Fraction(1, 100))
    points, ball, k = data.draw(tables(2))
    other = data.draw(neighbours_of(points, "replace-one"))
    cap = global_sensitivity(2, k, "replace-one")
    one, two = (
        mechanism.gamma(twins.bounds_of(table, ball, k=k, neighbours="replace-one", cap=cap).bounds)
        for table in (points, other)
    )
    assert abs(one - two) <= 1
