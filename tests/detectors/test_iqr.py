"""Tukey's fences against numpy's quartiles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.detectors import IQR


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(-60, 60), min_size=1, max_size=40), st.sampled_from(["0.25", "1.5", "3"]))
def test_the_fences_are_numpys(values, factor):
    values = np.sort(np.array(values))
    first, third = np.percentile(values, [25, 75])  # quarters of whole numbers: doubles hold them
    reach = float(factor) * (third - first)
    for value in {int(y) for y in values}:
        expected = value > third + reach or value < first - reach
        assert IQR(factor=factor).stands_out(values, value, step=Fraction(1)) == expected
