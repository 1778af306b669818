"""The grid against the naive twin: ties at the radius, copies, far rows, sizes at which keys end, and rows that are hard on it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.geometry import naive
from wallflower.geometry.balls import Ball
from wallflower.geometry.cells import CellColumn, ColumnCells, capped_counts, side, suits
from wallflower.geometry.index import MOST, RadiusIndex


def by_cells(points, ball, cap):
    return ColumnCells(points).counts(range(points.shape[1]), ball, cap)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 3))
    spread = draw(st.sampled_from([3, 12, 200]))
    cells = st.tuples(*[st.integers(-spread, spread)] * width)
    points = np.array(draw(st.lists(cells, max_size=60)), dtype=np.int64).reshape(-1, width)
    far = draw(st.lists(st.tuples(*[st.sampled_from([-MOST, 0, MOST])] * width), max_size=2))
    if far and draw(st.booleans()):
        points = np.concatenate([points, np.array(far, dtype=np.int64)])
    weights = draw(st.tuples(*[st.integers(1, 5)] * width))
    return points, Ball(weights, draw(st.integers(0, 400))), draw(st.integers(1, 12))


@settings(deadline=None, derandomize=True, max_examples=200)
@given(tables())
def test_counts_equal_the_naive_twin(table):
    points, ball, cap = table
    assert suits(points, ball, cap)
    counts = by_cells(points, ball, cap)
    if counts is not None:
        np.testing.assert_array_equal(counts, naive.counts(points, points, ball, cap))


@settings(deadline=None, derandomize=True)
@given(st.tuples(*[st.integers(1, 9)] * 3), st.integers(0, 10**6))
def test_any_two_rows_of_a_cell_are_near_each_other(weights, limit):
    for width in (1, 2, 3):
        ball = Ball(weights[:width], limit)
        widest = [side(ball, column) - 1 for column in range(width)]
        assert widest in ball


def test_a_ball_reaches_no_further_than_its_strips():
    """Rows at every offset up to the reach, each alone in its cell: whoever is near is found."""
    for weights, limit in itertools.product([(1, 1), (1, 4), (3, 2)], [0, 1, 7, 30, 99]):
        ball = Ball(weights, limit)
        ends = [ball.reach(column) + 2 for column in range(2)]
        grid = np.array(list(itertools.product(range(-ends[0], ends[0] + 1), range(-ends[1], ends[1] + 1))))
        np.testing.assert_array_equal(by_cells(grid, ball, 64), naive.counts(grid, grid, ball, 64))


def test_the_tree_and_the_grid_agree_on_many_rows():
    rng = np.random.default_rng(7)
    points = np.concatenate([rng.normal(0, 900, (20_000, 2)), rng.uniform(-9_000, 9_000, (5_000, 2))]).astype(np.int64)
    ball = Ball((2, 3), 40_000)
    np.testing.assert_array_equal(by_cells(points, ball, 11), RadiusIndex(points, ball.weights).counts(ball, cap=11))


def test_keys_that_do_not_fit_are_left_to_the_tree():
    points = np.array([[-MOST, -MOST], [MOST, MOST], [0, 0]], dtype=np.int64)
    ball = Ball((1, 1), 0)
    assert by_cells(points, ball, 3) is None
    assert not suits(points, Ball((1,) * 4, 5), 3)
    assert not suits(points, ball, 65)
    assert not suits(points, Ball((1, 1), 2**62), 3)


def test_a_table_without_rows_has_no_counts():
    assert by_cells(np.empty((0, 2), dtype=np.int64), Ball((1, 1), 9), 3).tolist() == []


def test_a_cell_that_is_too_wide_would_be_seen():
    """A planted bug: with cells of the whole radius, rows of one cell need not be near each other."""
    points, ball = np.array([[0, 0], [9, 9]]), Ball((1, 1), 100)
    wide = [CellColumn(points[:, c], np.full(2, 1), 3, 1) for c in range(2)]
    assert capped_counts(wide, ball, 2).tolist() == [2, 2]
    assert by_cells(points, ball, 2).tolist() == naive.counts(points, points, ball, 2).tolist() == [1, 1]


@pytest.mark.parametrize("chosen", [(0,), (2, 0), (1, 2), (0, 1, 2)])
def test_sets_of_columns_share_cells_and_keep_their_counts(chosen):
    rng = np.random.default_rng(3)
    points = rng.integers(0, 50, (300, 3))
    shared = ColumnCells(points)
    for other in itertools.permutations(range(3), 2):
        shared.counts(other, Ball((1, 1), 50), 5)
    some = np.ascontiguousarray(points[:, list(chosen)])
    ball = Ball((1,) * len(chosen), 25 * len(chosen))
    np.testing.assert_array_equal(shared.counts(chosen, ball, 5), naive.counts(some, some, ball, 5))
