# ruff: noqa: DTZ001 - timestamps without a zone are one of the types under test
"""One suite for every engine: whatever holds the rows, the answers are those of a naive reader, bit for bit."""

from __future__ import annotations

import math
import random
import tempfile
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.engine_reference import Reference, agree
from tests.contracts.engine_sources import (
    CSV,
    DYNAMIC,
    EVERYWHERE,
    TYPED,
    UNORDERED,
    categories,
    dates,
    declare,
    from_arrow,
    from_parquet,
    from_sqlite,
    numbers,
)
from wallflower.errors import UsageError
from wallflower.schema.declaration import Becomes, Clip, Drop

X = numbers(edges=(-10, 0, 3))
TEXT_ROWS = [
    ("1", "0.05", "a", "1970-01-01"),
    ("2", "-0.05", "b", "1969-12-31"),
    ("3", " +.15e0 ", "3", "2020-02-29"),
    ("3", "5.0000001", "ü\n", "2019-02-29"),
    ("05", "-5.04", "A", "2021-01-01"),
    ("ключ", "1e999", "", "0000-01-01"),
    ("six", "-1e999", None, ""),
    ("seven", "nan", "a ", None),
    ("", "inf", 'quo"ted', "1970-1-1"),
    (None, None, "a", "1970-01-01 "),
    ("eight", "", "b", "1234-01-01"),
    ("nine", "1_000", "3", "9999-12-31"),
    ("ten", "0x10", "3", "１970-01-01"),
    ("eleven", "٣", "b", "1970-01-02"),
    ("twelve", "1,5", "b", "not a date"),
    ("13", "1e-400", "b", "2000-01-01"),
    ("14", "4.95", "a\ufffd", "2000-01-02"),
    ("15", "1" * 400, "never, says\nthe line", "2000-01-02"),
    ("16", "-" + "9" * 30 + "e-29", "b", "2000-01-02"),
    ("17", "0.25", "b", "2000-01-02"),
    ("18", "0.35", "b", "2000-01-02"),
    ("19", ".", "b", "2000-01-02"),
    ("20", "1 2", "b", "2000-01-02"),
    ("21", "\t1", "b", "2000-01-02"),
    ("22", "1\n", "b", "2000-01-02\n"),
    ("23", "5", "b", "2000-01-02"),
    ("24", "-5.00", "b", "2000-01-02"),
]
KEYS = ["1", "2", "3", "05", "5", "ключ", "", "six", "seven", "eight", "nothing", "row:0", "14", "'", "22"]
FEW_KEYS = ["2", "3", "ключ", "seven"]
"""A record, two of one name, and two with cells outside and missing: one test asks for all KEYS."""


def text_table(rows=TEXT_ROWS) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([], [], [], [])
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in zip("kxcd", columns, strict=True)})


def reference_for(table: pa.Table, declaration, columns) -> Reference:
    return Reference(declaration, columns, table.to_pylist())


@pytest.mark.parametrize("columns", [("x", "c"), ("x", "d", "c"), ("c",), ("d",)], ids="+".join)
def test_text_cells_are_read_by_the_rule(place, tmp_path, columns):
    declaration = declare(X, categories(), dates())
    source = place(text_table(), declaration, tmp_path)
    with source.rows(columns) as rows:
        metric = "x" if "x" in columns else None
        reference = reference_for(text_table(), declaration, columns)
        by = [name for name in columns if name != "x"]
        if metric:
            asked = {"centres": (0, 3), "keys": KEYS, "sides": (0, 2)}  # each answer is a statement: all of them, once
            if columns != ("x", "c"):
                asked = {"centres": (3,), "keys": FEW_KEYS, "sides": (2,)}
            agree(rows, reference, by=by, metric=metric, **asked)
        else:
            assert sorted(rows.fetch(codes=columns).codes.tolist()) == sorted(reference.codes(columns))
            assert sorted(rows.fetch(numbers=columns).numbers.tolist()) == sorted(reference.numbers(columns))


ACTIONS = [(Drop(), Drop()), (Clip(), Becomes(7)), (Becomes(-3), Drop()), (Becomes(0), Becomes(50))]


