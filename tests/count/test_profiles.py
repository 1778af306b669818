import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.count import twins
from tests.count.strategies import ADJACENCIES, fixed, neighbours_of, tables
from wallflower.count.sensitivity import global_sensitivity
from wallflower.geometry.balls import Ball


def laws(points, others, ball, k, neighbours):
    cap = global_sensitivity(points.shape[1], k, neighbours)

    def seen(table):
        bounds = twins.bounds_of(table, ball, k=k, neighbours=neighbours, cap=cap)
        return twins.outliers(table, ball, k), [bounds[t] for t in range(cap + 1)]

    count, here = seen(points)
    for other in others:
        other_count, there = seen(other)
        assert abs(count - other_count) <= min(here[0], there[0])
        assert all(map(operator.le, here, there[1:]))
        assert all(map(operator.le, there, here[1:]))


@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("width", [1, 2, 3])
@settings(fixed, max_examples=60)
@given(st.data())
def test_the_laws_of_a_profile(width, neighbours, data):
    """Both laws, both ways: stars, rings, clumps and grids among the tables."""
    points, ball, k = data.draw(tables(width, least=0))
    laws(points, [data.draw(neighbours_of(points, neighbours)) for _ in range(2)], ball, k, neighbours)


@pytest.mark.campaign
@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("width", [1, 2, 3])
@settings(fixed, max_examples=2_000)
@given(st.data())
def test_the_laws_of_a_profile_on_many_neighbouring_tables(width, neighbours, data):
    points, ball, k = data.draw(tables(width, least=0))
    laws(points, [data.draw(neighbours_of(points, neighbours)) for _ in range(6)], ball, k, neighbours)


@pytest.mark.parametrize("neighbours", ADJACENCIES)
@settings(fixed, max_examples=60)
@given(cells=st.lists(st.integers(0, 6), min_size=1, max_size=6), limit=st.integers(0, 8), k=st.integers(1, 3))
def test_local_sensitivity_is_within_the_first_bound_for_every_move_on_a_small_line(neighbours, cells, limit, k):
    """Exhaustive: every row removed, every place of a small domain filled."""
    points, ball = np.array(cells, dtype=np.int64)[:, None], Ball((1,), limit)
    cap = global_sensitivity(1, k, neighbours)
    first = twins.bounds_of(points, ball, k=k, neighbours=neighbours, cap=cap)[0]
    count = twins.outliers(points, ball, k)
    places = [np.array([[place]]) for place in range(-4, 12)]
    removed = [np.delete(points, i, axis=0) for i in range(len(points))]
    others = removed + [np.concatenate([points, place]) for place in places]
    if neighbours == "replace-one":
        others = [np.concatenate([rest, place]) for rest in removed for place in places]
    assert max(abs(count - twins.outliers(other, ball, k)) for other in others) <= first


@pytest.mark.parametrize("neighbours", ADJACENCIES)
def test_touching_rows_that_doubles_tear_apart_are_within_the_bound(neighbours):
    # -0.6, 4.0 and 1000 with r = 2.3, in tenths: a row moved to 1.7 makes three outliers none.
    ball = Ball((1,), 23**2)
    points = np.array([[-6], [40], [10_000]])
    other = np.array([[-6], [40], [17]])
    assert twins.outliers(points, ball, 1) - twins.outliers(other, ball, 1) == 3
    assert twins.bounds_of(points, ball, k=1, neighbours="replace-one", cap=3)[0] == 3
    laws(points, [points[:2]], ball, 1, "add-remove")


def test_a_profile_is_its_cap_from_the_horizon_on():
    points, ball, k = np.repeat([[0, 0], [3, 1], [-6, 5]], [2, 4, 1], axis=0), Ball((1, 2), 60), 3
    short = twins.bounds_of(points, ball, k=k, neighbours="replace-one", cap=50, horizon=2)
    long = twins.bounds_of(points, ball, k=k, neighbours="replace-one", cap=50)
    assert short.bounds == long.bounds[:2]
    assert short[2] == short[100] == 50


def test_both_thresholds_are_needed():
    """With only the rows at degree k, or only those at k − 1, some neighbour moves the count further than the bound."""
    ball = Ball((1,), 1)
    calm = np.array([[0], [100]])  # k = 1: degrees 0 and 0, so nothing is at degree k = 1
    joined = np.array([[0], [1]])
    assert abs(twins.outliers(calm, ball, 1) - twins.outliers(joined, ball, 1)) == 2
    assert twins.bounds_of(calm, ball, k=1, neighbours="replace-one", cap=3)[0] >= 2  # from degree k − 1
    assert twins.bounds_of(joined, ball, k=1, neighbours="replace-one", cap=3)[0] >= 2  # from degree k
