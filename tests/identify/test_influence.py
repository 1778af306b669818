"""The charge of a set of questions against every value of small domains."""

from __future__ import annotations

import itertools
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wallflower.identify.influence as module
from wallflower.geometry.balls import Ball
from wallflower.identify import overlap
from wallflower.identify.influence import most_influenced
from wallflower.identify.kernels import most_in_a_disc
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
    assert charged == most  # exactly: lines through few values are few
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(overlap, "MOST_PLACES", -1)
        bounded = most_influenced(metric, asked)
        assert most <= bounded <= len(asked)
        patched.setattr(module, "PEELED", 0)
        sparse = most_influenced(metric, asked)
        if all(metric.by_gap):
            assert sparse == bounded  # the same peeling, whatever ties are broken by
        patched.setattr(module, "MOST_PAIRS", 0)
        assert bounded <= sparse <= most_influenced(metric, asked) <= len(asked)


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=25, unique=True),
    st.integers(1, 200),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_a_disc_that_turns_finds_at_least_what_any_centre_holds(places, limit, weights):
    """Against every whole centre, and every centre that has two places on its edge, where the most of all is attained."""
    values = np.array(sorted(places))
    metric = Metric(columns=("a", "b"), by_gap=(True, True), ball=Ball(weights, limit), doubling=4)
    ones = np.ones(len(values), dtype=np.int64)
    scaled = values * np.sqrt(weights) / np.sqrt(limit)
    centres = [tuple(place) for place in scaled]
    for one, other in itertools.combinations(scaled, 2):
        apart = np.hypot(*(other - one))
        if 0 < apart <= 2:
            sideways = np.array([one[1] - other[1], other[0] - one[0]]) / apart * np.sqrt(1 - (apart / 2) ** 2)
            centres += [tuple((one + other) / 2 + sideways), tuple((one + other) / 2 - sideways)]
    held = max(int((np.hypot(*(scaled - centre).T) <= 1 + 1e-9).sum()) for centre in centres)
    bounds = list(overlap.plane_bounds(metric, values, ones))
    if limit < max(weights):
        assert bounds == []
    else:
        (bound,) = bounds
        assert held <= bound
        grown = max(int((np.hypot(*(scaled - centre).T) <= 1 + 1e-6).sum()) for centre in centres)
        assert bound <= grown


def test_a_plane_is_left_out_exactly_where_turning_would_be_given_up(monkeypatch):
    """The kernel gives up with the number of all questions, which no other bound is above: leaving the plane out charges the same."""
    values = np.random.default_rng(3).integers(0, 40, (60, 2))
    values = np.unique(values, axis=0)
    metric, ones = plane(4), np.full(len(values), 2, dtype=np.int64)
    scales = np.full(2, 1 / np.sqrt(metric.ball.limit))
    pairs = overlap._turns(values[:, 0], 2.0000001 / scales[0])
    assert 0 < pairs < len(values) ** 2
    assert most_in_a_disc(values, ones, scales, pairs - 1) == ones.sum()
    (bound,) = overlap.plane_bounds(metric, values, ones)
    assert bound == most_in_a_disc(values, ones, scales, pairs) < ones.sum()
    monkeypatch.setattr(overlap, "MOST_TURNS", pairs)
    assert list(overlap.plane_bounds(metric, values, ones)) == [bound]
    monkeypatch.setattr(overlap, "MOST_TURNS", pairs - 1)
    assert list(overlap.plane_bounds(metric, values, ones)) == []


def crowded(metric, values, times):
    """The most that a set holds in which everyone has so many near them: what peeling finds, by looking at every set."""
    near = np.array([metric.near(value, values) for value in values])
    sets = (list(places) for n in range(1, len(values) + 1) for places in itertools.combinations(range(len(values)), n))
    return max(min(int(times[places] @ near[place, places]) for place in places) for places in sets)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    st.dictionaries(st.tuples(*[st.integers(0, 5)] * 3), st.integers(1, 9), min_size=2, max_size=7), st.integers(1, 9)
)
def test_questions_that_are_asked_several_times_count_so_often_in_every_bound(asked, limit):
    """A set that shares a row is in every bound with all its repeats, wherever in the order of a column it stands."""
    values, times = np.array(sorted(asked)), np.array([asked[value] for value in sorted(asked)])
    metric = Metric(columns=tuple("abc"), by_gap=(True,) * 3, ball=Ball((1, 1, 1), limit), doubling=4)
    most = overlap.exact_overlap(metric, values, times)
    assert most == truth(metric, np.repeat(values, times, axis=0), 6)
    assert all(most <= bound <= times.sum() for bound in overlap.plane_bounds(metric, values, times))
    peeled = crowded(metric.twice, values, times)
    assert (
        most <= peeled == module._peel(metric.twice, values, times) == module._peel_pairs(metric.twice, values, times)
    )


