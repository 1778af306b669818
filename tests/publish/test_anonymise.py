"""Grouping: every row once or suppressed, every group k values and plain for an independent checker, whatever the table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publish import brute, brute_worlds
from tests.publish.spaces import category, number, space

from wallflower.publish.anonymise import anonymise
from wallflower.publish.attacks import attack
from wallflower.publish.checker import Checker
from wallflower.publish.floor import floor
from wallflower.publish.grouping import Workshop
from wallflower.publish.published_file import PublishedGroup
from wallflower.publish.worlds import Worlds

LETTERS = {"vowel": ["a", "e"], "consonant": {"soft": ["l", "m"], "hard": ["k", "t", "p"]}}
CHECK = {
    "strict": brute.strict,
    "candidate": lambda *case: brute.candidate(*case) and not brute.exposed(*case),
    "attack": lambda *case: not brute.exposed(*case),
}


def check(where, places, grouping, *, level, k, all_groups=True):
    quasi = len(where.quasi)
    rows = [group.rows for group in grouping.groups]
    everyone = np.sort(np.concatenate([*rows, grouping.suppressed])) if rows else np.sort(grouping.suppressed)
    assert everyone.tolist() == list(range(len(places)))
    for group in grouping.groups if all_groups else grouping.groups[::7]:
        part = places[group.rows]
        assert all((group.low <= row[:quasi]).all() and (row[:quasi] <= group.high).all() for row in part)
        assert min(len(set(part[:, a])) for a in range(quasi, part.shape[1])) >= k
        for a, axis in enumerate(where.quasi):
            assert axis.round_up(int(group.low[a]), int(group.high[a])) == (group.low[a], group.high[a])
            assert axis.read(axis.text(int(group.low[a]), int(group.high[a]))) == (group.low[a], group.high[a])
        assert CHECK[level](where, places, group.low, group.high, np.unique(part[:, quasi:], axis=0))


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    axes = [number("age", 9), category("letter", LETTERS, list("aelmktp"))][: draw(st.integers(1, 2))]
    sensitive = [number("income", 6, role="sensitive"), category("ill", "ordered", list("xyz"), role="sensitive")]
    sensitive = sensitive[: draw(st.integers(1, 2))]
    where = space(
        axes, sensitive, p=draw(st.sampled_from(["0.3", "0.7", "1"])), d=draw(st.sampled_from(["0.4", "1", "2"]))
    )
    places = np.column_stack([rng.integers(0, axis.size, rows) for axis in where.axes]).astype(np.int64)
    return where, places[np.lexsort(places.T[::-1])].reshape(rows, len(where.axes))


@given(
    tables(), st.sampled_from(["strict", "candidate", "attack"]), st.sampled_from(["hybrid", "expc"]), st.integers(1, 3)
)
@settings(max_examples=120, deadline=None)
def test_every_row_is_in_one_plain_group_or_suppressed(case, level, method, k):
    where, places = case
    checker = Checker(where, places)
    grouping = anonymise(checker, level=level, k=k, method=method)
    check(where, places, grouping, level=level, k=k)
    found = attack(
        checker, [PublishedGroup(g.low, g.high, places[g.rows, len(where.quasi) :]) for g in grouping.groups]
    )
    assert not found.leaks
    assert level != "candidate" or not (found.abnormal_values or found.abnormal_people)
    assert not found.unexplained
    assert floor(checker, level, grouping.suppressed).rows <= len(grouping.suppressed)


@given(tables(), st.sampled_from(["matching", "matching+candidate"]), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_everyone_published_at_matching_keeps_their_possible_values(case, level, k, least):
    where, places = case
    checker = Checker(where, places)
    grouping = anonymise(checker, level=level, k=k, method="shed", least=min(k, least))
    seen = np.concatenate([*(g.rows for g in grouping.groups), grouping.suppressed])
    assert sorted(seen.tolist()) == list(range(len(places)))
    for group in grouping.groups:
        if len(group.rows) <= 6:
            assert brute_worlds.Group(where, places, group.rows).valid(k, min(k, least))
        assert Worlds(checker).members(group.rows).valid(k=k, least=min(k, least))
        if level == "matching+candidate":
            assert brute.candidate(
                where, places, group.low, group.high, np.unique(places[group.rows, len(where.quasi) :], axis=0)
            )
    found = attack(
        checker,
        [PublishedGroup(g.low, g.high, places[g.rows, len(where.quasi) :]) for g in grouping.groups],
        [g.rows for g in grouping.groups],
    )
    assert not grouping.groups or found.guesses.fewest(outlying=False) >= min(k, least)
    assert floor(checker, level, grouping.suppressed, least=min(k, least)).rows <= len(grouping.suppressed)


def test_a_repair_that_keeps_everybody_is_no_pass():
    """Who has no normal value may match the box only as it is rounded, so that no member need leave to keep them out."""
    where = space(
        [category("letter", {"early": ["a", "b", "c"], "late": ["x", "y", "z"]}, list("abcxyz"))],
        [number("s", 3, role="sensitive")],
        p="1/2",
        d="1/3",
    )
    places = np.array([[2, 3], [3, 1], [5, 0], [5, 0], [5, 3], [5, 3]])
    low, high = np.array([0]), np.array([5])
    assert not brute.candidate(where, places, low, high, np.array([[1], [3]]))  # c and x alone, written as *
    checker = Checker(where, places)
    check(where, places, anonymise(checker, level="matching+candidate", k=2, method="shed"), level="candidate", k=2)
    shop = Workshop(checker, "candidate", 2)
    assert not shop.passes(np.array([0, 1]))
    assert len(shop.repaired(np.array([0, 1]))) < 2


@given(tables(), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_level_attack_publishes_at_least_as_much_as_candidate(case, k):
    checker = Checker(*case)
    counts = [anonymise(checker, level=level, k=k, method="hybrid").published for level in ("attack", "candidate")]
    assert counts[0] >= counts[1]


ONE = space([number("age", 9)], [number("income", 9, role="sensitive")], p="0.9", d="0.5")


@pytest.mark.parametrize("level", ["strict", "candidate", "attack"])
@pytest.mark.parametrize("method", ["hybrid", "expc"])
@pytest.mark.parametrize(
    ("places", "k", "published"),
    [
        (np.zeros((0, 2), dtype=np.int64), 2, 0),
        (np.array([[3, 4]] * 30), 2, 0),
        (np.array([[3, 4]] * 30), 1, 30),
        (np.array([[3, i % 5] for i in range(30)]), 5, 30),
        (np.array([[i % 10, i % 5] for i in range(30)]), 31, 0),
        (np.array([[i % 10, 7] for i in range(30)]), 2, 0),
    ],
    ids=["empty", "all equal", "all equal, k = 1", "one constant column", "k above the table", "constant sensitive"],
)
def test_degenerate_tables(level, method, places, k, published):
    grouping = anonymise(Checker(ONE, places), level=level, k=k, method=method)
    check(ONE, places, grouping, level=level, k=k)
    assert grouping.published == published


def test_a_table_of_outliers_is_suppressed_and_the_floor_proves_it():
    where = space([number("q", 1000)], [number("s", 1000, role="sensitive")], p="0.5", d="0.01")
    places = np.array([[25 * i, 25 * i] for i in range(40)])
    checker = Checker(where, places)
    assert checker.outlying.all()
    for level in ("strict", "candidate"):
        grouping = anonymise(checker, level=level, k=2, method="hybrid")
        assert len(grouping.suppressed) == 40
        assert floor(checker, level, grouping.suppressed).rows == 40


def test_the_floor_says_of_whom_the_value_alone_is_the_reason():
    """Six dear treatments of the young: three costs would make an outlier of anyone, and the other three are too few to be exchanged."""
    where = space([number("age", 20)], [number("cost", 100, role="sensitive")], p="0.9", d="0.5")
    rng = np.random.default_rng(1)
    ages = rng.integers(0, 21, 100)
    usual = np.column_stack([ages, 2 * ages + rng.integers(0, 11, 100)])
    dear = np.array([[2, 68], [2, 70], [3, 72], [2, 97], [3, 98], [3, 99]])
    places = np.concatenate([usual, dear]).astype(np.int64)
    places = np.ascontiguousarray(places[np.lexsort(places.T[::-1])])
    checker = Checker(where, places)
    people = np.unique(places[:, :1], axis=0)
    anyone = [all(brute.outlier(where, places, [*person, *row[1:]]) for person in people) for row in places]
    grouping = anonymise(checker, level="matching", k=5, method="shed")
    found = floor(checker, "matching", grouping.suppressed, least=5)
    assert found.alone.tolist() == np.flatnonzero(anyone).tolist()
    assert 0 < len(found.alone) < len(found.named)
    assert set(found.alone.tolist()) < set(found.named.tolist()) <= set(grouping.suppressed.tolist())


def test_the_floor_never_counts_a_row_that_a_plain_group_could_take():
    rng = np.random.default_rng(3)
    where = space([number("a", 6), number("b", 6)], [number("s", 3, role="sensitive")], p="0.7", d="0.5")
    places = np.column_stack([rng.integers(0, 7, 60), rng.integers(0, 7, 60), rng.integers(0, 4, 60)]).astype(np.int64)
    checker = Checker(where, places)
    from wallflower.publish.corner_kernels import unhidable

    proved = np.zeros(60, dtype=np.bool_)
    unhidable(checker.blocks, places[:, :2].copy(), places.min(axis=0), places.max(axis=0), proved)
    assert 0 < proved.sum() < 60
    spans = [(low, high) for low in range(7) for high in range(low, 7)]
    values = np.unique(places[:, 2:], axis=0)
    for row in np.flatnonzero(proved)[:6]:
        for a in spans:
            for b in spans:
                low, high = np.array([a[0], b[0]]), np.array([a[1], b[1]])
                if (low <= places[row, :2]).all() and (places[row, :2] <= high).all():
                    # condition (3) only gets easier with more values, so all of them stand for any set
                    assert checker.verdict("strict", low, high, checker.by_closeness(values)).corners is False
