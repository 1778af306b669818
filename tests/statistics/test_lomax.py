"""Lomax noise and the inverse-sensitivity mechanism against their exact laws, and twins a tenth off."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.statistics.fit import ACCEPT, REJECT, SAMPLES, fit

from wallflower.mechanisms.inverse_sensitivity import InverseSensitivity
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.entropy import SeededEntropy
from wallflower.noise.lomax import TAIL, rounded_lomax

pytestmark = pytest.mark.statistics


def law(scale):
    def survival(m):
        return float((1 + (m - Fraction(1, 2)) / scale) ** -TAIL) if m else 1.0

    sides = {m: (survival(m) - survival(m + 1)) / 2 for m in range(1, 2000)}
    return {0: 1 - survival(1), **sides, **{-m: chance for m, chance in sides.items()}}


@pytest.mark.parametrize("scale", [Fraction(5, 2), Fraction(30), Fraction(81_234, 7001)])
def test_rounded_lomax(scale):
    entropy = SeededEntropy(4)
    draws = [rounded_lomax(scale, entropy) for _ in range(SAMPLES)]
    assert fit(draws, law(scale)) > ACCEPT
    assert fit(draws, law(scale * Fraction(9, 10))) < REJECT
    assert fit(draws, law(scale * Fraction(11, 10))) < REJECT


def test_inverse_sensitivity():
    mechanism = InverseSensitivity(epsilon=Fraction(3, 2), most=40)
    profile = Profile(bounds=(1, 2, 2, 4), cap=9)
    entropy = SeededEntropy(5)
    draws = [mechanism(12, profile, entropy) for _ in range(SAMPLES)]
    assert fit(draws, dict(enumerate(mechanism.probabilities(12, profile)))) > ACCEPT
    for wrong in (Fraction(13, 10), Fraction(17, 10)):
        off = InverseSensitivity(epsilon=wrong, most=40)
        assert fit(draws, dict(enumerate(off.probabilities(12, profile)))) < REJECT
