"""A sample guides the exact checks, many small blocks hold the rows, and grown groups are checked by what is new in them:
none of this may change an answer. Samples of a handful of rows guide badly, which is the point.
"""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publish import brute
from tests.publish.spaces import category, number, space
from tests.publish.test_anonymise import LETTERS
from tests.publish.test_checker import tables

from wallflower.geometry import blocks as layout
from wallflower.geometry.face_kernels import ENDS, FARTHEST, INSIDE, NO, UNSURE, WIDTH, YES, face
from wallflower.publish import population as population_module
from wallflower.publish.checker import Checker, Since
from wallflower.publish.grouping import Workshop
from wallflower.publish.growth_kernels import BUNCH, cheapest
from wallflower.publish.loss import information_loss
from wallflower.publish.offers import offered

LEVELS = {
    "strict": brute.strict,
    "candidate": lambda *case: brute.candidate(*case) and not brute.exposed(*case),
}


@contextmanager
def misled(sample, width):
    """Guides of about `sample` rows, blocks of at most `width`."""
    parts = layout._parts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(population_module, "SAMPLE", sample)
        patch.setattr(layout, "_parts", lambda places, x, _: parts(places, x, width))
        yield


def a_group(checker, members):
    quasi = checker.quasi
    low, high = checker.places[members, :quasi].min(axis=0), checker.places[members, :quasi].max(axis=0)
    return low, high, checker.by_closeness(checker.places[members, quasi:])


@given(tables(), st.integers(1, 5), st.integers(2, 5))
@settings(max_examples=200, deadline=None)
def test_exact_answers_do_not_depend_on_the_guide_or_the_blocks(case, sample, width):
    where, places, members = case
    with misled(sample, width):
        checker = Checker(where, places)
        assert checker.blocks.fill.sum() == len(places)
        assert sorted(row for b, many in enumerate(checker.blocks.fill) for row in _slots(checker, b)[:many]) == list(
            range(len(places))
        )
        group = a_group(checker, members)
        assert checker.outlying.tolist() == [brute.outlier(where, places, row) for row in places]
        for level, plain in LEVELS.items():
            expected = plain(where, places, *group)
            assert checker.verdict(level, *group).failed != expected
            assert checker.guided(level, *group).failed or expected


def _slots(checker, block):
    return checker.slots.reshape(len(checker.blocks.fill), -1)[block].tolist()


@given(tables(), st.integers(1, 5), st.data())
@settings(max_examples=200, deadline=None)
def test_a_grown_group_gets_the_answer_that_a_new_one_would(case, sample, data):
    where, places, members = case
    with misled(sample, 4):
        checker = Checker(where, places)
        more = data.draw(st.lists(st.integers(0, len(places) - 1), max_size=4))
        before, after = a_group(checker, members), a_group(checker, np.concatenate([members, np.array(more, int)]))
        known = {tuple(value) for value in before[2].tolist()}
        added = np.array([v for v in after[2].tolist() if tuple(v) not in known], dtype=np.int64)
        for level in LEVELS:
            first = checker.verdict(level, *before)
            if not first.failed:
                since = Since(*before[:2], added.reshape(-1, before[2].shape[1]), first.anchor)
                fresh = checker.verdict(level, *after)
                grown = checker.verdict(level, *after, since=since)
                assert grown.failed == fresh.failed
                assert checker.guided(level, *after, since=since).failed or not fresh.failed
                for anchor in (first.anchor, grown.anchor) if level == "strict" else ():
                    assert anchor is None or _all_normal(checker, anchor, before[2])


def _all_normal(checker, spot, values):
    return checker.normal(np.column_stack([np.tile(spot, (len(values), 1)), values])).all()


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=4))
def test_fresh_faces_name_every_new_corner_once_and_no_old_one(columns):
    inner = np.array([sorted(column[:2]) for column in columns])
    outer = np.array([sorted(column) for column in columns])[:, [0, 3]]
    since = Since(inner[:, 0], inner[:, 1], np.zeros((0, 1), dtype=np.int64))
    low, high = outer.T
    named = []
    for sides in since.fresh_faces(low, high):
        ends = [[(low, high)[side - 1][a]] if side else sorted({low[a], high[a]}) for a, side in enumerate(sides)]
        named += list(np.array(np.meshgrid(*ends)).reshape(len(columns), -1).T.tolist())
    new = {tuple(c) for c in brute.corners(low, high)} - {tuple(c) for c in brute.corners(inner[:, 0], inner[:, 1])}
    assert {tuple(c) for c in named} >= new
    assert len({tuple(c) for c in named}) == len(named)


def test_the_comparison_would_notice_a_guide_that_decides():
    """A planted bug: the guide's word taken for the rows'."""
    rng = np.random.default_rng(5)
    where = space([number("a", 6)], [number("s", 4, role="sensitive")], p="1/2", d="1/2")
    wrong = 0
    for _ in range(40):
        places = np.column_stack([rng.integers(0, 7, 25), rng.integers(0, 5, 25)]).astype(np.int64)
        with misled(3, 4):
            checker = Checker(where, places)
        checker.__dict__["blocks"] = checker.guide
        low, high, values = a_group(checker, np.arange(4))
        wrong += checker.verdict("strict", low, high, values).failed == brute.strict(where, places, low, high, values)
    assert wrong > 0


