"""The bulk samplers have exactly the scalar law: tables against mpmath, ties by force, draws by chi-squared."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.errors import DeclarationError
from wallflower.noise import bulk
from wallflower.noise.bulk import BulkLaplace, BulkResponse, Digits, Geometric, Response, TruncatedGeometric
from wallflower.noise.entropy import SeededEntropy, SystemEntropy

BITS = 3000
RATES = st.fractions(min_value="1/100000", max_value=20).filter(lambda rate: rate > 0)


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def law_of(law: object) -> list[mpmath.mpf]:
    """The probabilities as their definitions say, in many more bits than the smallest of them needs."""
    with mpmath.workprec(BITS):
        if isinstance(law, Response):
            weights = [mpmath.exp(real(law.epsilon))] + [mpmath.mpf(1)] * (law.size - 1)
        else:
            weights = [mpmath.exp(-real(law.rate) * j) for j in range(law.size)]
        if isinstance(law, Geometric):
            whole = 1 / (1 - mpmath.exp(-real(law.rate)))
            weights[-1] = whole - mpmath.fsum(weights[:-1])
        else:
            whole = mpmath.fsum(weights)
        return [weight / whole for weight in weights]


@pytest.mark.parametrize("kind", [TruncatedGeometric, Geometric, Response])
@settings(deadline=None, max_examples=40)
@given(rate=RATES, size=st.integers(2, 40), precision=st.integers(16, 200))
def test_cumulative_probabilities_are_enclosed(kind, rate, size, precision):
    law = kind(rate, size)
    total = mpmath.mpf(0)
    with mpmath.workprec(BITS):
        for (low, high), probability in zip(law.cumulative(precision), law_of(law)[:-1], strict=True):
            total += probability
            assert low <= total * mpmath.mpf(2) ** precision <= high
            assert high - low <= 4


@pytest.mark.parametrize("word", [3, 5, 8])
@pytest.mark.parametrize(
    "law", [TruncatedGeometric(Fraction(1, 3), 12), Geometric(Fraction(1, 2), 9), Response(Fraction(1), 5)]
)
def test_every_word_is_decided_only_where_the_law_decides_it(law, word):
    """Exhaustive over words: the decided mass of a digit never exceeds its probability, and ties fill the rest."""
    digits = Digits(law, word)
    thresholds, guide, shift = digits._table
    decided = np.zeros(law.size, dtype=int)
    ties = np.zeros(law.size, dtype=int)
    for value in range(1 << word):
        digit = int(guide[value >> shift])
        while digit < thresholds.size and thresholds[digit] < value:
            digit += 1
        if digit < thresholds.size and thresholds[digit] == value:
            touched = np.flatnonzero(thresholds == value)
            ties[touched[0] : touched[-1] + 2] += 1
        else:
            decided[digit] += 1
    for j, probability in enumerate(law_of(law)):
        assert decided[j] <= probability * 2**word <= decided[j] + ties[j]


class Scripted:
    """Entropy whose further bits are written down: the uniform is then known to 64 + word bits."""

    private = False

    def __init__(self, further: int) -> None:
        self.further = further

    def bits(self, count, /):
        return self.further & ((1 << count) - 1)


@settings(deadline=None)
@given(st.integers(0, 7), st.integers(0, 2**64 - 1))
def test_a_tie_is_broken_as_the_real_uniform_would(word, further):
    law = TruncatedGeometric(Fraction(1, 3), 12)
    digit = Digits(law, 3).decide(word, Scripted(further))
    with mpmath.workprec(BITS):
        uniform = mpmath.mpf((word << 64) + further) / mpmath.mpf(2) ** 67
        total, expected = mpmath.mpf(0), 0
        for probability in law_of(law)[:-1]:
            total += probability
            expected += bool(total <= uniform)
    assert digit == expected


def chi_squared(draws: np.ndarray, scale: Fraction) -> float:
    """p-value of the draws under the discrete Laplace law of `scale`, tails pooled."""
    from scipy.stats import chisquare

    q = np.exp(-1 / float(scale))
    edge = max(2, int(4 * float(scale)))
    step = max(1, edge // 20)
    edges = np.arange(-edge, edge + 1, step)

    def below(z):  # P(Z < z)
        return np.where(z <= 0, q ** (1.0 - z) / (1 + q), 1 - q ** np.maximum(z, 0) / (1 + q))

    cumulative = np.concatenate([[0.0], below(edges.astype(float)), [1.0]])
    observed = np.histogram(draws, bins=np.concatenate([[-(2**62)], edges, [2**62]]))[0]
    return float(chisquare(observed, np.diff(cumulative) * draws.size).pvalue)


@pytest.mark.statistics
@pytest.mark.parametrize("word", [32, 4])
@pytest.mark.parametrize("scale", ["1/2", "3/2", "4", "60", "1000", "100000"])
def test_draws_have_the_declared_scale_and_no_other(scale, word):
    scale = Fraction(scale)
    # Four-bit words tie on nearly every draw, so this also measures the refinement (and is slow: fewer draws).
    count = 400_000 if word == 32 else 1_500
    draws = BulkLaplace(scale, word).draw(count, SeededEntropy(7))
    assert chi_squared(draws, scale) > 1e-6
    if word == 32:
        assert chi_squared(draws, scale * 39 / 40) < 1e-9
        assert chi_squared(draws, scale * 41 / 40) < 1e-9


@pytest.mark.statistics
def test_a_planted_bug_is_seen():
    """The usual slip, a fair coin for the sign, shifts mass from 0 to −1 and fails the same test."""
    scale = Fraction(3, 2)
    sampler = BulkLaplace(scale)
    _, places, top, weight, last = sampler._parts
    fair = Digits(Response(Fraction(1, 10**9), 2))
    object.__setattr__(sampler, "_parts", (fair, places, top, weight, last))
    assert chi_squared(sampler.draw(400_000, SeededEntropy(1)), scale) < 1e-9


@pytest.mark.statistics
@pytest.mark.parametrize(("epsilon", "size"), [("1/10", 2), ("1", 2), ("2", 5)])
def test_responses_keep_and_move_as_declared(epsilon, size):
    from scipy.stats import chisquare

    epsilon = Fraction(epsilon)
    codes = np.full(200_000, size - 1, dtype=np.int64)
    answers = BulkResponse(epsilon, size).draw(codes, SeededEntropy(5))
    observed = np.bincount((answers - codes) % size, minlength=size)
    for sure, right in ((epsilon, True), (epsilon + Fraction(1, 5), False)):
        keep = np.exp(float(sure)) / (np.exp(float(sure)) + size - 1)
        expected = np.array([keep] + [(1 - keep) / (size - 1)] * (size - 1)) * codes.size
        assert bool(chisquare(observed, expected).pvalue > 1e-6) is right


def test_large_scales_do_not_overflow():
    draws = BulkLaplace(Fraction(bulk.LARGEST_SCALE)).draw(10_000, SystemEntropy())
    assert np.abs(draws).max() < 2**62
    assert np.abs(draws).mean() == pytest.approx(2**40, rel=0.1)


def test_the_open_end_has_no_memory():
    top = Digits(Geometric(Fraction(1), 2))  # every digit is 0 or "1 or more", so the open end does all the work
    draws = np.array([bulk._open_end(top, 1, SeededEntropy(seed), 2**40) for seed in range(4000)])
    assert draws.min() == 1
    assert draws.mean() == pytest.approx(1 + 1 / (np.e - 1), abs=0.06)


@pytest.mark.parametrize("scale", [0, -1, 2**40 + 1, "1/1025"])
def test_a_scale_out_of_range_is_refused(scale):
    with pytest.raises(DeclarationError, match="scale"):
        BulkLaplace(Fraction(scale))


def test_an_empty_draw_is_empty():
    assert BulkLaplace(Fraction(2)).draw(0, SystemEntropy()).shape == (0,)
