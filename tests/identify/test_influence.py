"""The charge of a set of questions against every value of small domains."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wallflower.identify.influence as module
from wallflower.geometry.balls import Ball
from wallflower.identify.influence import most_influenced
from wallflower.identify.metric import Metric


def truth(metric, asked, span):
    """The most questions near one value, over every value of a domain wide enough to hold every useful one."""
    everywhere = product(range(span), repeat=asked.shape[1])
    return max(int(metric.near(np.array(value), asked).sum()) for value in everywhere)


@st.composite
def questions(draw):
    """A metric over up to three columns of few values, and questions with repeats."""
    width = draw(st.integers(1, 3))
    linear = draw(st.booleans())
    by_gap = (False,) * width if linear else draw(st.tuples(*[st.booleans()] * width))
    ball = Ball(draw(st.tuples(*[st.integers(1, 4)] * width)), draw(st.integers(0, 24)))
    metric = Metric(columns=tuple("abc"[:width]), by_gap=by_gap, ball=ball, doubling=2 if linear else 4)
    asked = draw(st.lists(st.tuples(*[st.integers(0, 7)] * width), min_size=1, max_size=14))
    return metric, np.array(asked, dtype=np.int64)


@settings(deadline=None, derandomize=True)
@given(questions())
def test_no_value_is_near_more_questions_than_are_charged(question):
    metric, asked = question
    most = truth(metric, asked, 8)
    charged = most_influenced(metric, asked)
    assert most <= charged <= len(asked)
    if len(metric.columns) == 1 or metric.alone:
        assert charged == most
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "PEELED", 0)
        sparse = most_influenced(metric, asked)
        if all(metric.by_gap):
            assert sparse == charged  # the same peeling, whatever ties are broken by
        patched.setattr(module, "MOST_PAIRS", 0)
        assert charged <= sparse <= most_influenced(metric, asked) <= len(asked)


def plane(radius):
    return Metric(columns=("a", "b"), by_gap=(True, True), ball=Ball((1, 1), radius**2), doubling=4)


def test_far_questions_cost_one_epsilon_and_repeats_cost_each():
    apart = np.array([[0, 0], [100, 0], [0, 100], [100, 100]])
    assert most_influenced(plane(10), apart) == 1
    assert most_influenced(plane(10), np.repeat(apart, [1, 3, 1, 1], axis=0)) == 3
    assert most_influenced(plane(10), np.array([[0, 0], [20, 0]])) == 2  # the row between both, exactly at the radius
    assert most_influenced(plane(10), np.array([[0, 0], [21, 0]])) == 1


def truth_at(metric, asked):
    """The most questions near one of the questions: some value has at least so many."""
    return max(int(metric.near(value, asked).sum()) for value in asked[:200])


def test_many_questions_are_charged_without_a_matrix():
    rng = np.random.default_rng(0)
    asked = rng.integers(0, 10**6, (5_000, 2))
    charged = most_influenced(plane(5_000), asked)
    assert truth_at(plane(5_000), asked) <= charged <= 12
    assert most_influenced(plane(10**6), asked) == 5_000


def test_a_planted_undercount_is_seen():
    """The radius in place of twice the radius misses pairs that one row influences."""
    metric = plane(10)
    asked = np.array([[0, 0], [20, 0]])
    wrong = Metric(columns=metric.columns, by_gap=metric.by_gap, ball=metric.ball, doubling=1)
    assert truth(metric, asked, 21) == 2
    assert most_influenced(wrong, asked) == 1
