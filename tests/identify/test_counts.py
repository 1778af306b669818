"""Distances and counts against naive twins in fractions: ties at the radius, duplicates, constant columns, many columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.identify import naive
from tests.identify.tables import declaration, model
from wallflower.errors import DeclarationError
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import RadiusIndex
from wallflower.identify import counts
from wallflower.identify.counts import FEW, copies, of_rows, of_values, within
from wallflower.identify.metric import Metric, metric_of

PATHS = ["compiled", "plain"]


@pytest.fixture(autouse=True, params=PATHS)
def path(request, monkeypatch):
    """Every test runs through the compiled loops and through Python's own integers."""
    if request.param == "compiled":
        monkeypatch.setattr(counts, "SMALL", 0)


@st.composite
def tables(draw):
    """Points and questions over few values in 1, 2, 3 or 12 columns: many ties, repeats, sometimes a constant column."""
    width = draw(st.sampled_from([1, 2, 3, 12]))
    by_gap = (True,) * width if draw(st.booleans()) else draw(st.tuples(*[st.booleans()] * width))
    ball = Ball(draw(st.tuples(*[st.integers(1, 8)] * width)), draw(st.integers(0, 59)))
    metric = Metric(columns=tuple("abcdefghijkl"[:width]), by_gap=by_gap, ball=ball, doubling=4)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))  # a hundred rows are too many to draw one by one
    points = rng.integers(0, 4, (draw(st.integers(0, 150)), width))
    if width > 1 and draw(st.booleans()):
        points[:, 0] = 2
    return metric, points, rng.integers(0, 4, (draw(st.sampled_from([7, FEW + 9])), width))


# The fixture sets one constant for a whole test, which examples do not change.
@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(tables(), st.integers(12, 59))
def test_counts_equal_the_naive_twin(table, cap):
    metric, points, asked = table
    beta = 9
    expected = np.array([metric.near(value, points).sum() for value in asked], dtype=np.int64)
    np.testing.assert_array_equal(within(metric, points, asked, cap=cap), np.minimum(expected, cap))
    equal = np.array([(points == value).all(axis=1).sum() for value in asked])
    np.testing.assert_array_equal(copies(points, asked, cap=cap), np.minimum(equal, cap))
    np.testing.assert_array_equal(of_values(metric, points, asked, cap=cap), np.minimum([equal, expected], cap))
    held, near = of_rows(metric, points, until=beta, cap=cap)
    expected = np.array([metric.near(value, points).sum() for value in points], dtype=np.int64)
    np.testing.assert_array_equal(near, np.minimum(expected, cap))
    equal = np.array([(points == value).all(axis=1).sum() for value in points], dtype=np.int64)
    few = expected <= beta
    np.testing.assert_array_equal(held[few], equal[few])
    np.testing.assert_array_equal(held[~few], np.minimum(equal, cap)[~few] if metric.alone else 1)


@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.data())
def test_looking_at_every_row_equals_the_index_and_the_naive_twin(data):
    """Spreads up to 10^15 and weights of up to 70 digits: where 64 bits end, the index or Python's integers take over."""
    width, span = data.draw(st.integers(1, 5)), 10 ** data.draw(st.integers(0, 15))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    points, asked = rng.integers(-span, span + 1, (200, width)), rng.integers(-span, span + 1, (5, width))
    exponents = data.draw(st.lists(st.integers(0, 149), min_size=width, max_size=width))
    weights = tuple(data.draw(st.integers(1, 19)) * 3**exponent for exponent in exponents)
    ball = Ball(weights, max(weights) * int(span**1.5))
    for by_gap in ((True,) * width, data.draw(st.tuples(*[st.booleans()] * width))):
        metric = Metric(columns=("c",) * width, by_gap=by_gap, ball=ball, doubling=4)
        found = within(metric, points, asked, cap=50)
        np.testing.assert_array_equal(found, [min(metric.near(value, points).sum(), 50) for value in asked])
    expected = RadiusIndex(points, weights).counts(ball, cap=50, queries=asked)
    plain = Metric(columns=("c",) * width, by_gap=(True,) * width, ball=ball, doubling=4)
    np.testing.assert_array_equal(within(plain, points, asked, cap=50), expected)


