"""The sampled slot: its exact law over all pairs, its sampler, and two planted bugs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
from scipy import stats

from wallflower.errors import DeclarationError
from wallflower.mechanisms.sampled_slot import SampledSlot
from wallflower.noise.entropy import SeededEntropy


def worst(laws):
    return max(max(law[key] for law in laws) / min(law[key] for law in laws) for key in laws[0])


@pytest.mark.parametrize("slots", [1, 2, 6])
def test_no_two_days_differ_by_more_than_e_to_the_epsilon(slots):
    made = SampledSlot(epsilon=Fraction(3, 2), slots=slots)
    laws = [made.law(states) for states in itertools.product((False, True), repeat=slots)]
    assert all(sum(law.values()) == pytest.approx(1) for law in laws)
    assert worst(laws) == pytest.approx(math.exp(1.5))


def test_the_draws_follow_the_law():
    made, states = SampledSlot(epsilon=Fraction(1), slots=3), [False, True, True]
    entropy, rounds = SeededEntropy(3), 20_000
    seen = Counter()
    for _ in range(rounds):
        slot = made.choose(entropy)
        seen[slot, made.answer(entropy, misbehaves=states[slot])] += 1

    def fit(epsilon):
        law = SampledSlot(epsilon=epsilon, slots=3).law(states)
        return stats.chisquare([seen[key] for key in law], [share * rounds for share in law.values()]).pvalue

    assert fit(Fraction(1)) > 1e-6
    assert fit(Fraction(3, 4)) < 1e-12
    assert fit(Fraction(5, 4)) < 1e-12


def test_a_reused_coin_and_a_second_answer_break_the_law():
    """Two slots answered with one coin, or one slot answered twice: both lose more than ε."""
    made = SampledSlot(epsilon=Fraction(1), slots=2)
    keep, flip = 1 - made.flip, made.flip
    sequences = list(itertools.product((False, True), repeat=2))

    def reused(states):  # both states, turned over by the same coin: their difference is always true
        law = dict.fromkeys(itertools.product((False, True), repeat=2), 1e-300)
        law[states] += keep
        law[tuple(not state for state in states)] += flip
        return law

    def again(states):  # the first slot asked two times
        return {
            (a, b): (keep if a == states[0] else flip) * (keep if b == states[0] else flip)
            for a, b in itertools.product((False, True), repeat=2)
        }

    assert worst([reused(states) for states in sequences]) > math.e * 1.01
    assert worst([again(states) for states in sequences]) > math.e * 1.01


def test_wrong_settings_are_refused():
    for wrong in ({"epsilon": Fraction(0), "slots": 2}, {"epsilon": Fraction(1), "slots": 0}):
        with pytest.raises(DeclarationError):
            SampledSlot(**wrong)
