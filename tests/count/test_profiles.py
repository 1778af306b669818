import operator

import numpy as np
import pytest

from tests.count import twins
from wallflower.count.sensitivity import global_sensitivity
from wallflower.geometry.balls import Ball

ADJACENCIES = ["replace-one", "add-remove"]


def neighbour(points, rng, neighbours):
    """A table that differs by one row, from either side."""
    new = twins.moves(points, rng, 12)[None, :]
    if neighbours == "add-remove":
        if rng.random() < 0.5 or not len(points):
            return np.concatenate([points, new])
        return np.delete(points, rng.integers(len(points)), axis=0)
    if not len(points):
        return points
    other = points.copy()
    other[rng.integers(len(points))] = new
    return other


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


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_laws_of_a_profile_on_many_neighbouring_tables(width, neighbours):
    """Both laws, both ways, on 1,800 pairs each: 10,800 pairs, stars, rings, clumps and grids among them."""
    for seed in range(300):
        rng = np.random.default_rng((seed, width))
        points, ball, k = twins.tables(seed, width)
        laws(points, [neighbour(points, rng, neighbours) for _ in range(6)], ball, k, neighbours)


@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_laws_of_a_profile(width, neighbours):
    for seed in range(1000, 1060):
        rng = np.random.default_rng(seed)
        points, ball, k = twins.tables(seed, width)
        laws(points, [neighbour(points, rng, neighbours)], ball, k, neighbours)


@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("seed", range(40))
def test_local_sensitivity_is_within_the_first_bound_for_every_move_on_a_small_line(seed, neighbours):
    """Exhaustive: every row removed, every place of a small domain filled."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 7, (int(rng.integers(1, 7)), 1))
    ball, k = Ball((1,), int(rng.integers(0, 9))), int(rng.integers(1, 4))
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
    points, ball, k = twins.tables(2, 2)
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
