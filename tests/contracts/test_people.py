"""One suite for every engine: the rows of a person become what a naive reader makes of them, wherever and in whatever order they lie."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.engine_sources import (
    DYNAMIC,
    EVERYWHERE,
    SERVERS,
    TYPED,
    categories,
    dates,
    declare,
    from_arrow,
    from_csv,
    from_json,
    from_pandas,
    from_pandas_objects,
    from_parquet,
    from_sqlite,
    numbers,
)
from tests.contracts.people_reference import PeopleReference
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Becomes, Clip, Column, Drop, Reading
from wallflower.schema.domains import Numbers

NUMBER = ("sum", "mean", "min", "max", "most-common", "latest", "earliest")
WORD = ("min", "max", "most-common", "latest", "earliest")
DAY = ("mean", "min", "max", "most-common", "latest", "earliest")


def counted(name="n", *, outside=None):
    domain = Numbers(lower=Fraction(0), upper=Fraction(3), step=Fraction(1))
    return Column(
        name=name, role="insensitive", domain=domain, outside=outside or Clip(), missing=Drop(), per_person="rows"
    )


def people(*, x="sum", c="most-common", d="latest", outside=None, missing=None, **changes):
    columns = [
        replace(numbers(lower="-5", upper="5", step="0.5", outside=outside, missing=missing), per_person=x),
        replace(categories(values=("b", "a", "3"), outside=Becomes(2), missing=missing and Drop()), per_person=c),
        replace(dates(missing=missing), per_person=d),
        counted(),
    ]
    return declare(*columns, **{"key": "k", "unit": "person", "person": "k", "time": "t", **changes})


def capped(rows, **changes):
    columns = {name: replace(column, per_person=None) for name, column in people().columns.items() if name != "n"}
    return people(columns=columns, rows_per_person=rows, **changes)


ROWS = [
    ("P1", "1.25", "a", "2000-01-01", "2020-01-01"),
    ("P2", "7", "zed", "2000-01-05", "2020-01-01"),
    ("P1", "2.5", "b", "1999-12-31", "2020-01-02"),
    ("", "5", "a", "2000-01-01", "2020-01-01"),
    (None, "5", "a", "2000-01-01", "2020-01-01"),
    ("P1\ufffd", "5", "a", "2000-01-01", "2020-01-01"),
    ("P1 ", "5.2", "a", "2000-01-01", "never"),
    ("P3", "oops", "", "no", ""),
    ("P2", "-9", "zed", "3000-01-01", "2020-01-01 10:00:00"),
    ("P2", "", "3", "", "2020-01-01T09:30"),
    ("P1", "2.5", "a", "2000-01-01", ""),
    ("P4", "1e300", "b", "1000-01-01", "2020-01-01"),
    ("P4", "1e300", "b", "1000-01-01", "2020-01-01"),
    ("P4", "-1e300", "a", "1000-01-02", "2019-01-01"),
    ("NA", "1", "a", "2000-01-01", "2020-01-01"),
    ("p1", "0.24", "a", "2000-01-01", "2020-01-01"),
    ("P5", "5.2", "zed", "2020-03-01", "2020-01-01"),
    ("P6", "-0.25", "b", "2000-01-01", "2020-01-02 00:00:01"),
    ("P6", "-0.75", "a", "2000-01-03", "2020-01-02 00:00:00"),
]
FEW = (from_arrow, from_csv, from_parquet)
"""Enough of places for what does not depend on how a cell is stored."""
KEYS = ["P1", "P1 ", "p1", "P2", "P3", "P4", "P5", "P6", "", "NA", "P7", "row:0", "P1\ufffd"]
"""Asked for all at once by the first test, everywhere; by others in turns, since a record is the same rows and a filter."""
READ = Reading(missing_codes=("NA",))


def table_of(rows=ROWS):
    columns = zip(*rows, strict=True) if rows else ([],) * 5
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in zip("kxcdt", columns, strict=True)})


def same_people(source, declaration, table, columns=("x", "c", "d", "n"), keys=KEYS):
    reference = PeopleReference(declaration, columns, table.to_pylist() if hasattr(table, "to_pylist") else table)
    with source.rows(columns) as rows:
        assert sorted(rows.fetch(numbers=columns).numbers.tolist()) == sorted(reference.numbers(columns))
        for key, row in product(keys, range(1, (declaration.rows_per_person or 1) + 1)):
            record, expected = rows.record(key, row=row), reference.record(key, row=row)
            assert (record and (dict(record.numbers), dict(record.codes))) == expected, (key, row)
    return reference


@pytest.fixture(params=EVERYWHERE, ids=lambda make: make.__name__)
def place(request):
    return request.param


def test_people_are_the_naive_ones(place, tmp_path):
    declaration = people(x="sum", c="most-common", d="latest", read=READ)
    same_people(place(table_of(), declaration, tmp_path), declaration, table_of())


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize("place", [from_arrow, from_csv], ids=lambda make: make.__name__)
def test_every_reducer_is_the_naive_one(place, tmp_path, at):
    declaration = people(x=NUMBER[at], c=WORD[at % 5], d=DAY[at % 6], read=READ)
    reference = same_people(place(table_of(), declaration, tmp_path), declaration, table_of(), keys=KEYS[at::7])
    assert len(reference.all) == 8


@pytest.mark.parametrize("place", SERVERS, ids=lambda make: make.__name__)
def test_every_reducer_and_cap_on_a_server_is_the_naive_one(place, tmp_path):
    """One server for all of them: sums are wider than 64 bits there, and what is computed from them must not be."""
    for at in range(7):
        declaration = people(x=NUMBER[at], c=WORD[at % 5], d=DAY[at % 6], read=READ)
        same_people(place(table_of(), declaration, tmp_path), declaration, table_of(), keys=KEYS[at::7])
    for rows in (1, 2, 3):
        capped_ = capped(rows, read=READ)
        source = place(table_of(), capped_, tmp_path)
        same_people(source, capped_, table_of(), columns=("x", "c", "d"), keys=KEYS[rows - 1 :: 3])


@pytest.mark.parametrize(("outside", "missing"), [(Drop(), Drop()), (Becomes(2), Becomes(-3)), (Clip(), Drop())])
@pytest.mark.parametrize("place", FEW, ids=lambda make: make.__name__)
def test_outside_and_missing_are_applied_once_to_the_person(place, tmp_path, outside, missing):
    declaration = people(x="mean", outside=outside, missing=missing, read=READ)
    same_people(place(table_of(), declaration, tmp_path), declaration, table_of(), keys=KEYS[::4])


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("place", FEW, ids=lambda make: make.__name__)
def test_at_most_so_many_rows_of_a_person(place, tmp_path, rows):
    declaration, table = capped(rows, read=READ), table_of()
    source = place(table, declaration, tmp_path)
    same_people(source, declaration, table, columns=("x", "c", "d"), keys=KEYS if rows == 2 else KEYS[::4])
    same_people(source, declaration, table, columns=("c",), keys=KEYS[rows::4])


@pytest.mark.parametrize("rows", [None, 2], ids=["reduced", "capped"])
@pytest.mark.parametrize("place", FEW, ids=lambda make: make.__name__)
def test_the_order_of_rows_means_nothing(place, tmp_path, rows):
    declaration = people(x="sum", read=READ) if rows is None else capped(rows, read=READ)
    answers = []
    for at in range(3):
        (tmp_path / str(at)).mkdir()
        shuffled = random.Random(at).sample(ROWS, len(ROWS))
        with place(table_of(shuffled), declaration, tmp_path / str(at)).rows(("x", "c", "d")) as view:
            cells = view.cells(["c"], "x", 1)
            answers.append(
                (
                    sorted(view.fetch(numbers=("x", "c", "d")).numbers.tolist()),
                    [repr(view.record(key)) for key in KEYS[::2]],
                    cells.counts.tolist(),
                    cells.squares.tolist(),
                    view.nearest(["c"], "x", 1, 1).values.tolist(),
                )
            )
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("place", FEW, ids=lambda make: make.__name__)
def test_an_empty_table_and_one_without_ids_have_answers(place, tmp_path):
    for rows in ([], [row for row in ROWS if not row[0]]):
        folder = tmp_path / str(len(rows))
        folder.mkdir()
        for declaration in (people(), capped(2)):
            names = tuple(declaration.columns)
            same_people(place(table_of(rows), declaration, folder), declaration, table_of(rows), columns=names)


@pytest.mark.parametrize("place", FEW, ids=lambda make: make.__name__)
def test_what_a_person_is_does_not_depend_on_the_question(place, tmp_path):
    """Dropping raw rows first would give one person two latest rows."""
    declaration = people(x="latest", c="latest", d="latest", outside=Drop(), missing=Drop(), read=READ)
    source = place(table_of(), declaration, tmp_path)
    with source.rows(("x", "c", "d")) as rows:
        whole = rows.record("P6")
    with source.rows(("x",)) as rows:
        alone = rows.record("P6")
    assert whole.numbers["x"] == alone.numbers["x"]


@pytest.mark.parametrize("place", FEW, ids=lambda make: make.__name__)
def test_the_number_of_people_is_public_under_replace_one(place, tmp_path):
    declaration = people(outside=Clip(), missing=Becomes(0), neighbours="replace-one", read=READ)
    declaration = replace(
        declaration,
        columns={
            name: replace(each, missing=Becomes(1), outside=Becomes(1)) for name, each in declaration.columns.items()
        },
    )
    with place(table_of(), declaration, tmp_path).rows(("x", "c", "d", "n")) as rows:
        assert rows.size == 8


cell = st.sampled_from(
    ["", None, "0", "1", "1.25", "-4.75", "5", "5.2", "-5.3", "1e308", "-1e308", "x", "4503599627370496"]
)
raw = st.tuples(
    st.sampled_from(["a", "b", "c", ""]),
    cell,
    st.sampled_from(["a", "b", "3", "zed", "", None]),
    st.sampled_from(["2000-01-01", "2000-01-02", "1000-01-01", "9999-12-31", "", "x"]),
    st.sampled_from(["2020-01-01", "2020-01-02", "2020-01-02 12:00:00", "", "x"]),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(raw, max_size=12), st.integers(0, 6), st.sampled_from([None, 1, 2]))
def test_random_people_are_the_naive_ones(tmp_path, rows, at, most):
    declaration = people(x=NUMBER[at], c=WORD[at % 5], d=DAY[at % 6]) if most is None else capped(most)
    names = ("x", "c", "d", "n") if most is None else ("x", "c", "d")
    for place in (from_arrow, from_csv):
        same_people(
            place(table_of(rows), declaration, tmp_path), declaration, table_of(rows), columns=names, keys=["a", "b"]
        )


@pytest.mark.parametrize("place", [*FEW, *SERVERS], ids=lambda make: make.__name__)
@pytest.mark.parametrize("reducer", ["sum", "mean"])
def test_sums_are_wide_and_saturate(place, tmp_path, reducer):
    """1,100 cells of 2^53 steps do not fit into 64 bits; means of large numbers do not fit into a double.

    The lower bound is the least that can be declared: what is saturated must still lie below it.
    """
    rows = [("a", "9007199254740991", "a", "", "")] * 1100 + [("b", "-9e300", "a", "", "")] * 1100
    rows += [("c", "9007199254740991", "a", "", ""), ("c", "9007199254740990", "a", "", ""), ("c", "1", "a", "", "")]
    rows += [("d", "-9007199254740991", "a", "", ""), ("d", "-9007199254740990", "a", "", "")]
    rows += [("e", "4", "a", "", ""), ("e", "-3", "a", "", ""), ("f", "-4", "a", "", ""), ("f", "3", "a", "", "")]
    wide = replace(
        numbers(lower="-9007199254740991", upper="9007199254740000", step="1"), per_person=reducer, outside=Becomes(7)
    )
    declaration = declare(wide, key="k", unit="person", person="k")
    table = table_of(rows)
    same_people(place(table, declaration, tmp_path), declaration, table, columns=("x",), keys=list("abcdef"))


IDS = {
    "integers": pa.array([9007199254740992, 9007199254740993, 9007199254740992, None, -1, 0], pa.int64()),
    "unsigned": pa.array([2**64 - 1, 2**64 - 2, 2**64 - 1, None, 1, 0], pa.uint64()),
    "decimals": pa.array(
        [
            Decimal(text) if text else None
            for text in ("9007199254740992.10", "9007199254740992.11", "9007199254740992.10", None, "-1", "7.00")
        ],
        pa.decimal128(38, 2),
    ),
    "texts": pa.array(["9007199254740992", "9007199254740993", "9007199254740992", None, "1.0", "1"]),
    "dates": pa.array([date(2000, 1, 1), date(2000, 1, 2), date(2000, 1, 1), None, date(1970, 1, 1), date(1969, 1, 1)]),
    "booleans": pa.array([True, False, True, None, False, True]),
}
ASKED = ["9007199254740992", "9007199254740993", "18446744073709551615", "9007199254740992.1", "9007199254740992.11"]
ASKED += ["-1", "0", "1", "1.0", "7", "7.0", "2000-01-01", "true", "", "x"]


@pytest.mark.parametrize("place", TYPED, ids=lambda make: make.__name__)
@pytest.mark.parametrize("ids", IDS)
def test_ids_are_compared_exactly(place, tmp_path, ids):
    """As doubles 9007199254740992 and …993 would be one person: removing one would change the other's row."""
    declaration, n = people(x="sum", read=Reading(missing_codes=("0", "7", "1970-01-01"))), len(IDS[ids])
    table = pa.table({"k": IDS[ids], "x": ["1"] * n, "c": ["a"] * n, "d": ["2000-01-01"] * n, "t": ["2000-01-01"] * n})
    source = place(table, declaration, tmp_path)
    if place is from_pandas and ids in {"integers", "unsigned"}:  # with gaps pandas makes reals of them
        with pytest.raises(DeclarationError, match="do not keep ids apart"):
            source.verify(["x"])
    else:
        reference = same_people(source, declaration, table, keys=ASKED)
        assert len(reference.all) == (2 if ids == "booleans" else 3 if ids != "texts" else 4)


