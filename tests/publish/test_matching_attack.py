"""The matching attack: likelihoods against all worlds, membership from the file, and who is known by absence."""

from collections import Counter

import numpy as np
import pytest
from tests.publish import brute_worlds
from tests.publish.spaces import number, space
from tests.publish.test_worlds import groups

from wallflower.publish.attacks import attack
from wallflower.publish.checker import Checker
from wallflower.publish.matching_attack import absence, guesses
from wallflower.publish.membership import members_of
from wallflower.publish.population import Population
from wallflower.publish.published_file import PublishedGroup
from wallflower.publish.share_kernels import counted, walked


def all_shares(twin, members):
    """From every bijection of lines (not of values: each way to hand the lines out is as likely)."""
    from itertools import permutations

    shares, worlds = np.zeros(members.fits.shape), 0
    names = {tuple(v): j for j, v in enumerate(members.values.tolist())}
    for handed in permutations(twin.lines):
        if all(twin.out(q, s) == o for q, s, o in zip(twin.people, handed, twin.flags, strict=True)):
            worlds += 1
            for i, s in enumerate(handed):
                shares[i, names[s]] += 1
    return shares / worlds


def test_shares_of_small_groups_are_those_of_all_bijections():
    mixed = 0
    for _, members, twin in groups(31, 120, most=6):
        shares = np.zeros(members.fits.shape)
        counted(members.fits, members.held, shares)
        truth = all_shares(twin, members)
        assert shares == pytest.approx(truth)
        mixed += bool((~members.fits).any())
        possible = [len({j for j, share in enumerate(line) if share > 0}) for line in truth]
        assert members.possible(members.everyone).tolist() == possible
    assert mixed > 40


def test_a_walk_comes_near_the_count():
    near = 0
    for _, members, twin in groups(32, 25, most=6):
        shares = np.zeros(members.fits.shape)
        walked(members.fits, members.held, 40_000, shares)
        truth = all_shares(twin, members)
        assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)))
        near += bool(np.abs(shares - truth).max() < 0.05)
    assert near >= 24  # exchanges of two and three do not reach every world of every group


def test_a_pinned_person_is_found():
    """Two outliers by value and two normal people: one of them alone can hold the value that stands out for everybody."""
    where = space([number("q", 9)], [number("s", 9, role="sensitive")], p="3/5", d="1/3")
    places = np.array([[4, 4], [4, 4], [4, 5], [5, 4], [5, 5], [5, 9]], dtype=np.int64)
    table = Population(where, places)
    assert table.outlying.tolist() == [False] * 5 + [True]
    found = guesses(table, [np.arange(6)])
    assert found.pinned.tolist() == [5]
    assert found.surest(outlying=True) == 1.0
    assert found.fewest(outlying=False) == 1


def test_rows_behind_lines_are_found_where_boxes_overlap():
    rng = np.random.default_rng(5)
    where = space([number("a", 9)], [number("s", 3, role="sensitive")], p="1/2", d="1/2")
    for _ in range(40):
        places = np.column_stack([rng.integers(0, 10, 14), rng.integers(0, 4, 14)]).astype(np.int64)
        table = Population(where, places)
        parts = np.array_split(rng.permutation(14)[:12], 3)
        published = [PublishedGroup(places[p, :1].min(axis=0), places[p, :1].max(axis=0), places[p, 1:]) for p in parts]
        found, missing = members_of(table, published)
        assert missing == 0
        assert len(np.unique(np.concatenate(found))) == 12
        for rows, group in zip(found, published, strict=True):
            assert Counter(places[rows, 1].tolist()) == Counter(group.held[:, 0].tolist())
            assert ((places[rows, :1] >= group.low) & (places[rows, :1] <= group.high)).all()


def test_a_line_that_no_row_can_stand_behind_is_counted():
    where = space([number("a", 9)], [number("s", 3, role="sensitive")], p="1/2", d="1/2")
    table = Population(where, np.array([[1, 1], [2, 2]], dtype=np.int64))
    low, high = np.array([0]), np.array([5])
    assert members_of(table, [PublishedGroup(low, high, np.array([[1], [3], [3]]))])[1] == 2


def test_who_is_left_out_is_known_by_absence():
    for where, places, _ in brute_worlds.tables(33, 40):
        table = Population(where, places)
        published = [
            PublishedGroup(np.zeros(table.quasi, dtype=np.int64), places[0, : table.quasi], places[:1, table.quasi :])
        ]
        found = absence(table, published)
        inside = (places[:, : table.quasi] <= places[0, : table.quasi]).all(axis=1)
        assert found.outside.tolist() == np.flatnonzero(~inside).tolist()
        twin = brute_worlds.Group(where, places, range(len(places)))
        wrong = [i for i in np.flatnonzero(inside).tolist() if twin.out(twin.people[i], twin.lines[0]) != twin.flags[i]]
        assert found.unfitting.tolist() == wrong


@pytest.mark.parametrize("sensitive", [1, 2])
def test_a_published_value_counts_once_however_often_it_is_published_and_only_where_it_fits(sensitive):
    several = 0
    for where, places, _ in brute_worlds.tables(34, 40, sensitive=sensitive):
        table = Population(where, places)
        lines = np.concatenate([places[:, table.quasi :], [[0] * sensitive, [3] * sensitive]])  # perhaps nobody's
        whole = PublishedGroup(
            places[:, : table.quasi].min(axis=0), places[:, : table.quasi].max(axis=0), np.concatenate([lines, lines])
        )
        twin = brute_worlds.Group(where, places, range(len(places)))
        values = {tuple(line) for line in lines.tolist()}
        expected = [
            sum(twin.out(q, s) == flag for s in values) for q, flag in zip(twin.people, twin.flags, strict=True)
        ]
        assert absence(table, [whole]).compatible.tolist() == expected
        several += len(set(expected)) > 1
    assert several > 10


def test_a_leak_is_one_among_the_outliers_that_match_and_one_among_the_values_that_make_it_one():
    several = 0
    for where, places, _ in brute_worlds.tables(35, 60):
        checker, twin = Checker(where, places), brute_worlds.Group(where, places, range(len(places)))
        some = places[: len(places) // 2 + 1]
        group = PublishedGroup(some[:, :-1].min(axis=0), some[:, :-1].max(axis=0), some[:, -1:])
        inside = ((places[:, :-1] >= group.low) & (places[:, :-1] <= group.high)).all(axis=1)
        matching = sum(flag and there for flag, there in zip(twin.flags, inside.tolist(), strict=True))
        for leak in attack(checker, [group]).leaks:
            standing_out = sum(twin.out(twin.people[leak.row], value) for value in set(map(tuple, group.held.tolist())))
            assert leak.presence == pytest.approx(1 / matching)
            assert leak.association == pytest.approx(1 / max(1, standing_out))
            several += matching > 1 and standing_out > 1
    assert several > 5