@pytest.mark.parametrize(("outside", "missing"), ACTIONS)
def test_outside_and_missing_are_applied(place, tmp_path, outside, missing):
    declaration = declare(
        numbers(outside=outside, missing=missing, edges=(0,)), categories(outside=Becomes(4), missing=Drop())
    )
    with place(text_table(), declaration, tmp_path).rows(("x", "c")) as rows:
        agree(
            rows,
            reference_for(text_table(), declaration, ("x", "c")),
            by=["c", "x"],
            metric="x",
            centres=(1,),
            keys=FEW_KEYS,
        )


def test_a_stream_has_every_row_and_ascends(place, tmp_path):
    declaration = declare(X, categories(), dates())
    with place(text_table(TEXT_ROWS * 2), declaration, tmp_path).rows(("x", "c", "d")) as rows:
        for names in (("x",), ("c", "x"), ("d", "x", "c")):
            due = sorted(rows.fetch(numbers=names).numbers.tolist())
            for by in (None, *names):
                batches = list(rows.stream(names, by=by))
                found = np.concatenate([np.repeat(batch.numbers, batch.times, axis=0) for batch in batches])
                assert sorted(found.tolist()) == due
                if by is not None:
                    assert (np.diff(found[:, names.index(by)]) >= 0).all()
                    assert sum(len(batch.times) for batch in batches) == len({tuple(row) for row in due})
        with pytest.raises(UsageError, match="not part of this view"):
            next(rows.stream(("nothing",)))


def test_an_empty_table_has_answers(place, tmp_path):
    declaration = declare(X, categories(), dates())
    with place(text_table([]), declaration, tmp_path).rows(("x", "c", "d")) as rows:
        agree(
            rows,
            reference_for(text_table([]), declaration, ("x", "c", "d")),
            by=["c"],
            metric="x",
            centres=(0,),
            keys=["1", "row:0"],
        )
        assert not sum(len(batch.times) for batch in rows.stream(("x", "c"), by="x"))


def test_rows_without_a_key_are_named_by_their_place(place, tmp_path):
    declaration = declare(X, categories(), key=None)
    places = (0, 1, 4, len(TEXT_ROWS) - 1, len(TEXT_ROWS))  # the fifth is dropped: its category is not declared
    keys = [*(f"row:{at}" for at in places), "row:00", "row:-1", "1", "row:99999999999999999999"]
    with place(text_table(), declaration, tmp_path).rows(("x", "c")) as rows:
        if place in UNORDERED:
            assert [rows.record(key) for key in keys] == [None] * len(keys)
            keys = []
        agree(rows, reference_for(text_table(), declaration, ("x", "c")), by=["c"], metric="x", centres=(0,), keys=keys)


def test_the_order_of_rows_means_nothing(place, tmp_path):
    declaration = declare(X, categories(), dates())
    shuffled = random.Random(1).sample(TEXT_ROWS, len(TEXT_ROWS))
    answers = []
    for at, rows_ in enumerate((TEXT_ROWS, shuffled)):
        (tmp_path / str(at)).mkdir()
        with place(text_table(rows_), declaration, tmp_path / str(at)).rows(("x", "c")) as rows:
            cells, nearest = rows.cells(["c"], "x", 1), rows.nearest(["c"], "x", 1, 2)
            answers.append(
                [getattr(cells, part).tolist() for part in ("counts", "totals", "squares", "least", "most")]
                + [getattr(nearest, part).tolist() for part in ("starts", "values", "multiplicities")]
                + [rows.between(["c"], "x", 0, 2).tolist()]
                + [sorted(rows.fetch(numbers=["x", "c"]).numbers.tolist()), repr(rows.record("2"))]
            )
    assert answers[0] == answers[1]