@pytest.mark.parametrize("place", TYPED, ids=lambda make: make.__name__)
def test_reals_are_no_ids(place, tmp_path):
    table = pa.table({"k": [1.0, 2.0], "x": ["1", "2"], "c": ["a", "a"], "d": ["", ""], "t": ["", ""]})
    with pytest.raises(DeclarationError, match="do not keep ids apart"):
        place(table, people(), tmp_path).verify(("x",))


@pytest.mark.parametrize("place", DYNAMIC, ids=lambda make: make.__name__)
def test_a_real_among_cells_with_their_own_types_is_no_id(place, tmp_path):
    cells = [1, 1.0, "1", "1.0", 2.5, 9007199254740992.0, 9007199254740993, 9007199254740992, True, None]
    rows = [{"k": who, "x": "1", "c": "a", "d": "2000-01-01", "t": ""} for who in cells]

    class Table:
        column_names = ("k", "x", "c", "d", "t")

        def __init__(self, values) -> None:
            self.values = values

        def to_pylist(self):
            return self.values

        def __getitem__(self, name):
            return Table([row[name] for row in self.values])

    said = ["1", None, "1", "1.0", None, None, "9007199254740993", "9007199254740992", "true", None]
    if place is from_sqlite:
        said[8] = "1"
    naive = [{**row, "k": who} for row, who in zip(rows, said, strict=True)]
    declaration = people(x="sum")
    source, keys = place(Table(rows), declaration, tmp_path), ["1", "1.0", "2.5", "9007199254740992", "true"]
    same_people(source, declaration, naive, keys=keys)