def test_a_grid_of_questions_is_charged_what_one_row_can_influence():
    """Looking at pairs alone, 2,500 questions on a grid were charged a good deal more."""
    asked = np.stack(np.meshgrid(np.arange(50), np.arange(50)), axis=-1).reshape(-1, 2)
    assert most_influenced(plane(9), asked) == 253  # whole points in a circle of radius 9
    assert most_influenced(plane(9_000), 1_000 * asked) == 258  # a centre between them holds five more


def test_a_category_counts_by_whether_it_differs():
    """Two cities five apart in the list of values are as near as any two: one row between two ages influences both questions."""
    metric = Metric(columns=("age", "city"), by_gap=(True, False), ball=Ball((1, 1), 1), doubling=4)
    asked = np.array([[0, 0], [0, 5]])
    assert most_influenced(metric, asked) == truth(metric, asked, 6) == 2
    literal = Metric(columns=("age", "city"), by_gap=(True, True), ball=Ball((1, 1), 1), doubling=4)
    assert most_influenced(literal, asked) == 1


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


def test_a_planted_undercount_is_seen(monkeypatch):
    """The radius in place of twice the radius misses pairs that one row influences."""
    metric = plane(10)
    asked = np.array([[0, 0], [20, 0]])
    wrong = Metric(columns=metric.columns, by_gap=metric.by_gap, ball=metric.ball, doubling=1)
    assert truth(metric, asked, 21) == 2
    monkeypatch.setattr(overlap, "MOST_PLACES", -1)  # lines and discs do not look at pairs
    assert most_influenced(wrong, asked) == 1


FAR_REACHES = (
    2**53,
    2**61,
    2**62 - 2**53,
    2**62 - 1,
    2**62,
    2**63 - 2**53,
    2**63 - 1,
    2**63,
    2**64 + 5,
    10**200,
    10**400,
)
LAST = 2**53 - 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("reach", FAR_REACHES, ids=lambda reach: f"{reach.bit_length()}-bits")
def test_a_radius_that_covers_everything_is_charged_every_question(reach, monkeypatch):
    """Sums of a value and a long reach once left 64 bits: three questions were charged as none, at the whole budget each."""
    line = Metric(columns=("a",), by_gap=(True,), ball=Ball((1,), reach**2), doubling=4)
    for numbers in ([3, 5, 9], [-LAST, 0, LAST], [LAST - 1, LAST]):
        asked = np.array(numbers)[:, None]
        assert most_influenced(line, asked) == len(numbers)
    beside = Metric(columns=("a", "city"), by_gap=(True, False), ball=Ball((1, reach), reach**2), doubling=4)
    assert most_influenced(beside, np.array([[-LAST, 0], [LAST, 1], [0, 1], [0, 1]])) == 4
    for weights in ((1, 1), (1, 4), (4, 1)):
        two = Metric(columns=("a", "b"), by_gap=(True, True), ball=Ball(weights, 16 * reach**2), doubling=4)
        asked = np.array([[-LAST, -LAST], [LAST, LAST], [0, 0], [0, 1], [0, 1]])
        assert most_influenced(two, asked) == 5
        monkeypatch.setattr(module, "PEELED", 0)
        assert most_influenced(two, asked) == 5


def test_a_weight_beyond_a_machine_word_is_charged():
    """A category may weigh more than 64 bits hold where another column is counted in very small steps."""
    metric = Metric(columns=("a", "city"), by_gap=(True, False), ball=Ball((1, 10**30), 10**30), doubling=4)
    assert most_influenced(metric, np.array([[0, 0], [0, 1], [5, 1]])) == 3
    apart = Metric(columns=("a", "city"), by_gap=(True, False), ball=Ball((1, 10**30), 10**30 - 1), doubling=4)
    assert most_influenced(apart, np.array([[0, 0], [0, 1], [5, 1]])) == 2
