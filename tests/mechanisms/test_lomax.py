"""Lomax noise: the sampler's bracket in fractions, the density audit with twins that must fail, and smoothness of S."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallflower.audit.density import density_audit
from wallflower.errors import DeclarationError
from wallflower.mechanisms.lomax import Lomax
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.lomax import TAIL, _size, rounded_lomax

EPSILONS = [Fraction(1, 100), Fraction(1, 10), Fraction(9, 10), Fraction(1), Fraction(5), Fraction(40)]


def survival(m, scale):
    return (1 + (m - Fraction(1, 2)) / scale) ** -TAIL if m else Fraction(1)


@given(st.integers(1, 2**40), st.fractions(min_value=Fraction(1, 50), max_value=10_000, max_denominator=10_000))
def test_the_inverse_of_the_survival_function_is_exact(uniform, scale):
    size = _size(uniform, 40, scale)
    assert survival(size, scale) >= Fraction(uniform, 2**40) > survival(size + 1, scale)


class Bits:
    """Hands out given numbers."""

    private = False

    def __init__(self, *numbers):
        self.numbers = list(numbers)
        self.asked = []

    def bits(self, count):
        self.asked.append(count)
        return self.numbers.pop(0)

    def block(self, count):
        raise NotImplementedError


def test_an_undecided_draw_reads_on_in_the_same_number():
    # Where a survival probability falls between two numbers of 64 bits, 64 more decide on which side the draw is.
    scale = Fraction(3)
    edge = math.floor(survival(1, scale) * 2**64)
    low, high = Bits(0, edge, 0), Bits(0, edge, 2**64 - 1)
    assert rounded_lomax(scale, low) == 1
    assert rounded_lomax(scale, high) == 0
    assert low.asked == high.asked == [1, 64, 64]


def test_zero_bits_are_never_taken_for_a_number():
    entropy = Bits(1, 0, 2**63)
    assert rounded_lomax(Fraction(1), entropy) == -_size(2**63, 128, Fraction(1))
    assert entropy.asked == [1, 64, 64]


def log_density(noise, sigma=None):
    sigma = float(noise.sigma if sigma is None else sigma)
    return lambda x: math.log(sigma * TAIL / 2) - (TAIL + 1) * np.log1p(np.abs(x) * sigma)


def audit(noise, *, beta=None, sigma=None, far=1.0):
    """Scales within e^±β and shifts within both bounds; `far` > 1 is a shift that only one bound allows."""
    beta = float(noise.beta if beta is None else beta)
    worst = 0.0
    for step in np.linspace(-1, 1, 9):
        scale = math.exp(beta * step)
        reach = far * min(1.0, scale) if far == 1.0 else max(1.0, scale)
        shifts = [share * reach for share in (-1.0, -0.5, 0.5, 1.0)]
        worst = max(worst, density_audit(log_density(noise, sigma), shifts=shifts, scales=[scale]).loss)
    return worst


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_density_keeps_the_promise_and_uses_it_up(epsilon):
    loss = audit(Lomax(epsilon=epsilon))
    assert 0.99 * float(epsilon) <= loss <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS[1:4])
def test_the_audit_finds_too_little_noise(epsilon):
    noise = Lomax(epsilon=epsilon)
    assert audit(noise, sigma=noise.sigma * Fraction(11, 10)) > float(epsilon) * 1.03
    assert audit(noise, beta=2 * noise.beta) > float(epsilon) * 1.5  # smoothing that fades too fast
    assert audit(noise, beta=epsilon) > float(epsilon) * 7  # the paper's β := ε


def test_a_change_that_only_the_larger_bound_allows_breaks_the_promise():
    """|q − q′| ≤ S(X) alone is not enough: U_0 must bound the change from both tables."""
    assert audit(Lomax(epsilon=Fraction(1)), far=2.0) == pytest.approx(1.11, abs=0.01)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_sigma_is_within_its_three_conditions_and_close_to_one_of_them(epsilon):
    noise = Lomax(epsilon=epsilon)
    sigma, beta, alpha = float(noise.sigma), float(noise.beta), TAIL + 1
    losses = [alpha * math.log1p(sigma), beta + alpha * math.log1p(sigma * math.exp(-beta)), TAIL * beta]
    assert max(losses) <= float(epsilon) * (1 + 1e-12)
    assert max(losses[:2]) >= float(epsilon) * (1 - 1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_weights_fade_no_faster_than_allowed(epsilon):
    noise = Lomax(epsilon=epsilon)
    weights = noise.fading(500)
    assert weights[0] == 2**64
    low, _ = exp_bounds(noise.beta, 200)
    for one, next_one in itertools.pairwise(weights):
        assert next_one * 2**200 >= one * low
        assert next_one <= one


@given(st.lists(st.integers(1, 60), max_size=12), st.lists(st.integers(0, 3), min_size=14, max_size=14))
def test_the_bound_of_a_neighbour_is_within_e_to_the_beta(rises, slack):
    """Any two profiles with U_t ≤ U′_{t+1} both ways have smooth bounds within e^β of each other."""
    noise = Lomax(epsilon=Fraction(3, 2))
    here = np.minimum(np.cumsum([1, *rises]), 60).tolist()
    there = np.minimum([max(1, (here[t - 1] if t else 1)) + slack[t] for t in range(len(here))], 60)
    there = np.maximum.accumulate(there).tolist()
    there = [min(bound, here[t + 1] if t + 1 < len(here) else 60) for t, bound in enumerate(there)]
    assert all(a <= b for a, b in zip(here, [*there[1:], 60], strict=True))
    assert all(a <= b for a, b in zip(there, [*here[1:], 60], strict=True))
    one = noise.smooth(Profile(bounds=tuple(here), cap=60))
    other = noise.smooth(Profile(bounds=tuple(there), cap=60))
    assert one <= Fraction(math.exp(noise.beta)) * (1 + Fraction(1, 10**12)) * other
    assert other <= Fraction(math.exp(noise.beta)) * (1 + Fraction(1, 10**12)) * one


def test_cutting_a_profile_at_its_horizon_costs_nothing():
    noise = Lomax(epsilon=Fraction(9, 10))
    least = tuple(t + 1 for t in range(200))
    horizon = noise.horizon(150, least)
    whole = noise.smooth(Profile(bounds=tuple(min(b, 150) for b in least), cap=150))
    assert noise.smooth(Profile(bounds=least[:horizon], cap=150)) == whole
    assert noise.smooth(Profile(bounds=least[: horizon // 2], cap=150)) > whole


def test_a_profile_refuses_what_is_not_one():
    for bounds in [(3, 2), (0,), (11,)]:
        with pytest.raises(DeclarationError):
            Profile(bounds=bounds, cap=10)
