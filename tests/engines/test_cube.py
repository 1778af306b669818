"""Sums that outgrow 64 bits, against Python's own integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contracts.engine_sources import categories, declare, numbers
from wallflower.engines import cube
from wallflower.errors import UsageError

MOST = 2**54 - 1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-MOST, MOST)), max_size=30))
def test_cells_of_equals_python_integers(rows):
    index = np.array([cell for cell, _ in rows], np.int64)
    z = np.array([value for _, value in rows], np.int64)
    cells = cube.cells_of(index, z, (2, 3), MOST)
    for cell in range(6):
        own = [value for at, value in rows if at == cell]
        place = np.unravel_index(cell, (2, 3))
        assert cells.counts[place] == len(own)
        assert cells.totals[place] == sum(own)
        assert cells.squares[place] == sum(value**2 for value in own)
        assert cells.least[place] == min(own, default=0)
        assert cells.most[place] == max(own, default=0)


@pytest.mark.parametrize("value", [MOST, -MOST])
def test_a_million_extreme_values_do_not_overflow(value):
    n = 1_000_000
    cells = cube.cells_of(np.zeros(n, np.int64), np.full(n, value), (1,), MOST)
    assert cells.totals[0] == n * value
    assert cells.squares[0] == n * value**2
    assert cells.squares[0] > 2**127  # 128 bits would not have held it


def test_the_short_way_for_small_values_agrees_with_the_long_way():
    draw = np.random.default_rng(3)
    index, z = draw.integers(0, 4, 1000), draw.integers(-(2**30), 2**30, 1000)
    short, long = cube.cells_of(index, z, (4,), 2**31 - 1), cube.cells_of(index, z, (4,), MOST)
    assert short.squares.tolist() == long.squares.tolist()
    assert short.totals.tolist() == long.totals.tolist()


def test_flat_index_is_row_major():
    codes = np.array([[0, 0], [0, 2], [1, 1]], np.int32)
    assert cube.flat_index(codes, (2, 3)).tolist() == [0, 2, 4]
    assert cube.flat_index(np.zeros((3, 0), np.int32), ()).tolist() == [0, 0, 0]


def test_a_cube_that_cannot_be_held_is_refused():
    columns = [categories(f"c{at}", [str(value) for value in range(100)]) for at in range(6)]
    with pytest.raises(UsageError, match="cells"):
        cube.shape_of(declare(*columns), [column.name for column in columns])


def test_a_centre_beyond_the_doubles_is_refused():
    with pytest.raises(UsageError, match="centre"):
        cube.most_distance(declare(numbers()), "x", 2**53 + 1)
