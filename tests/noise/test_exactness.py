"""Probabilities as fractions, from every bit string: no sampling, no tolerance."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.noise.enumeration import exact_law
from wallflower.noise import lomax
from wallflower.noise.coins import bernoulli_exp, logistic
from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.laplace import discrete_laplace
from wallflower.noise.levels import cumulative_bounds, decide, draw_level, reach
from wallflower.noise.permute_and_flip import _all_zero, remaining_coin
from wallflower.noise.uniform import below, fair_heads

mpmath.mp.dps = 60


def real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def encloses(law, undecided, outcome, probability) -> bool:
    sure = law.get(outcome, Fraction(0))
    return real(sure) <= probability <= real(sure + undecided)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 11])
def test_below_gives_each_integer_the_same_weight(n):
    law, undecided = exact_law(lambda entropy: below(n, entropy), length=16)
    assert set(law) == set(range(n))
    assert len(set(law.values())) == 1
    assert sum(law.values()) + undecided == 1


def test_fair_heads_is_binomial():
    law, undecided = exact_law(lambda entropy: fair_heads(11, entropy), length=11)
    assert undecided == 0
    assert law == {m: Fraction([1, 11, 55, 165, 330, 462, 462, 330, 165, 55, 11, 1][m], 2**11) for m in range(12)}


def test_how_many_numbers_start_with_zeros_is_binomial():
    law, undecided = exact_law(lambda entropy: _all_zero(3, 2, entropy), length=6)
    assert undecided == 0
    assert law == {m: Fraction([27, 27, 9, 1][m], 64) for m in range(4)}


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(3, 2), Fraction(3)])
def test_bernoulli_exp(x):
    law, undecided = exact_law(lambda entropy: bernoulli_exp(x, entropy), length=15)
    assert undecided < Fraction(1, 8)
    assert encloses(law, undecided, True, mpmath.exp(-real(x)))


def test_a_coin_of_more_than_one_is_refused():
    with pytest.raises(ValueError, match="at least 0"):
        exact_law(lambda entropy: bernoulli_exp(Fraction(-1, 2), entropy), length=4)


def test_the_enumeration_notices_a_coin_that_is_wrong():
    def off_by_one(entropy):
        k = 2  # bernoulli_exp starts with k = 1
        while below(k * 2, entropy) < 1:
            k += 1
        return k % 2 == 0

    law, undecided = exact_law(off_by_one, length=15)
    assert not encloses(law, undecided, True, mpmath.exp(-mpmath.mpf(1) / 2))


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)])
def test_logistic(epsilon):
    law, undecided = exact_law(lambda entropy: logistic(epsilon, entropy), length=15)
    assert undecided < Fraction(1, 10)
    assert encloses(law, undecided, True, 1 / (1 + mpmath.exp(real(epsilon))))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_discrete_laplace(scale):
    law, undecided = exact_law(lambda entropy: discrete_laplace(scale, entropy), length=16)
    assert undecided < Fraction(1, 3)
    rate = 1 / real(scale)
    for z in range(-8, 9):
        assert encloses(law, undecided, z, mpmath.tanh(rate / 2) * mpmath.exp(-abs(z) * rate))
        assert law.get(z, 0) == law.get(-z, 0) or z == 0


@pytest.mark.parametrize("scale", [Fraction(5, 2), Fraction(7, 3)])
def test_rounded_lomax(monkeypatch, scale):
    """From two bits of the uniform at a time; the law is rational, and both signs weigh the same to the last bit."""
    monkeypatch.setattr(lomax, "_FIRST_BITS", 2)
    law, undecided = exact_law(lambda entropy: lomax.rounded_lomax(scale, entropy), length=9)
    assert undecided < Fraction(1, 20)
    beyond = [Fraction(1), *((1 + (m - Fraction(1, 2)) / scale) ** -8 for m in range(1, 9))]
    assert encloses(law, undecided, 0, 1 - real(beyond[1]))
    for m in range(1, 8):
        assert law.get(m, 0) == law.get(-m, 0)
        assert encloses(law, undecided, m, real(beyond[m] - beyond[m + 1]) / 2)


@given(
    x=st.fractions(min_value=0, max_value=200, max_denominator=10**6),
    bits=st.integers(1, 300),
)
def test_enclosures_hold_and_are_tight(x, bits):
    low, high = exp_bounds(x, bits)
    with mpmath.workdps(200):
        value = mpmath.exp(-real(x)) * mpmath.mpf(2) ** bits
        assert low <= value <= high
    assert high - low <= 2


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 10**9), Fraction(10**9), Fraction(10**30), Fraction(1, 10**30)])
def test_enclosures_hold_far_out(x):
    low, high = exp_bounds(x, 64)
    assert low <= mpmath.exp(-real(x)) * 2**64 <= high


LEVELS = [
    ([1, 0, 4, 4, 9], 0, Fraction(1)),
    ([3, 5], 1000, Fraction(1, 2)),  # a thousand somewhere below
    ([1], 0, Fraction(5)),
    ([2, 7, 100, 1, 0, 0, 30], 3, Fraction(2, 3)),
]


@pytest.mark.parametrize(("counts", "rest", "step"), LEVELS)
@pytest.mark.parametrize("precision", [4, 9])
def test_a_level_is_answered_only_where_the_real_inverse_cdf_gives_it(counts, rest, step, precision):
    """`rest` may lie anywhere below: both extremes must agree with the answer."""
    decided = 0
    ratio = mpmath.exp(-real(step))
    for tail in (mpmath.mpf(0), rest * ratio ** len(counts)):
        cumulative = [sum(n * ratio**k for k, n in enumerate(counts[: j + 1])) for j in range(len(counts))]
        total = cumulative[-1] + tail
        for uniform in range(2**precision):
            level = decide(uniform, precision, counts, rest, step)
            if level is not None:
                decided += 1
                assert counts[level] > 0
                assert mpmath.mpf(uniform) / 2**precision * total >= (cumulative[level - 1] if level else 0)
                assert mpmath.mpf(uniform + 1) / 2**precision * total <= cumulative[level] * (1 + mpmath.mpf(10) ** -50)
    assert decided or precision < 9 or rest


@pytest.mark.parametrize("bits", [3, 8, 30])
@pytest.mark.parametrize("step", [Fraction(1, 2), Fraction(3, 5), Fraction(1), Fraction(9, 4)])
def test_weights_of_levels_are_enclosed_at_any_precision(bits, step):
    """Few bits make the rounding show: each level's error is a large part of its weight."""
    counts = [1, 3, 0, 50, 7, 1000, 2, 9, 9, 9]
    least, most, next_high = cumulative_bounds(counts, step, bits)
    weight = mpmath.mpf(0)
    for k, count in enumerate(counts):
        weight += count * mpmath.exp(-real(step) * k) * 2**bits
        assert least[k] <= weight <= most[k]
    assert next_high >= mpmath.exp(-real(step) * len(counts)) * 2**bits