@pytest.mark.parametrize("distance", ["euclidean", "hamming", "mixed"])
@pytest.mark.parametrize("radius", ["0", "1", "3/2", "1.7", "5"])
def test_a_declared_distance_is_the_documented_one(distance, radius):
    columns = ("x", "y", "day") if distance == "euclidean" else ("x", "y", "day", "city")
    more = f'distance = "{distance}"\nweights = {{x = 3, day = "1/3"}}'
    declared = declaration(model(columns=columns, radius=radius, more=more))
    metric = metric_of(declared, declared.models["default"])
    assert metric.columns == columns
    scales = [Fraction(1, 4), Fraction(1), Fraction(1), Fraction(1)][: len(columns)]  # step over scale
    weights = [Fraction(3), Fraction(1), Fraction(1, 3), Fraction(1)][: len(columns)]
    kinds = [False, False, False, True][: len(columns)]
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, (70, len(columns)))
    for one in values[:25]:
        expected = [
            naive.near(
                one.tolist(), other.tolist(), kinds=kinds, scales=scales, weights=weights, radius=Fraction(radius),
                distance=distance,
            )
            for other in values
        ]  # fmt: skip
        assert metric.near(one, values).tolist() == expected


def test_pairs_exactly_at_the_radius_are_within_it():
    declared = declaration(model(columns=("x", "y"), radius="5"))  # x counts in units of 2
    metric = metric_of(declared, declared.models["default"])
    points = np.array([[0, 0], [4 * 3, 4], [4 * 4, 3], [4 * 3, 5]])  # x is in half units: 3-4-5 after scaling
    assert within(metric, points, np.array([[0, 0]]), cap=9).tolist() == [3]


def test_a_weight_of_zero_leaves_a_column_out():
    declared = declaration(model(more="weights = {x = 0}"))
    assert metric_of(declared, declared.models["default"]).columns == ("y",)
    declared = declaration(model(more="weights = {x = 0, y = 0}"))
    with pytest.raises(DeclarationError, match="every column"):
        metric_of(declared, declared.models["default"])


def test_what_a_radius_cannot_bridge_is_named():
    declared = declaration(model(columns=("x", "y"), radius="0.5"))
    metric = metric_of(declared, declared.models["default"])
    assert metric.separating == ("y",)
    assert not metric.alone
    declared = declaration(model(columns=("x", "y"), radius="0"))
    assert metric_of(declared, declared.models["default"]).alone


def test_what_the_sums_of_a_machine_word_cannot_hold_is_counted_without_them():
    """One step is exactly at the radius and weighs 2^61: two steps, four times that, would come out below 0, and so near."""
    metric = Metric(columns=("a",), by_gap=(True,), ball=Ball((2**61,), 2**61), doubling=4)
    points, asked = np.array([[0], [1], [2], [9]]), np.array([[0], [5]])
    assert within(metric, points, asked, cap=9).tolist() == [2, 0]


def test_copies_of_a_row_are_counted_up_to_the_last_number_that_is_asked_for():
    for by_gap in (True, False):
        metric = Metric(columns=("a",), by_gap=(by_gap,), ball=Ball((1,), 1), doubling=4)
        points = np.array([[0], [0], [1], [5], [5]])
        held, near = of_rows(metric, points, until=3, cap=9)
        assert near.tolist() == ([3, 3, 3, 2, 2] if by_gap else [5] * 5)
        held, _ = of_rows(metric, points, until=int(near.max()), cap=9)
        assert held.tolist() == [2, 2, 1, 2, 2]


def test_a_value_between_two_that_differ_in_as_many_columns_as_the_radius_is_near_both():
    declared = declaration(model(columns=("x", "city"), radius="1", more='distance = "hamming"'))
    metric = metric_of(declared, declared.models["default"])
    assert metric.twice.ball == Ball(metric.ball.weights, 2 * metric.ball.limit)