@pytest.mark.parametrize("level", ["strict", "candidate"])
def test_a_value_that_is_new_since_is_looked_at(level):
    where = space([number("a", 3)], [number("s", 20, role="sensitive")], p="0.9", d="0.3")
    places = np.array([[i % 2, 9 + i % 4] for i in range(40)] + [[0, 20]])
    with misled(3, 4):
        checker = Checker(where, places)
    low, high, values = a_group(checker, np.arange(8))
    passed = checker.verdict(level, low, high, values)
    assert not passed.failed
    more = checker.by_closeness(np.concatenate([values, [[20]]]))
    since = Since(low, high, np.array([[20]]), passed.anchor)
    assert checker.verdict(level, low, high, more, since=since).bad_values.tolist() == [[20]]


def brute_squares(mode, x, mid, half):
    """Squared distance of every row to the face: to its farthest point, to the nearest of its ends, to its inside."""
    gap = np.abs(x - mid)
    return ((gap + half if mode == FARTHEST else gap - half if mode == ENDS else np.maximum(gap - half, 0)) ** 2).sum(1)


@pytest.mark.parametrize("mode", [FARTHEST, ENDS, INSIDE])
def test_a_face_is_decided_as_its_rows_one_by_one_decide_it(mode):
    rng = np.random.default_rng(mode)
    said = {YES: 0, NO: 0}
    for _ in range(300):
        lasts = rng.integers(1, 5, 4)
        axes = [number(f"q{a}", int(last), weight=int(rng.integers(0, 3))) for a, last in enumerate(lasts[:3])]
        where = space(axes, [number("s", int(lasts[3]), role="sensitive")], p="1/2", d="0.85")
        places = np.column_stack([rng.integers(0, last + 1, 60) for last in lasts]).astype(np.int64)
        with misled(3, int(rng.integers(2, 30))):
            checker = Checker(where, places)
        blocks = checker.blocks
        ends = np.sort(rng.integers(0, lasts + 1, (2, 4)), axis=0)
        mid = ((ends.mean(axis=0) - blocks.centre) * blocks.scale).astype(np.float32)
        half = (np.diff(ends, axis=0)[0] / 2 * blocks.scale).astype(np.float32)
        squares = brute_squares(mode, (places - blocks.centre) * blocks.scale, mid, half)
        blocks = blocks._replace(enough=int(np.count_nonzero(squares <= 1) + rng.integers(-2, 2)))
        answer = face(blocks, mid, half, mode, np.empty(WIDTH, np.float32))
        if answer == UNSURE:
            assert (np.abs(squares - 1) < 1e-4).any()
        else:
            sure, maybe = (np.count_nonzero(squares <= 1 + edge) > blocks.enough for edge in (-1e-9, 1e-9))
            assert (answer == YES) in {sure, maybe}
            said[answer] += 1
    assert min(said.values()) > 50


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_the_cheapest_groups_are_those_of_the_slow_search(seed):
    rng = np.random.default_rng(seed)
    where = space(
        [number("a", 60), category("letter", LETTERS, list("aelmktp"))],
        [number("s", 9, role="sensitive")],
        p="1/2",
        d="1/2",
    )
    places = np.column_stack([rng.integers(0, 61, 400), rng.integers(0, 7, 400), rng.integers(0, 10, 400)])
    shop = Workshop(Checker(where, places.astype(np.int64)), "strict", 2)
    groups = [shop.made(rng.choice(400, int(rng.integers(1, 9)), replace=False)) for _ in range(3 * BUNCH + 5)]
    offers = offered(groups, shop)
    lost = [_lost(where, g.low, g.high) for g in groups]
    for row in places[:40]:
        best, cost = np.empty(3, dtype=np.int64), np.empty(3)
        cheapest(row[:2].copy(), offers, shop.trees, best, cost)
        wide = [where.round_up(np.minimum(g.low, row[:2]), np.maximum(g.high, row[:2])) for g in groups]
        growth = [
            (len(g.rows) + 1) * _lost(where, *w) - len(g.rows) * old
            for g, w, old in zip(groups, wide, lost, strict=True)
        ]
        np.testing.assert_allclose(cost, np.sort(growth)[:3])
        np.testing.assert_allclose(np.array(growth)[best], cost)


def _lost(where, low, high):
    return sum(information_loss(axis, int(low[a]), int(high[a])) for a, axis in enumerate(where.quasi))


@pytest.mark.parametrize("last", [255, 256, 65_535, 65_536, 2**31])
def test_counts_are_exact_in_columns_of_every_width_of_integer(last):
    rng = np.random.default_rng(last)
    where = space([number("a", last), number("b", 1)], [number("s", 3, role="sensitive")], p="1/2", d="0.4")
    places = np.column_stack([rng.integers(0, last + 1, 80), rng.integers(0, 2, 80), rng.integers(0, 4, 80)])
    places[:2, 0] = 0, last
    checker = Checker(where, places.astype(np.int64))
    assert checker.outlying.tolist() == [brute.outlier(where, places, row) for row in places]
    with pytest.raises(ValueError, match="outside its column"):
        Checker(where, np.array([[last + 1, 0, 0]]))
