"""Level `matching`: possible values, peeling and E against all bijections, and bugs that this comparison would notice."""

import numpy as np
import pytest
from tests.publish import brute_worlds
from tests.publish.spaces import number, space

from wallflower.publish.population import Population
from wallflower.publish.worlds import Members, Worlds


def groups(seed, many, *, sensitive=1, most=6, **more):
    """(table, our members, the twin) for random parts of random tables."""
    for where, places, rng in brute_worlds.tables(seed, many, sensitive=sensitive, **more):
        size = int(rng.integers(2, min(most, len(places)) + 1))
        rows = np.sort(rng.choice(len(places), size, replace=False))
        table = Population(where, places)
        yield table, Worlds(table).members(rows), brute_worlds.Group(where, places, rows)


@pytest.mark.parametrize("sensitive", [1, 2])
def test_possible_values_are_those_of_all_bijections(sensitive):
    several = pinned = 0
    for table, members, twin in groups(1, 250, sensitive=sensitive):
        assert table.outlying[members.rows].tolist() == twin.flags
        assert members.forced.tolist() == twin.forced
        counts = members.possible(members.everyone).tolist()
        assert counts == twin.counts()
        several += max(counts) > 1
        pinned += min(counts) == 1
    assert several > 60
    assert pinned > 60


@pytest.mark.campaign
def test_possible_values_of_seven_members():
    for _, members, twin in groups(11, 600, most=7):
        assert members.possible(members.everyone).tolist() == twin.counts()
        assert (not members.stuck(members.everyone).any()) == twin.blends()


def test_a_group_blends_in_when_some_bijection_makes_everyone_normal_who_is_not_forced():
    answers = []
    for _, members, twin in groups(2, 300):
        answers.append(twin.blends())
        assert (not members.stuck(members.everyone).any()) == answers[-1]
    assert 40 < sum(answers) < 290


def test_peeling_leaves_the_largest_part():
    shrunk = 0
    for table, members, twin in groups(3, 60, most=5):
        for least in (2, 3):
            kept = members.rows[members.peeled(least)].tolist()
            assert kept == brute_worlds.largest(table.space, table.places, members.rows.tolist(), least)
            shrunk += 0 < len(kept) < len(twin.rows)
    assert shrunk > 5


def test_more_members_take_no_possible_value_from_anyone():
    for table, members, _ in groups(4, 150, most=6):
        few = Worlds(table).members(members.rows[:-1])
        assert (members.possible(members.everyone)[:-1] >= few.possible(few.everyone)).all()


def test_what_is_settled_passes_by_the_twin():
    found = 0
    for table, members, _ in groups(5, 250, most=6):
        alive = members.settled(k=2, least=2)
        if alive.any():
            found += 1
            rows = members.rows[alive]
            assert brute_worlds.Group(table.space, table.places, rows).valid(2, 2)
            assert members.only(alive).valid(k=2, least=2)
    assert found > 40


def test_a_row_joins_only_a_group_that_stays_valid():
    joined = refused = 0
    for table, members, _ in groups(6, 300, most=5):
        alive = members.settled(k=2, least=2)
        others = np.setdiff1d(np.arange(len(table.places)), members.rows[alive])
        if not alive.any() or not len(others):
            continue
        row = int(others[0])
        grown = Worlds(table).joined(members.only(alive), row, least=2)
        valid = brute_worlds.Group(table.space, table.places, [*members.rows[alive], row]).valid(2, 2)
        assert (grown is not None) == valid
        joined, refused = joined + valid, refused + (not valid)
    assert joined > 10
    assert refused > 10


def test_parting_people_and_values_asks_what_asking_one_by_one_would():
    for where, places, _ in brute_worlds.tables(7, 60, sensitive=2, rows=12):
        table = Population(where, places)
        quasi = np.unique(places[:, : table.quasi], axis=0)
        found = Worlds(table).outlying_with(np.ascontiguousarray(quasi), table.values)
        one_by_one = [~table.normal(np.column_stack([np.tile(q, (len(table.values), 1)), table.values])) for q in quasi]
        assert found.tolist() == np.array(one_by_one).tolist()


# --- planted bugs: each is what a careless reading of the definition gives, and the comparison notices it ---


def misses(wrong, seed, many=200, **more):
    count = 0
    for table, members, twin in groups(seed, many, **more):
        count += wrong(table, members) != twin.counts()
    return count


def test_the_twin_notices_value_nodes_in_place_of_holders():
    def wrong(_, members):
        loose = np.tile(members.fits.any(axis=0), (len(members.rows), 1))
        mixed = Members(members.rows, members.values, members.held, loose, members.forced)
        return mixed.possible(mixed.everyone).tolist()

    assert misses(wrong, 21) > 0


def test_the_twin_notices_flags_of_the_group_in_place_of_the_table():
    def wrong(table, members):
        part = Population(table.space, np.ascontiguousarray(table.places[members.rows]))
        alone = Worlds(part).members(np.arange(len(members.rows)))
        return alone.possible(alone.everyone).tolist()

    assert misses(wrong, 22) > 0


def test_the_twin_notices_a_forgotten_duplicate():
    """Bug: of two lines with one value only the first holder counts."""

    def wrong(_, members):
        first = np.isin(np.arange(len(members.rows)), np.unique(members.held, return_index=True)[1])
        return np.where(first, members.possible(first), members.possible(members.everyone)).tolist()

    assert misses(wrong, 23) > 0


def test_the_twin_notices_combinations_counted_in_place_of_columns():
    def wrong(_, members):
        whole = np.arange(len(members.values), dtype=np.int64)[:, None]
        merged = Members(members.rows, whole, members.held, members.out, members.forced)
        return merged.possible(merged.everyone).tolist()

    assert misses(wrong, 24, sensitive=2) > 0


def test_flags_and_outlierness_are_of_one_table():
    """Removing a sensitive outlier first, and asking the smaller table, would make the truth no world (a published mistake)."""
    where = space([number("q", 3)], [number("s", 3, role="sensitive")], p="7/10", d="1/2")
    places = np.array([[0, 3], [2, 2], [3, 0], [3, 3]], dtype=np.int64)
    whole = Population(where, places)
    kept = Population(where, np.ascontiguousarray(places[[0, 1, 3]]))
    assert whole.outlying[[0, 1, 3]].tolist() != kept.outlying.tolist()
    for rows in ([0, 1], [0, 1, 2, 3]):
        members = Worlds(whole).members(np.array(rows))
        assert (members.fits[np.arange(len(rows)), members.held]).all()  # the truth is always a world
