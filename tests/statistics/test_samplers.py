"""Each sampler against its exact law, and against twins a tenth off that must be noticed."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.statistics.fit import ACCEPT, REJECT, SAMPLES, fit

from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.mechanisms.permute_and_flip import PermuteAndFlip
from wallflower.mechanisms.top import TopH
from wallflower.noise.coins import bernoulli_exp, logistic
from wallflower.noise.entropy import SeededEntropy
from wallflower.noise.laplace import discrete_laplace
from wallflower.noise.selection import choose_level, permute_and_flip, select, select_many
from wallflower.noise.uniform import below, fair_heads

pytestmark = pytest.mark.statistics

TENTH_OFF = (Fraction(9, 10), Fraction(11, 10))
COIN_SAMPLES = 150_000  # a coin says less than an integer: a tenth off needs more of them to be noticed


def draw(sampler, *arguments, samples=SAMPLES, seed=0):
    entropy = SeededEntropy(seed)
    return [sampler(*arguments, entropy) for _ in range(samples)]


def accepts_only(draws, law, true_parameter):
    assert fit(draws, law(true_parameter)) > ACCEPT
    for factor in TENTH_OFF:
        assert fit(draws, law(true_parameter * factor)) < REJECT


def coin_law(chance):
    return {True: chance, False: 1 - chance}


@pytest.mark.parametrize("n", [1, 2, 10, 64, 90])
def test_below_is_uniform(n):
    draws = draw(below, n)
    assert fit(draws, dict.fromkeys(range(n), 1 / n)) > ACCEPT
    for wrong in {n * 9 // 10, -(-n * 11 // 10)} - {0, n}:
        assert fit(draws, dict.fromkeys(range(wrong), 1 / wrong)) < REJECT


def test_heads_of_fair_coins_are_binomial():
    def law(chance):
        return {m: math.comb(21, m) * float(chance) ** m * float(1 - chance) ** (21 - m) for m in range(22)}

    accepts_only(draw(fair_heads, 21), law, Fraction(1, 2))


@pytest.mark.parametrize("x", [Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(4)])
def test_bernoulli_exp(x):
    accepts_only(draw(bernoulli_exp, x, samples=COIN_SAMPLES), lambda x: coin_law(math.exp(-x)), x)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5, 2)])
def test_logistic(epsilon):
    accepts_only(draw(logistic, epsilon, samples=COIN_SAMPLES), lambda e: coin_law(1 / (1 + math.exp(e))), epsilon)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3, 2), Fraction(4), Fraction(100, 7)])
def test_discrete_laplace(scale):
    def law(scale):
        mechanism = DiscreteLaplace(scale=scale)
        return {z: math.exp(mechanism.log_probability(z)) for z in range(-200, 201)}

    accepts_only(draw(discrete_laplace, scale), law, scale)


# Crowded low levels, gaps between levels, an exponent below 1/2 (bands of several scores) and one above 1 (bands of one score).
SELECTIONS = [
    ({0: 1, -1: 2, -2: 4, -3: 8, -5: 30, -9: 50, -14: 300}, Fraction(1, 3)),
    ({7: 1, 6: 5, 5: 40, 4: 200, 3: 1500}, Fraction(3, 2)),
    ({10_000: 3, 9_000: 5, 8_500: 1, 5_000: 9, 0: 200}, Fraction(1, 1500)),
]


def level_law(counts, exponent):
    scores = [score for score, count in counts.items() for _ in range(count)]
    law = dict.fromkeys(counts, 0.0)
    for score, chance in zip(
        scores, Exponential(exponent=exponent, monotone=False).log_probabilities(scores), strict=True
    ):
        law[score] += math.exp(chance)
    return law


@pytest.mark.parametrize(("counts", "exponent"), SELECTIONS)
def test_choose_level(counts, exponent):
    accepts_only(draw(choose_level, counts, exponent), lambda c: level_law(counts, c), exponent)


@pytest.mark.parametrize(("counts", "exponent"), SELECTIONS)
def test_select_has_the_law_of_its_levels_and_is_uniform_inside_them(counts, exponent):
    scores = np.array([score for score, count in counts.items() for _ in range(count)], dtype=np.int64)
    scores = scores[np.random.default_rng(3).permutation(len(scores))]
    chosen = draw(select, scores, exponent, seed=1)
    accepts_only([int(scores[index]) for index in chosen], lambda c: level_law(counts, c), exponent)
    crowded = np.flatnonzero(scores == max(counts, key=counts.get))
    place = {index: nth for nth, index in enumerate(crowded.tolist())}
    places = [20 * place[index] // len(crowded) for index in chosen if index in place]
    assert len(places) > 500
    assert fit(places, dict.fromkeys(range(20), 1 / 20)) > ACCEPT
    assert fit(places, dict.fromkeys(range(18), 1 / 18)) < REJECT


FLIPS = [
    ([0, -1, -1, -2, -3, -3, -4, -6, -9], Fraction(1, 3)),
    ([5, 4, 4, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0], Fraction(3, 2)),
    ([4000, 4000, 3000, 1000, 0, 0, 0, -900], Fraction(1, 1500)),
]


@pytest.mark.parametrize(("scores", "exponent"), FLIPS)
def test_permute_and_flip(scores, exponent):
    def law(exponent):
        return dict(
            enumerate(map(math.exp, PermuteAndFlip(exponent=exponent, monotone=False).log_probabilities(scores)))
        )

    draws = draw(permute_and_flip, np.array(scores), exponent, samples=2 * SAMPLES)
    accepts_only(draws, law, exponent)


def slow_permute_and_flip(scores, exponent, entropy):
    """The mechanism as printed: visit in random order, flip, return the first that comes up."""
    left = list(range(len(scores)))
    while True:
        index = left.pop(below(len(left), entropy))
        if bernoulli_exp(exponent * int(max(scores) - scores[index]), entropy):
            return index


@pytest.mark.parametrize(("scores", "exponent"), FLIPS)
def test_permute_and_flip_as_printed_has_the_same_law(scores, exponent):
    law = dict(enumerate(map(math.exp, PermuteAndFlip(exponent=exponent, monotone=False).log_probabilities(scores))))
    assert fit(draw(slow_permute_and_flip, scores, exponent, seed=2), law) > ACCEPT


@pytest.mark.parametrize(
    ("scores", "exponent", "samples"),
    [
        ([6, 5, 5, 3, 0], Fraction(2, 5), 30_000),
        ([3, 3, 2, 1, -1], Fraction(1), 20_000),
        ([900, 500, 0, 0, -400], Fraction(1, 450), 20_000),
    ],
)
def test_select_many_is_one_selection_after_the_other(scores, exponent, samples):
    """So many draws notice a tenth off with a chance of 1 − 10^−6, by the non-central χ² of these laws."""

    def law(exponent):
        top = TopH(h=3, exponent=exponent)
        return {order: math.exp(top.log_probability(scores, order)) for order in itertools.permutations(range(5), 3)}

    entropy = SeededEntropy(4)
    draws = [tuple(select_many(np.array(scores), 3, exponent, entropy)) for _ in range(samples)]
    accepts_only(draws, law, exponent)
