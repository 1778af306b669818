"""The exact law of the inverse-sensitivity mechanism on real neighbouring tables, and the twins that must fail."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from wallflower.audit.exact import exact_audit
from wallflower.mechanisms.inverse_sensitivity import InverseSensitivity
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.entropy import SeededEntropy

CAP = 6


def pairs(seed, count):
    """(value, bounds) of neighbours: any two that keep the laws, extremes among them."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        here = np.minimum(np.cumsum(rng.integers(0, 3, 7)) + 1, CAP)
        there = np.maximum.accumulate(rng.integers(1, CAP + 1, 7))
        if all(here <= np.append(there[1:], CAP)) and all(there <= np.append(here[1:], CAP)):
            value = int(rng.integers(0, 15))
            move = int(min(here[0], there[0])) * int(rng.integers(-1, 2))
            if value + move >= 0:
                found.append(((value, tuple(here.tolist())), (value + move, tuple(there.tolist()))))
    return found


def law(mechanism):
    def distribution(table):
        value, bounds = table
        return dict(enumerate(mechanism.probabilities(value, Profile(bounds=bounds, cap=CAP))))

    return distribution


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_loss_never_exceeds_the_promise(epsilon):
    mechanism = InverseSensitivity(epsilon=epsilon, most=20)
    finding = exact_audit(law(mechanism), pairs(0, 600))
    assert finding.within(epsilon)
    assert finding.loss > 0.6 * float(epsilon)


def test_a_range_that_follows_the_rows_is_found():
    """Candidates 0 … N with N private (one row more, one answer more): the new answer gives the row away."""
    finding = exact_audit(
        lambda rows: dict(
            enumerate(InverseSensitivity(epsilon=Fraction(1), most=rows).probabilities(rows, Profile(bounds=(), cap=1)))
        ),
        [(2, 3)],
    )
    assert finding.loss == np.inf


def test_a_profile_that_is_not_smooth_is_found():
    finding = exact_audit(
        law(InverseSensitivity(epsilon=Fraction(1), most=20)), [((10, (5, 5, 5, 5)), (10, (1, 1, 1, 1)))]
    )
    assert not finding.within(Fraction(1))


@pytest.mark.parametrize("most", [0, 1, 7, 40])
@pytest.mark.parametrize("value", [0, 3, 40, 55])
def test_rings_are_disjoint_and_cover_the_range(most, value):
    mechanism = InverseSensitivity(epsilon=Fraction(1, 3), most=most)
    seen = [
        answer for ring in mechanism.rings(value, Profile(bounds=(1, 2), cap=5)) for side in ring for answer in side
    ]
    assert sorted(seen) == list(range(most + 1))
    reach = [0, 1, 3, 8, 13]
    for changes, ring in enumerate(mechanism.rings(value, Profile(bounds=(1, 2), cap=5))[:5]):
        for side in ring:
            for answer in side:
                assert abs(answer - value) <= reach[changes]
                assert changes == 0 or abs(answer - value) > reach[changes - 1]


def test_a_huge_range_needs_few_levels():
    mechanism = InverseSensitivity(epsilon=Fraction(1, 10), most=10**9)
    assert len(mechanism.rings(5, Profile(bounds=(), cap=2))) == mechanism.levels + 1 < 2000
    assert 0 <= mechanism(5, Profile(bounds=(), cap=2), SeededEntropy(0)) <= 10**9


def test_every_answer_is_possible_however_few_levels_there_are():
    """The last level takes in all that is left: an answer that only one of two neighbours can give would tell them apart."""
    mechanism, calm = InverseSensitivity(epsilon=Fraction(20), most=300), (1,) * 40
    assert mechanism.levels < 40
    for value in (0, 7, 150, 300):
        rings = mechanism.rings(value, Profile(bounds=calm, cap=CAP))
        assert sorted(answer for ring in rings for side in ring for answer in side) == list(range(301))
    assert exact_audit(law(mechanism), [((150, calm), (151, calm))]).within(mechanism.epsilon)
