from __future__ import annotations

import math
from fractions import Fraction

import pytest

from wallflower.audit.blackbox import loss_lower_bound, lower_limit, upper_limit
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import SeededEntropy

SAMPLES = 20_000
CONFIDENCE = 1 - 1e-6


def noisy(value, scale, seed):
    mechanism, entropy = DiscreteLaplace(scale=scale), SeededEntropy(seed)
    return [mechanism(value, entropy) for _ in range(SAMPLES)]


@pytest.mark.statistics
def test_a_right_mechanism_is_not_refuted_and_most_of_its_loss_is_seen():
    bound = loss_lower_bound(noisy(0, Fraction(1), 1), noisy(1, Fraction(1), 2), confidence=CONFIDENCE)
    assert not bound.refutes(Fraction(1))
    assert bound.epsilon > 0.8


@pytest.mark.statistics
@pytest.mark.parametrize("moved", [1, -1])
def test_half_the_noise_is_found(moved):
    bound = loss_lower_bound(noisy(0, Fraction(1, 2), 3), noisy(moved, Fraction(1, 2), 4), confidence=CONFIDENCE)
    assert bound.refutes(Fraction(1))


@pytest.mark.statistics
def test_a_wrong_sensitivity_is_found():
    bound = loss_lower_bound(noisy(0, Fraction(1), 5), noisy(2, Fraction(1), 6), confidence=CONFIDENCE)
    assert bound.refutes(Fraction(1))


@pytest.mark.statistics
def test_a_range_read_from_the_rows_is_found():
    """Clamped to the private number of rows, 3 or 4: the answer 4 gives the larger table away."""
    smaller = [min(max(answer, 0), 3) for answer in noisy(2, Fraction(4), 7)]
    larger = [min(max(answer, 0), 4) for answer in noisy(2, Fraction(4), 8)]
    bound = loss_lower_bound(smaller, larger, confidence=CONFIDENCE)
    assert bound.refutes(Fraction(1, 4))
    assert bound.event == {4}
    assert bound.likelier_in_second


@pytest.mark.statistics
def test_a_float_leak_is_found():
    """Laplace noise from a float uniform of ten bits: the answers themselves say which world they are from."""

    def leaky(value, seed):
        entropy = SeededEntropy(seed)
        return [value + (1 - 2 * entropy.bits(1)) * math.log((1 + entropy.bits(10)) / 1024) for _ in range(SAMPLES)]

    assert loss_lower_bound(leaky(0, 9), leaky(1, 10), confidence=CONFIDENCE).refutes(4)


@pytest.mark.statistics
def test_two_equal_worlds_are_not_told_apart():
    assert loss_lower_bound(noisy(0, Fraction(1), 11), noisy(0, Fraction(1), 12), confidence=CONFIDENCE).epsilon == 0


@pytest.mark.statistics
def test_delta_is_taken_off():
    """With probability 1/100 the world is told outright: a (0, 1/100) promise holds, a pure one does not."""

    def tells(world, seed):
        entropy = SeededEntropy(seed)
        return [world if entropy.bits(20) < 2**20 // 100 else "nothing" for _ in range(SAMPLES)]

    first, second = tells("a", 13), tells("b", 14)
    assert loss_lower_bound(first, second, confidence=CONFIDENCE).refutes(1)
    assert not loss_lower_bound(first, second, confidence=CONFIDENCE, delta=0.01).refutes(1e-3)


@pytest.mark.parametrize("of", [1, 7, 30])
@pytest.mark.parametrize("miss", [0.01, 0.2])
def test_the_limits_cover_at_least_as_promised(of, miss):
    for p in (0.0, 0.03, 0.5, 0.9, 1.0):
        chances = [math.comb(of, hits) * p**hits * (1 - p) ** (of - hits) for hits in range(of + 1)]
        below = sum(chance for hits, chance in enumerate(chances) if lower_limit(hits, of, miss) > p)
        above = sum(chance for hits, chance in enumerate(chances) if upper_limit(hits, of, miss) < p)
        assert below <= miss + 1e-12
        assert above <= miss + 1e-12


def test_a_confidence_is_no_certainty():
    with pytest.raises(ValueError, match="between 0 and 1"):
        loss_lower_bound([0], [1], confidence=1.0)


def test_each_of_the_two_limits_may_miss_with_half_of_what_is_left():
    """By the union bound: with the whole of it for each, the bound would be right less often than it says."""
    first, second = [1] * 160 + [0] * 40, [1] * 40 + [0] * 160
    found = loss_lower_bound(first, second, confidence=0.9)  # half of the samples choose the event, half bound it
    half = math.log(lower_limit(80, 100, 0.05) / upper_limit(20, 100, 0.05))
    whole = math.log(lower_limit(80, 100, 0.1) / upper_limit(20, 100, 0.1))
    assert found.epsilon == pytest.approx(half)
    assert found.epsilon < whole


def test_the_bound_is_wrong_no_more_often_than_it_says():
    """Exactly, over both binomial laws: two fair coins of bias 1/2 against 1/4, whose true loss is log 2."""
    of, miss = 12, 0.2
    law = [[math.comb(of, hits) * p**hits * (1 - p) ** (of - hits) for hits in range(of + 1)] for p in (0.5, 0.25)]

    def wrong(each):
        return sum(
            law[0][a] * law[1][b]
            for a in range(1, of + 1)
            for b in range(of + 1)
            if math.log(lower_limit(a, of, each) / upper_limit(b, of, each)) > math.log(2)
        )

    assert wrong(miss / 2) <= miss


def test_the_samples_that_bound_an_event_have_no_say_in_its_choice():
    """Only the samples at odd places differ: whoever chose the event by them would be surer than the data allow."""
    assert loss_lower_bound([0, 1] * 300, [0, 0] * 300, confidence=0.99).epsilon == 0
