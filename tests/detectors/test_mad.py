"""The modified z-score against scipy's median deviation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import median_abs_deviation

from wallflower.detectors import MAD


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(-60, 60), min_size=1, max_size=40), st.sampled_from(["1", "3.5"]))
def test_the_score_is_scipys(values, threshold):
    values = np.sort(np.array(values))
    middle, spread = np.median(values), median_abs_deviation(values)
    for value in {int(y) for y in values}:
        score, limit = 0.6745 * abs(value - middle), float(threshold) * spread
        if abs(score - limit) > 1e-9:
            assert MAD(threshold=threshold).stands_out(values, value, step=Fraction(1)) == (score > limit)


def test_where_most_values_are_equal_any_other_stands_out():
    values = np.array([5] * 9 + [6])
    assert MAD().stands_out(values, 6, step=Fraction(1))
    assert not MAD().stands_out(values, 5, step=Fraction(1))