TIMES = {
    "dates": [date(2000, 1, 2), date(2000, 1, 1), None, date(2000, 1, 2)],
    "microseconds": [datetime(2000, 1, 1, 10), datetime(2000, 1, 1, 9), None, datetime(2000, 1, 1, 10, 0, 0, 1)],  # noqa: DTZ001 - no zone
    "integers": [2, 1, None, 2**62],
    "nothing": [None] * 4,
}


@pytest.mark.parametrize("place", [from_arrow, from_parquet, *SERVERS], ids=lambda make: make.__name__)
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("reducer", ["latest", "earliest"])
def test_typed_times_order_rows_to_the_last_digit(place, tmp_path, times, reducer):
    declaration = people(x=reducer, c=reducer, d=reducer)
    table = pa.table(
        {
            "k": ["a"] * 4 + ["b"] * 2,
            "x": ["1", "2", "3", "4", "5", "-1"],
            "c": ["a", "b", "3", "zed", "a", "b"],
            "d": ["2000-01-01", "2000-01-02", "2000-01-03", "x", "2001-01-01", "2001-01-02"],
            "t": pa.array([*TIMES[times], *TIMES[times][:2]], pa.timestamp("us") if times == "microseconds" else None),
        }
    )
    same_people(place(table, declaration, tmp_path), declaration, table, keys=["a", "b"])


