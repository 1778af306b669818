"""Over small universes of people: adding or removing one person moves one row of every reducer's table, or at most m of a capped one.

All pairs of tables of two people with at most three rows each, beside a third with two fixed rows; the engine reads every table
as a whole, so that a reducer that looks at another person's rows would be seen. Every area keeps its promise between tables that
differ by one row (its own exact audit), so this is what carries it over to people.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement, product

import pyarrow as pa
import pytest

from tests.contracts.engine_sources import declare, numbers
from wallflower.engines import from_frame
from wallflower.schema.declaration import Becomes, Drop

REDUCERS = ("sum", "mean", "min", "max", "most-common", "latest", "earliest")
CELLS = [("0", "1"), ("9", "2"), ("x", "3")]
"""A value and a time: inside, outside the bounds, unreadable."""
OWN = [rows for size in range(4) for rows in combinations_with_replacement(CELLS, size)]
THIRD = (("1", "2"), ("9", "1"))


def table_of(people, order=0):
    """Ids a, b, c; rows of all of them scattered."""
    rows = [(who, value, f"2020-01-0{time}") for who, own in zip("abc", people, strict=False) for value, time in own]
    random.Random(order).shuffle(rows)
    return rows


def declared(**changes):
    columns = [
        replace(
            numbers(reducer, lower="0", upper="5", step="1", outside=Drop(), missing=Becomes(0)), per_person=reducer
        )
        for reducer in REDUCERS
    ]
    return declare(*columns, key="who", unit="person", person="who", time="t", **changes)


def engine(declaration, names):
    """The whole table that a question would see, as a multiset, for each column on its own: a dropped person leaves one question only."""

    def seen(rows):
        cells = {name: pa.array([value for _, value, _ in rows], pa.string()) for name in names}
        table = pa.table(
            {
                "who": pa.array([who for who, _, _ in rows], pa.string()),
                "t": pa.array([t for *_, t in rows], pa.string()),
                **cells,
            }
        )
        found = {}
        for name in names:
            with from_frame(table, declaration).rows((name,)) as view:
                found[name] = Counter(view.fetch(numbers=(name,)).numbers[:, 0].tolist())
        return found

    return seen


def violations(seen, *, most, universe):
    """Pairs of tables that differ by one person and by more than `most` rows, or whose order matters."""
    known = {}
    for people in universe:
        known[people] = seen(table_of((*people, THIRD)))
    wrong = 0
    for (first, second), here in known.items():
        for other in (((), second), (first, ())):
            there = known[other]
            wrong += sum(
                (here[name] - there[name]).total() + (there[name] - here[name]).total() > most for name in here
            )
    for people in list(universe)[:: max(1, len(universe) // 12)]:
        wrong += seen(table_of((*people, THIRD), order=1)) != known[people]
    return wrong


UNIVERSE = [pair for pair in product(OWN[:10], OWN) if len(pair[0]) + len(pair[1]) <= 4]


def test_one_person_moves_one_row_of_every_reducer():
    assert violations(engine(declared(), REDUCERS), most=1, universe=UNIVERSE) == 0


@pytest.mark.parametrize("rows", [1, 2])
def test_one_person_moves_at_most_m_rows(rows):
    column = replace(declared().columns["sum"], name="sum", per_person=None)
    declaration = declared(rows_per_person=rows, columns={"sum": column})
    assert violations(engine(declaration, ("sum",)), most=rows, universe=UNIVERSE) == 0
    assert violations(engine(declaration, ("sum",)), most=rows - 1, universe=UNIVERSE) > 0


def by_person(rows):
    people = {}
    for who, value, time in rows:
        people.setdefault(who, []).append((time, int(value) if value.isdigit() else None))
    return people


def ties_to_the_tables_mode(rows):
    """A planted bug: a tie is settled by what everybody else has."""
    common = Counter(value for own in by_person(rows).values() for _, value in own)
    best = [
        max((value for _, value in own), key=lambda value: (common[value], str(value)))
        for own in by_person(rows).values()
    ]
    return {"most-common": Counter(best)}


def mean_of_all_people(rows):
    """A planted bug: a mean that is divided by the number of people."""
    people = by_person(rows)
    return {"mean": Counter(sum(value or 0 for _, value in own) * 10 // max(len(people), 1) for own in people.values())}


def first_in_the_file(rows):
    """A planted bug: a cap by the order of the file."""
    return {"cap": Counter(own[0][1] for own in by_person(rows).values())}


def cut_at_a_total(rows):
    """A planted bug: the whole table is cut at a number of rows."""
    return {"cut": Counter(sum(value or 0 for _, value in own) for own in by_person(sorted(rows)[:3]).values())}


@pytest.mark.parametrize("planted", [ties_to_the_tables_mode, mean_of_all_people, first_in_the_file, cut_at_a_total])
def test_the_audit_sees_planted_bugs(planted):
    assert violations(planted, most=1, universe=UNIVERSE) > 0


def test_ids_that_merge_would_move_two_rows():
    """The witness: as doubles 2^53 and 2^53 + 1 are one person, and removing one changes the other's row."""
    ids = [9007199254740992, 9007199254740993]

    def table(which, kind):
        held = [ids[at] for at in which]
        return pa.table({"who": pa.array(held, kind), "sum": ["1"] * len(which), "t": ["2020-01-01"] * len(which)})

    def numbers_of(which):
        column = {"sum": declared().columns["sum"]}
        with from_frame(table(which, pa.int64()), declared(columns=column)).rows(("sum",)) as view:
            return Counter(view.fetch(numbers=("sum",)).numbers[:, 0].tolist())

    both, alone = numbers_of((0, 1)), numbers_of((0,))
    assert (both - alone).total() + (alone - both).total() == 1
    merged, single = Counter([2]), Counter([1])  # what a key of doubles would give
    assert (merged - single).total() + (single - merged).total() == 2
