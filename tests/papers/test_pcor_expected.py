"""The expectations of RESULTS.md against the mechanisms' own laws."""

from fractions import Fraction

import numpy as np
import pytest
from experiments.pcor_2021.expected import shortfalls

from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.permute_and_flip import PermuteAndFlip

SCORES = ([7], [5, 5, 5], [0, 3, 9, 9, 10], [2, 4, 4, 4, 11, 30, 31, 31], list(range(40)))


@pytest.mark.parametrize("exponent", ["0.01", "0.2", "3"])
@pytest.mark.parametrize("scores", SCORES, ids=len)
def test_by_score_as_by_candidate(scores, exponent):
    gaps = max(scores) - np.array(scores)
    slow = []
    for mechanism in (Exponential, PermuteAndFlip):
        law = np.exp(mechanism(exponent=Fraction(exponent), monotone=True).log_probabilities(scores))
        slow.append(float(law @ gaps))
    assert shortfalls(scores, float(exponent)) == pytest.approx(slow, rel=1e-9, abs=1e-12)


def test_flipping_is_never_worse_among_many():
    scores = np.random.default_rng(0).integers(0, 4000, 300_000)
    exponential, flipping = shortfalls(scores, 0.05)
    assert 0 < flipping < exponential
