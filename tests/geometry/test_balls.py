from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallflower.geometry.balls import Ball, normalised_ball

positive = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


@given(
    st.lists(st.tuples(positive, positive, st.integers(-50, 50)), min_size=1, max_size=4),
    positive,
)
def test_the_integer_inequality_decides_the_declared_distance(columns, radius):
    steps, scales, gaps = zip(*columns, strict=True)
    mean_square = sum((gap * step / scale) ** 2 for step, scale, gap in columns) / len(columns)
    ball = normalised_ball(steps=steps, scales=scales, radius=radius)
    assert (gaps in ball) == (mean_square <= radius**2)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=2), st.lists(st.integers(-9, 9), min_size=2, max_size=2))
def test_two_rows_near_a_third_are_within_twice_the_radius(one, other):
    ball = Ball((2, 3), 90)
    if one in ball and other in ball:
        assert [a - b for a, b in zip(one, other, strict=True)] in ball.twice


def test_touching_rows_are_within_the_radius_where_doubles_say_they_are_not():
    # 4.0 <= -0.6 + 2 * 2.3 is False in doubles; the window test of a smooth bound must not fall for it.
    assert not 4.0 <= -0.6 + 2 * 2.3
    ball = normalised_ball(steps=[Fraction("0.1")], scales=[Fraction(1)], radius=Fraction("2.3"))
    assert (40 - 17,) in ball
    assert (-6 - 17,) in ball
    assert (40 + 6,) in ball.twice


@pytest.mark.parametrize("column", [0, 1])
def test_reach_is_the_last_step_inside(column):
    ball = Ball((2, 7), 1000)
    gap = [0, 0]
    gap[column] = ball.reach(column)
    assert gap in ball
    gap[column] += 1
    assert gap not in ball
