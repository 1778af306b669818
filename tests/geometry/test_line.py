"""One column, by sorting: the same counts as the slow twin, and as the index."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.geometry import naive
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import MOST, RadiusIndex
from wallflower.geometry.line import fullest, is_line, within_reach

VALUES = st.lists(st.integers(-9, 9) | st.sampled_from([-MOST, MOST, MOST - 1]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    VALUES, st.integers(1, 5), st.integers(0, 90) | st.sampled_from([MOST**2, 4 * MOST**2, 2**200]), st.integers(1, 5)
)
@example([], 1, 1, 1)
@example([-MOST, MOST], 1, 4 * MOST**2, 9)
@example([-MOST, MOST], 1, 4 * MOST**2 - 1, 9)
def test_counts_are_those_of_the_twin_and_of_the_index(values, weight, limit, cap):
    column, ball = np.array(values, dtype=np.int64), Ball((weight,), limit)
    assert is_line(column, ball)
    counts = within_reach(column, ball, cap).tolist()
    assert counts == naive.counts(column[:, None], column[:, None], ball, cap).tolist()
    assert counts == RadiusIndex(column[:, None], ball.weights).counts(ball, cap=cap).tolist()


def test_values_that_doubles_do_not_hold_are_left_to_the_index_which_refuses_them():
    assert not is_line(np.array([MOST + 1]), Ball((1,), 1))
    assert not is_line(np.array([-(2**63)]), Ball((1,), 1))
    assert not is_line(np.array([0]), Ball((1,), -1))


def test_an_interval_holds_its_ends_and_no_values_hold_none():
    assert fullest(np.array([0, 3, 3, 9]), 3) == 3
    assert fullest(np.array([0, 3, 3, 9]), 2) == 2
    assert fullest(np.zeros(0, dtype=np.int64), 5) == 0