def test_refining_the_same_uniform_gives_the_exact_law():
    """From one bit at a time: the decided strings enclose each level's probability, whatever the number of rounds."""
    counts, step = [1, 0, 4, 4, 9], Fraction(1, 2)

    def within(reach):
        return (counts + [0] * reach)[:reach]

    law, undecided = exact_law(lambda entropy: draw_level(within, 18, step, entropy, first_bits=2), length=16)
    assert undecided < Fraction(1, 500)
    weights = [n * mpmath.exp(-real(step) * k) for k, n in enumerate(counts)]
    for level, weight in enumerate(weights):
        assert encloses(law, undecided, level, weight / sum(weights))


@given(total=st.integers(1, 10**9), precision=st.integers(1, 200), step=st.fractions(min_value="1/2", max_value=50))
def test_what_is_out_of_reach_cannot_matter_at_this_precision(total, precision, step):
    assert total * mpmath.exp(-real(step) * reach(precision, total, step)) < mpmath.mpf(2) ** -precision


@pytest.mark.parametrize(("x", "zeros"), [(Fraction(0), 0), (Fraction(1), 1), (Fraction(7, 2), 5), (Fraction(100), 63)])
def test_the_rest_of_a_coin_is_decided_by_the_enclosing_bits(x, zeros):
    """One uniform just below and one just above 2^zeros·e^(−x) fall on the right sides, to the 64th and the 128th bit."""

    class Given:
        def __init__(self, value):
            self.chunks = [value >> 192, value >> 128 & (2**64 - 1), value & (2**128 - 1)]

        def bits(self, count):
            assert count == [64, 64, 128][3 - len(self.chunks)]
            return self.chunks.pop(0)

    with mpmath.workdps(150):
        edge = int(mpmath.floor(mpmath.exp(-real(x)) * mpmath.mpf(2) ** (zeros + 256)))
    for offset in (-(2**200), -(2**100), -(2**4)):
        if edge + offset >= 0:
            assert remaining_coin(x, zeros, Given(edge + offset))
    for offset in (2**200, 2**100, 2**4):
        if edge + offset < 2**256:
            assert not remaining_coin(x, zeros, Given(edge + offset))