CARRIES = [f"2000-01-01{time}" for time in (" 09:00:59", "T09:01", " 09:59:59", " 10:00:00", " 23:59:59.999999")]
CARRIES += ["2000-01-02", "2000-01-02 00:00:00.000001", "2000-01-02 00:00:01"]


@pytest.mark.parametrize("place", [*FEW, *SERVERS], ids=lambda make: make.__name__)
@pytest.mark.parametrize("reducer", ["latest", "earliest"])
def test_times_as_texts_order_rows_where_a_unit_is_full(place, tmp_path, reducer):
    """Each beside the next one, for somebody with values of their own; a tie would settle on the smaller value."""
    rows = []
    for at, times in enumerate(pairwise(CARRIES)):
        values = (f"{at - 5}", f"{at - 5 + 0.5}")
        values = values if reducer == "latest" else values[::-1]
        rows += [(f"P{at}", value, "a", "2000-01-01", time) for value, time in zip(values, times, strict=True)]
    declaration = people(x=reducer)
    same_people(
        place(table_of(rows), declaration, tmp_path), declaration, table_of(rows), columns=("x",), keys=["P0", "P3"]
    )


@pytest.mark.parametrize("place", FEW, ids=lambda make: make.__name__)
def test_a_declared_number_orders_rows(place, tmp_path):
    order = replace(numbers("t", lower="0", upper="10", step="1"), per_person="max")
    declaration = people(x="latest")
    declaration = replace(declaration, columns={**declaration.columns, "t": order})
    rows = [
        ("a", "1", "a", "", "2"),
        ("a", "2", "b", "", "11"),
        ("a", "3", "b", "", "x"),
        ("b", "1", "a", "", "9"),
        ("b", "2", "a", "", "10"),
    ]
    same_people(place(table_of(rows), declaration, tmp_path), declaration, table_of(rows), keys=["a", "b"])


