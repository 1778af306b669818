"""The distance to flipping: exact against exhaustive search over moves, never moved by more than one, fast = slow."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.detectors import Grubbs
from wallflower.detectors.flips import Flips


def make(low=2, high=5, least=3, cap=40, alpha="0.05"):
    return Flips(detector=Grubbs(alpha=alpha), low=low, high=high, least=least, cap=cap)


def state(zs):
    return len(zs), sum(zs), sum(z * z for z in zs)


def outlying(flips, size, total, squares):
    return size >= flips.floor and flips.detector.exceeds(size, total, squares)


def by_search(flips, start, limit):
    """Breadth-first over whole-number moves: an upper bound of the relaxed distance, and usually equal to it."""
    seen, frontier = {start}, [start]
    for moves in range(limit + 1):
        if any(not outlying(flips, *s) for s in frontier):
            return moves
        following = set()
        for n, s, q in frontier:
            for z, sign in itertools.product(range(-flips.low, flips.high + 1), (1, -1)):
                following.add((n + sign, s + sign * z, q + sign * z * z))
        frontier = list(following - seen)
        seen |= following
    return None


def by_every_split(flips, m, size, total, squares):
    """The same question for every number of end points among the additions, and removals on a fine grid."""
    for b in range(m + 1):
        a = m - b
        if size + a - b < flips.floor:
            return True
        kappa = int(flips.detector.critical(np.array([size + a - b]))[0]) / 2**20
        for j in range(a + 1):
            t = total + j * flips.high - (a - j) * flips.low
            q = squares + j * flips.high**2 + (a - j) * flips.low**2
            for w in np.linspace(-b * flips.low, b * flips.high, 400 if b else 1):
                if (t - w) ** 2 <= kappa * (q - (w * w / b if b else 0)):
                    return True
    return False


def random_state(dice, flips, most=60):
    """Most values in a narrow band far from v, so that v is often an outlier."""
    n = dice.randrange(3, most)
    centre = dice.choice([-flips.low, flips.high, flips.high - 1])
    zs = [0] + [min(flips.high, max(-flips.low, centre + dice.choice([-1, 0, 0, 0, 1]))) for _ in range(n)]
    return state(zs)


def test_the_distance_is_the_shortest_way_by_search():
    dice, flips, found = random.Random(1), make(low=0, high=3, cap=4), set()
    for _ in range(60):
        start = random_state(dice, flips, 70)
        expected = by_search(flips, start, 3)
        distance = flips.distance(*start)
        assert distance <= (4 if expected is None else expected)
        if expected is not None and expected <= 2:
            assert distance in {expected, expected - 1}  # removals of fractions may be one move better
        found.add(distance)
    assert {0, 1, 2} <= found


def test_the_formula_finds_what_every_split_finds():
    dice, found = random.Random(2), 0
    for _ in range(80):
        flips = make(low=dice.randrange(4), high=dice.randrange(1, 9), least=dice.choice([3, 8]))
        size, total, squares = random_state(dice, flips)
        for m in range(5):
            exactly = flips.within(m, size, total, squares)
            assert exactly or not by_every_split(flips, m, size, total, squares)
            found += not exactly
    assert found > 50


@settings(max_examples=300, deadline=None)
@given(
    zs=st.lists(st.integers(-3, 12), min_size=1, max_size=60),
    pull=st.integers(0, 40),
    added=st.integers(-3, 12),
    least=st.sampled_from([1, 3, 12]),
)
def test_no_row_moves_the_distance_by_more_than_one(zs, pull, added, least):
    flips = make(low=3, high=12, least=least, cap=30)
    zs = [0, *zs, *([11] * pull)]
    before, after = flips.distance(*state(zs)), flips.distance(*state([*zs, added]))
    assert abs(before - after) <= 1
    assert (before == 0) == (not outlying(flips, *state(zs)))


def test_enough_moves_stay_enough():
    dice = random.Random(3)
    for _ in range(60):
        flips = make(high=9, least=dice.choice([3, 20]))
        start = random_state(dice, flips)
        answers = [flips.within(m, *start) for m in range(12)]
        assert answers == sorted(answers)


@pytest.mark.parametrize(("low", "high"), [(2, 5), (0, 9), (7, 0), (10**6, 4 * 10**8)])
def test_many_states_at_once_give_the_same_distances(low, high):
    dice = random.Random(4)
    flips = make(low=low, high=high, least=5, cap=50)
    states = [random_state(dice, flips, 400) for _ in range(300)]
    sizes, totals, squares = (
        np.array(column, dtype=kind)
        for column, kind in zip(zip(*states, strict=True), (np.int64, object, object), strict=True)
    )
    found = flips.distances(sizes, totals.astype(np.int64), squares.astype(np.float64), states.__getitem__)
    assert found.tolist() == [flips.distance(*s) for s in states]


def test_the_cap_is_a_minimum():
    flips = make(low=0, high=5, cap=3)
    strong = state([0] + [5] * 300 + [4] * 20)
    assert flips.distance(*strong) == 3
    assert make(low=0, high=5, cap=80).distance(*strong) > 3


def test_a_cap_beyond_all_rows_needs_no_larger_table():
    """The cap grows with max_rows and 1/ε, whatever the rows are: nothing may be as large as it after the charge."""
    dice, huge, large = random.Random(6), make(high=9, least=5, cap=10**12), make(high=9, least=5, cap=2_000)
    states = [random_state(dice, huge, 400) for _ in range(100)]
    states += [(0, 0, 0), (1, 0, 0), (4, 9, 81), (5, 36, 324)]
    sizes = np.array([size for size, _, _ in states])
    assert huge.reached(sizes) <= 3 * sizes.max() + 2
    totals = np.array([total for _, total, _ in states])
    squares = np.array([square for _, _, square in states], dtype=np.float64)
    expected = [large.distance(*each) for each in states]
    assert huge.distances(sizes, totals, squares, states.__getitem__).tolist() == expected
    assert [huge.distance(*each) for each in states] == expected
    for each in states:  # one at a time, the table is no larger than that state asks for
        one = [np.array([number]) for number in each]
        assert huge.distances(one[0], one[1], one[2].astype(np.float64), lambda _, each=each: each) == huge.distance(
            *each
        )
