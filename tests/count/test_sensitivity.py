import itertools

import numpy as np
import pytest

from tests.count import twins
from wallflower.count.sensitivity import global_sensitivity, packing
from wallflower.geometry.balls import Ball


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_pentagon_attains_the_sensitivity_of_two_columns(k):
    ball, corners = twins.pentagon(100)
    clumps = np.repeat(corners, k, axis=0)
    with_hub = np.concatenate([clumps, [[0, 0]]])
    moved = np.concatenate([clumps, [[10_000, 0]]])
    assert twins.outliers(with_hub, ball, k) == 0
    assert twins.outliers(moved, ball, k) == 5 * k + 1 == global_sensitivity(2, k, "replace-one")
    assert twins.outliers(clumps, ball, k) == 5 * k == global_sensitivity(2, k, "add-remove")


@pytest.mark.parametrize("k", [1, 3, 5])
def test_two_ends_attain_the_sensitivity_of_one_column(k):
    ball = Ball((1,), 100)
    clumps = np.repeat([[10], [-10]], k, axis=0)
    moved = np.concatenate([clumps, [[10_000]]])
    assert twins.outliers(np.concatenate([clumps, [[0]]]), ball, k) == 0
    assert twins.outliers(moved, ball, k) == 2 * k + 1 == global_sensitivity(1, k, "replace-one")


def test_the_icosahedron_attains_twelve_in_three_columns():
    golden = (1 + 5**0.5) / 2
    corners = [p for a in (1, -1) for b in (golden, -golden) for p in ((0, a, b), (a, b, 0), (b, 0, a))]
    corners = np.floor(np.array(corners) / np.hypot(1, golden) * 1000).astype(np.int64)
    corners = np.where(corners < 0, corners + 1, corners)
    ball = Ball((1, 1, 1), 1000**2)
    assert all(twins.near(ball, corner, (0, 0, 0)) for corner in corners)
    assert not any(twins.near(ball, a, b) for a, b in itertools.combinations(corners, 2))
    assert len(corners) == 12 == packing(3)


def test_a_hexagon_does_not_count_because_its_corners_are_neighbours():
    ball = Ball((1, 3), 4)  # the triangular lattice: (2, 0), (1, 1), … are all exactly one radius away
    corners = [(2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1)]
    assert all(twins.near(ball, corner, (0, 0)) for corner in corners)
    assert all(twins.near(ball, a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True))


@pytest.mark.parametrize(("width", "side", "rows"), [(1, 7, 4), (1, 5, 5), (2, 3, 4)])
@pytest.mark.parametrize("k", [1, 2])
def test_no_pair_of_small_tables_differs_by_more(width, side, rows, k):
    """Exhaustive over every table of up to `rows` rows on a small grid."""
    places = list(itertools.product(range(side), repeat=width))
    for limit in (1, 2, 4):
        ball = Ball((1,) * width, limit)
        count = {
            table: twins.outliers(np.array(table).reshape(-1, width), ball, k)
            for size in range(rows + 1)
            for table in itertools.combinations_with_replacement(places, size)
        }
        for table, here in count.items():
            rests = [table[:i] + table[i + 1 :] for i in range(len(table))]
            assert all(abs(here - count[rest]) <= global_sensitivity(width, k, "add-remove") for rest in rests)
            for rest in rests:
                for place in places:
                    other = tuple(sorted((*rest, place)))
                    assert abs(here - count[other]) <= global_sensitivity(width, k, "replace-one")


def test_the_printed_lower_bound_is_false_for_few_rows():
    """Five rows in one column, k = 3: the paper's Theorem 4 says that some change moves the count by 5; none does."""
    places = range(9)
    ball, k = Ball((1,), 4), 3
    count = {
        table: twins.outliers(np.array(table).reshape(-1, 1), ball, k)
        for table in itertools.combinations_with_replacement(places, 5)
    }
    worst = max(
        abs(here - count[tuple(sorted((*table[:i], *table[i + 1 :], place)))])
        for table, here in count.items()
        for i in range(5)
        for place in places
    )
    assert worst == 4 < min(5, 2 * 1 * k + 1)


def test_the_packing_bound_grows_and_stays_above_what_is_known():
    known = {14: 1606, 16: 4320}  # kissing numbers that configurations attain
    assert all(packing(dimension) >= attained for dimension, attained in known.items())
    assert all(packing(d) < packing(d + 1) for d in range(1, 40))