def test_a_column_that_orders_rows_must_have_an_order(tmp_path):
    table = table_of(ROWS[:2]).set_column(4, "t", pa.array([1.5, 2.5]))
    with pytest.raises(DeclarationError, match="orders a person's rows"):
        from_arrow(table, people(), tmp_path).verify(("x", "d"))


@pytest.mark.parametrize("place", [from_pandas_objects, from_json, from_csv], ids=lambda make: make.__name__)
def test_one_row_people_are_as_rows_are(place, tmp_path):
    """Where every person has one row, each reducer but `rows` gives today's row, state and all."""
    rows = [(f"P{at}", *row[1:]) for at, row in enumerate(ROWS)]
    plain = declare(
        *(replace(each, per_person=None) for name, each in people(outside=Drop()).columns.items() if name != "n")
    )
    with place(table_of(rows), plain, tmp_path).rows(("x", "c", "d")) as view:
        expected = sorted(view.fetch(numbers=("x", "c", "d")).numbers.tolist())
    for at in range(7):
        declaration = people(x=NUMBER[at], c=WORD[at % 5], d=DAY[at % 6], outside=Drop())
        with place(table_of(rows), declaration, tmp_path).rows(("x", "c", "d")) as view:
            assert sorted(view.fetch(numbers=("x", "c", "d")).numbers.tolist()) == expected
