"""How far below the best a selected score may be, as a price says it."""

import math
from fractions import Fraction

import pytest

from wallflower.explain.selection import shortfall
from wallflower.mechanisms.exponential import Exponential


@pytest.mark.parametrize(("exponent", "candidates_log2"), [(Fraction(1, 2), 10), (Fraction(1, 7), 4), (Fraction(1), 7)])
def test_a_shortfall_is_passed_once_in_twenty_times_at_most_and_hardly_less(exponent, candidates_log2):
    """At worst one candidate is the best and all others lie just below the bound."""
    mechanism = Exponential(exponent=exponent, monotone=False)
    far = shortfall(mechanism, candidates_log2)

    def passed(gap):
        best, *_ = mechanism.log_probabilities([0, *[-gap] * (2**candidates_log2 - 1)])
        return 1 - math.exp(best)

    assert passed(far + 1) <= 1 / 20 < passed(far - math.ceil(1 / exponent))
