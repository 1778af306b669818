"""The fast exact checks against the slow obvious ones, on random and on tied inputs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publish import brute
from tests.publish.spaces import number, space

from wallflower.geometry.face_kernels import FREE, HIGH, LOW
from wallflower.publish import checker as module
from wallflower.publish.checker import Checker, Since
from wallflower.publish.exposure import exposed


@st.composite
def tables(draw):
    quasi = draw(st.integers(1, 3))
    sensitive = draw(st.integers(1, 2))
    lasts = [draw(st.integers(1, 7)) for _ in range(quasi + sensitive)]
    weights = [draw(st.sampled_from([1, 1, 2, 0])) for _ in range(quasi)] + [1] * sensitive
    p = Fraction(draw(st.integers(1, 10)), 10)
    d = draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(17, 20), Fraction(1, 3), Fraction(3, 2)]))
    rows = draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    places = np.column_stack([rng.integers(0, last + 1, rows) for last in lasts]).astype(np.int64)
    axes = [number(f"q{i}", lasts[i], weight=weights[i]) for i in range(quasi)]
    others = [number(f"s{i}", lasts[quasi + i], role="sensitive") for i in range(sensitive)]
    group = rng.choice(rows, size=min(rows, draw(st.integers(1, 6))), replace=False)
    return space(axes, others, p=p, d=d), places, group


@given(tables())
@settings(max_examples=150, deadline=None)
def test_every_level_agrees_with_the_brute_force_twin(case):
    where, places, group = case
    quasi = len(where.quasi)
    checker = Checker(where, places)
    low, high = places[group, :quasi].min(axis=0), places[group, :quasi].max(axis=0)
    values = np.unique(places[group, quasi:], axis=0)
    outliers = [brute.outlier(where, places, row) for row in places]
    assert checker.outlying.tolist() == outliers
    assert checker.plain("strict", low, high, values) == brute.strict(where, places, low, high, values)
    hidden = not brute.exposed(where, places, low, high, values)
    assert checker.plain("attack", low, high, values) == hidden
    candidate = hidden and brute.candidate(where, places, low, high, values)
    assert checker.plain("candidate", low, high, values) == candidate


@pytest.mark.parametrize("d", ["1", "0.85", "1/3"])
def test_counts_are_exact_where_many_rows_are_at_exactly_d(d):
    rng = np.random.default_rng(1)
    where = space([number("a", 3), number("b", 6)], [number("s", 9)], p="1/2", d=d)
    places = np.column_stack([rng.integers(0, n, 700) for n in (4, 7, 10)]).astype(np.int64)
    checker = Checker(where, places)
    from wallflower.geometry.face_kernels import WIDTH, near

    room = np.empty(WIDTH, np.float32)
    mid, half = np.empty(3, np.float32), np.empty(3, np.float32)
    for point in np.unique(places, axis=0)[::5]:
        assert near(checker.blocks, point, mid, half, room) == brute.near(where, places, point)


def test_a_common_denominator_that_does_not_fit_is_rounded_by_less_than_a_millionth_millionth():
    axes = [number(f"q{i}", prime) for i, prime in enumerate([999_983, 999_979, 999_961, 999_959])]
    where = space(axes, [number("s", 5_000_011)], p="1/2", d="0.85")
    for factor, true in zip(where.ball.weights, brute.squares(where), strict=True):
        assert abs(Fraction(factor, where.ball.limit) * where.d**2 / true - 1) < Fraction(1, 10**12)


@pytest.mark.parametrize("d", ["0.00001", "0.0000001"])
def test_a_radius_too_small_for_float32_is_still_exact(d):
    rng = np.random.default_rng(2)
    where = space([number("a", 10**9)], [number("s", 10**9, role="sensitive")], p="0.8", d=d)
    places = (5 * 10**8 + rng.integers(0, 4000, (60, 2))).astype(np.int64)
    assert Checker(where, places).outlying.tolist() == [brute.outlier(where, places, row) for row in places]


def test_the_twin_would_notice_a_count_that_is_off_by_one():
    """A planted bug: one near row too few is enough. The comparison above must be able to fail."""
    rng = np.random.default_rng(4)
    caught = 0
    for _ in range(60):
        where = space([number("a", 4)], [number("s", 4, role="sensitive")], p="1/2", d="1/2")
        places = rng.integers(0, 5, (12, 2)).astype(np.int64)
        checker = Checker(where, places)
        checker.__dict__["blocks"] = checker.blocks._replace(enough=checker.blocks.enough - 1)
        low, high, values = places[:3, :1].min(axis=0), places[:3, :1].max(axis=0), np.unique(places[:3, 1:], axis=0)
        caught += checker.plain("strict", low, high, values) != brute.strict(where, places, low, high, values)
    assert caught > 0


def test_a_column_that_counts_nothing_in_the_distance_hides_no_outlier():
    """The outlier stands between the ends of a column without weight, which binds nobody: Theorem 4.1 finds it all the same."""
    places = np.array([[3, 1, 6], [2, 1, 1], [3, 0, 3], [4, 3, 6], [3, 2, 6]])
    where = space([number("q", 4), number("free", 4, weight=0)], [number("s", 6, role="sensitive")], p="1/2", d="1/2")
    low, high, values = np.array([2, 0]), np.array([4, 3]), np.array([[1], [3], [6]])
    assert brute.exposed(where, places, low, high, values) == {(2, 1)}
    checker = Checker(where, places)
    found = exposed(checker, low, high, checker.by_closeness(values))
    assert checker.places[found.single][:, :2].tolist() == [[2, 1]]


@pytest.mark.parametrize("patience", [0, 1, 2])
def test_a_box_with_corners_that_nobody_has_looked_at_is_refused(patience, monkeypatch):
    """A limit on work may refuse a group that is plain, and lets none through that is not."""
    monkeypatch.setattr(module, "PATIENCE", patience)
    rng = np.random.default_rng(7)
    refused, leaky = 0, 0
    for _ in range(40):
        where = space([number("a", 6), number("b", 6)], [number("s", 6, role="sensitive")], p="7/10", d="1/2")
        places = rng.integers(0, 7, (9, 3)).astype(np.int64)
        low, high = places[:4, :2].min(axis=0), places[:4, :2].max(axis=0)
        values = np.unique(places[:4, 2:], axis=0)
        plain = brute.strict(where, places, low, high, values)
        passes = Checker(where, places).plain("strict", low, high, values)
        assert plain or not passes
        refused, leaky = refused + (plain and not passes), leaky + (not plain)
    assert leaky > 5
    assert refused > 0


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1, max_size=4))
@settings(deadline=None)
def test_every_corner_that_a_box_has_got_since_is_looked_at_once(grown):
    """`grown`: by how much each column has grown below and above."""
    before = np.full(len(grown), 5), np.full(len(grown), 9)
    after = before[0] - [below for below, _ in grown], before[1] + [above for _, above in grown]
    fresh = Since(*before, np.zeros((0, 1), dtype=np.int64)).fresh_faces(*after)
    looked = [corner for face in fresh for corner in product(*((LOW, HIGH) if s == FREE else (s,) for s in face))]
    grew = [{LOW: below > 0, HIGH: above > 0} for below, above in grown]
    new = {
        corner
        for corner in product((LOW, HIGH), repeat=len(grown))
        if any(sides[side] for sides, side in zip(grew, corner, strict=True))
    }
    assert sorted(looked) == sorted(new)