INTEGERS = [0, -5, 5, 6, 2**53 + 1, -(2**63), 2**63 - 1, None, 3, 3]
REALS = [0.05, -0.05, math.nan, math.inf, -math.inf, 5.0, 5.000000000000001, -0.0, None, 0.15000000000000002]
DECIMALS = [
    Decimal(t) if t else None
    for t in ("0.05", "-0.05", "0.15", "99999999.99", "-5.04", "3.00", None, "2.50", "0.25", "4.95")
]
DAYS = [
    date(1970, 1, 1),
    date(1969, 12, 29),
    date(2020, 2, 29),
    date(2020, 3, 1),
    None,
    date(1, 1, 1),
    date(9999, 12, 31),
    *[date(2000, 1, 1)] * 3,
]
MOMENTS = [
    datetime(1970, 1, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime(2020, 2, 29, 23),
    datetime(1677, 12, 1),
    None,
    *[datetime(2000, 1, 1, 12)] * 5,
]
TYPES = {
    "int64": (INTEGERS, pa.int64()),
    "int8": ([n if n is not None and abs(n) < 128 else None for n in INTEGERS], pa.int8()),
    "uint64": ([n if n is not None and n >= 0 else 2**64 - 1 for n in INTEGERS], pa.uint64()),
    "double": (REALS, pa.float64()),
    "float": ([0.5, 2.25, -3.0, 1e30, math.nan, None, 0.0, 4.75, 3.0, 1.0], pa.float32()),
    "decimal": (DECIMALS, pa.decimal128(12, 2)),
}


@pytest.mark.parametrize("place", TYPED, ids=lambda make: make.__name__)
@pytest.mark.parametrize("type_", TYPES)
def test_typed_numbers_are_read_by_the_rule(place, tmp_path, type_):
    cells, arrow = TYPES[type_]
    table = pa.table({"k": pa.array(range(len(cells))), "x": pa.array(cells, arrow), "c": pa.array(cells, arrow)})
    values = [
        "0",
        "3",
        "5",
        "3.0",
        "9007199254740993",
        "-0.05",
        "2.5",
        "18446744073709551615",
        "x",
        "-9223372036854775808",
        "1e400",
        "4.75",
    ]
    declaration = declare(X, categories(values=values, outside=Becomes(8)))
    with place(table, declaration, tmp_path).rows(("x", "c")) as rows:
        reference = reference_for(table, declaration, ("x", "c"))
        agree(rows, reference, by=["c"], metric="x", centres=(0,), keys=["0", "3", "3.0", "9", "10", "x"])


@pytest.mark.parametrize("place", TYPED, ids=lambda make: make.__name__)
@pytest.mark.parametrize("cells", [INTEGERS, REALS, ["a", "b", None, "", "a"]], ids=["integers", "reals", "texts"])
def test_typed_keys_are_compared_like_categories(place, tmp_path, cells):
    table = pa.table({"k": pa.array(cells), "x": pa.array([1.0] * len(cells))})
    declaration = declare(X)
    keys = [
        "0",
        "3",
        "5",
        "5.0",
        "-0.05",
        "nan",
        "a",
        "b",
        "",
        "9223372036854775807",
        "9007199254740993",
        "9007199254740992",
        "row:1",
    ]
    if cells is INTEGERS and place.__name__ == "from_pandas":
        keys = keys[:9]  # pandas turns integers with gaps into doubles, and those do not hold the long ones
    with place(table, declaration, tmp_path).rows(("x",)) as rows:
        agree(rows, reference_for(table, declaration, ("x",)), by=[], metric="x", centres=(0,), keys=keys)


@pytest.mark.parametrize("place", TYPED, ids=lambda make: make.__name__)
@pytest.mark.parametrize("type_", ["date", "us", "s", "zoned", "boolean"])
def test_typed_dates_and_booleans_are_read_by_the_rule(place, tmp_path, type_):
    table = {
        "date": lambda: pa.table({"d": pa.array(DAYS), "c": pa.array(DAYS)}),
        "us": lambda: pa.table({"d": pa.array(MOMENTS, pa.timestamp("us"))}),
        "s": lambda: pa.table({"d": pa.array([m and m.replace(microsecond=0) for m in MOMENTS], pa.timestamp("s"))}),
        "zoned": lambda: pa.table(
            {
                "d": pa.array(
                    [datetime(2000, 1, 1, 22, tzinfo=timezone(timedelta(hours=-5))), None],
                    pa.timestamp("us", tz="America/Lima"),
                )
            }
        ),
        "boolean": lambda: pa.table({"c": pa.array([True, False, None])}),
    }[type_]()
    names = tuple(table.column_names)
    declaration = declare(
        dates(missing=Becomes(0)),
        categories(values=("false", "true", "1970-01-01", "2000-01-01", "x"), outside=Becomes(4)),
        key=None,
    )
    with place(table, declaration, tmp_path).rows(names) as rows:
        reference = reference_for(table, declaration, names)
        assert sorted(rows.fetch(numbers=names).numbers.tolist()) == sorted(reference.numbers(names))
        assert sorted(rows.fetch(codes=names).codes.tolist()) == sorted(reference.codes(names))
        if place in UNORDERED:
            assert rows.record("row:0") is None  # rows of a server have no place
        else:
            assert rows.record("row:0").numbers == reference.all[0]


@pytest.mark.parametrize("place", DYNAMIC, ids=lambda make: make.__name__)
def test_cells_with_their_own_types_do_not_change_each_other(place, tmp_path):
    cells = [0.05, 3, 3.0, True, None, "3", "3.0", 2.5, -5, 10**15, 1e300, "x", 0.1 + 0.2]
    rows_ = [{"k": cell, "x": cell, "c": cell} for cell in cells]
    texts = [
        "0.05",
        "3",
        "3",
        "true",
        None,
        "3",
        "3.0",
        "2.5",
        "-5",
        "1000000000000000",
        "1e+300",
        "x",
        "0.30000000000000004",
    ]

    class Table:
        column_names = ("k", "x", "c")

        def __init__(self, values) -> None:
            self.values = values

        def to_pylist(self):
            return self.values

        def __getitem__(self, name):
            return Table([row[name] for row in self.values])

    declaration = declare(X, categories(values=("3", "3.0", "true", "2.5"), outside=Becomes(3)))
    written = [{"k": text, "x": text, "c": text} for text in texts]
    if place is from_sqlite:
        written[3] = {"k": "1", "x": "1", "c": "1"}  # SQLite has no booleans
    with place(Table(rows_), declaration, tmp_path).rows(("x", "c")) as rows:
        agree(
            rows,
            Reference(declaration, ("x", "c"), written),
            by=["c"],
            metric="x",
            centres=(0,),
            keys=["3", "3.0", "2.5", "true", "x", "-5"],
        )


STEPS = [
    ("-9007199254740000", "9007199254740000", "1"),
    ("-1e-20", "1e-20", "1e-30"),
    ("-6e30", "6e30", "3e20"),
    ("-1/3", "5", "1/3"),
    ("0", "5e6", "0.01"),
    ("-7.5", "7.5", "2.5"),
    ("-1e308", "1e308", "1e305"),
]


@pytest.mark.parametrize("place", [from_arrow, from_parquet, *CSV], ids=lambda make: make.__name__)
@pytest.mark.parametrize("bounds", STEPS, ids=lambda bounds: bounds[2])
def test_ties_and_large_and_small_steps_round_the_same(place, tmp_path, bounds):
    lower, upper, step = bounds
    column = numbers(lower=lower, upper=upper, step=step, missing=Drop())
    draw, domain = random.Random(7), column.domain
    cells = [float(domain.lower), float(domain.upper), math.nextafter(float(domain.upper), math.inf), 0.0, -0.0, 5e-324]
    for _ in range(400):
        k = draw.randint(domain.first, domain.last)
        tie = (
            float((k + draw.choice([0, 0.5, 0.25])) * domain.step)
            if domain.last < 2**40
            else float(k * domain.step) + draw.choice([0, 0.5])
        )
        cells += [tie, math.nextafter(tie, -math.inf), math.nextafter(tie, math.inf)]
    table = pa.table({"x": pa.array(cells if place not in CSV else [repr(cell) for cell in cells])})
    declaration = declare(column, key=None)
    with place(table, declaration, tmp_path).rows(("x",)) as rows:
        centre = domain.first // 3
        agree(rows, reference_for(table, declaration, ("x",)), by=[], metric="x", centres=(centre,), keys=[])


TEXTS = st.one_of(
    st.none(),
    st.sampled_from([cell for row in TEXT_ROWS for cell in row if cell is not None]),
    st.floats().map(repr),
    st.decimals(min_value=-6, max_value=6, places=2).map(str),
    st.dates().map(str),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5),
)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows_=st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), max_size=12), centre=st.integers(-60, 60))
def test_any_table_of_texts_is_read_alike_everywhere(rows_, centre):
    declaration = declare(X, categories(), dates())
    table = text_table(rows_)
    reference = reference_for(table, declaration, ("x", "c"))
    keys = [row[0] for row in rows_ if row[0] is not None]
    for place in EVERYWHERE:
        with tempfile.TemporaryDirectory() as folder, place(table, declaration, Path(folder)).rows(("x", "c")) as rows:
            agree(rows, reference, by=["c"], metric="x", centres=(centre,), keys=keys[:3], sides=(2,))
