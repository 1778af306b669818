"""Adversarial inputs: what a law cannot show but a caller will meet."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.statistics.fit import ACCEPT, REJECT, fit
from wallflower.noise.entropy import SeededEntropy
from wallflower.noise.selection import choose_level, permute_and_flip, select, select_many

EXPONENTS = [Fraction(1, 10**40), Fraction(1, 10**9), Fraction(1, 1000), Fraction(2, 7), Fraction(3), Fraction(10**9)]
INT64 = st.integers(-(2**63), 2**63 - 1)


def many_first(scores, exponent, entropy):
    return select_many(scores, min(2, len(scores)), exponent, entropy)[0]


@pytest.mark.parametrize("chooser", [select, permute_and_flip, many_first])
@given(
    scores=st.lists(INT64 | st.integers(-3, 3), min_size=1, max_size=12),
    exponent=st.sampled_from(EXPONENTS),
    seed=st.integers(0, 99),
)
def test_any_scores_and_any_exponent_are_answered(chooser, scores, exponent, seed):
    index = chooser(np.array(scores, dtype=np.int64), exponent, SeededEntropy(seed))
    assert 0 <= index < len(scores)
    if exponent > 1000:
        assert scores[index] == max(scores)


@given(
    counts=st.dictionaries(st.integers(-(10**30), 10**30), st.integers(1, 10**40), min_size=1),
    exponent=st.sampled_from(EXPONENTS),
)
def test_levels_may_be_as_large_as_one_likes(counts, exponent):
    assert choose_level(counts, exponent, SeededEntropy(1)) in counts


def test_empty_levels_are_never_chosen():
    entropy = SeededEntropy(2)
    counts = {9: 0, 8: 1, 7: 0, 5: 3, -1: 0}
    assert {choose_level(counts, Fraction(1, 9), entropy) for _ in range(500)} == {8, 5}


@given(scores=st.lists(st.integers(-5, 5), min_size=1, max_size=9), seed=st.integers(0, 99))
def test_select_many_takes_each_candidate_once(scores, seed):
    chosen = select_many(np.array(scores), len(scores), Fraction(1, 2), SeededEntropy(seed))
    assert sorted(chosen) == list(range(len(scores)))


def test_a_huge_exponent_takes_the_best_in_order():
    scores = np.array([5, 9, 1, 7, 8])
    assert select_many(scores, 3, Fraction(1000), SeededEntropy(0)) == [1, 4, 3]


@pytest.mark.parametrize(
    "bad", [np.array([], dtype=np.int64), np.array([1.0, 2.0]), np.array([[1, 2]]), np.array([True, False])]
)
def test_scores_that_are_no_list_of_integers_are_refused(bad):
    for chooser in (select, permute_and_flip, many_first):
        with pytest.raises(ValueError, match="needs"):
            chooser(bad, Fraction(1), SeededEntropy(0))


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(-1)])
def test_an_exponent_must_be_positive(exponent):
    for chooser in (select, permute_and_flip, many_first):
        with pytest.raises(ValueError, match="exponent"):
            chooser(np.array([1, 2]), exponent, SeededEntropy(0))
    with pytest.raises(ValueError, match="exponent"):
        choose_level({1: 1}, exponent, SeededEntropy(0))


def test_none_or_fewer_than_none_cannot_be_chosen_from():
    for counts in ({}, {3: 0}, {3: -1, 2: 5}):
        with pytest.raises(ValueError, match="candidate"):
            choose_level(counts, Fraction(1), SeededEntropy(0))
    for h in (0, 3):
        with pytest.raises(ValueError, match="h between"):
            select_many(np.array([1, 2]), h, Fraction(1), SeededEntropy(0))


def uniform_level_rejection(counts, exponent, entropy):
    """NOT PRIVATE: proposes a level uniformly, whatever its size."""
    from wallflower.noise.coins import bernoulli_exp
    from wallflower.noise.uniform import below

    while True:
        score = list(counts)[below(len(counts), entropy)]
        if bernoulli_exp(exponent * (max(counts) - score), entropy):
            return score


@pytest.mark.statistics
def test_the_pair_on_which_a_uniform_proposal_of_levels_loses_far_too_much():
    """One candidate of score 5 and a thousand of 4, against a thousand and one of 5: one step up, a loss of at most c."""
    c, entropy = Fraction(1), SeededEntropy(6)
    before, draws = {5: 1, 4: 1000}, 20_000
    law = {5: 1 / (1 + 1000 * math.exp(-1)), 4: 1000 * math.exp(-1) / (1 + 1000 * math.exp(-1))}
    assert fit([choose_level(before, c, entropy) for _ in range(draws)], law) > ACCEPT
    scores = np.array([5] + [4] * 1000)
    assert fit([int(scores[select(scores, c, entropy)]) for _ in range(draws)], law) > ACCEPT
    assert fit([uniform_level_rejection(before, c, entropy) for _ in range(draws)], law) < REJECT
    loss = math.log((1 / 1001) / law[5])  # the lone candidate, when all the others catch up
    assert -c <= loss <= c
    lone_under_uniform_levels = 1 / (1 + math.exp(-1))
    assert math.log(lone_under_uniform_levels / (1 / 1001)) > 6 * c


@pytest.mark.slow
@pytest.mark.parametrize("chooser", [select, permute_and_flip, many_first])
def test_four_million_candidates(chooser):
    """One good candidate among four million bad ones; memory stays a few copies of the scores."""
    size, exponent = 4_000_000, Fraction(1, 10)
    scores = np.zeros(size, dtype=np.int64)
    scores[1234] = 160  # e^16 = 8.9 million: the good one wins with 0.69, by permute-and-flip with 0.8
    entropy = SeededEntropy(8)
    tracemalloc.start()
    wins = sum(chooser(scores, exponent, entropy) == 1234 for _ in range(30))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 12 <= wins <= 29
    assert peak < 6 * scores.nbytes


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [Fraction(1, 10**7), Fraction(1, 1000), Fraction(5)])
@pytest.mark.parametrize("chooser", [select, permute_and_flip, many_first])
def test_the_widest_range_of_scores_costs_no_more(chooser, exponent):
    scores = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 1_000_000)
    assert scores[chooser(scores, exponent, SeededEntropy(9))] == scores.max()
