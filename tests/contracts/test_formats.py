"""Declared ways of writing numbers, dates and missing cells are read alike by every engine, and as a naive reader reads them."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from tests.contracts.engine_reference import Reference
from tests.contracts.engine_sources import CSV, EVERYWHERE, TYPED, categories, dates, declare, numbers
from wallflower.schema.declaration import Becomes, Reading
from wallflower.schema.formats import DateFormat

GERMAN = tuple(map(DateFormat, ("%d.%m.%Y", "%d.%m.%y", "%Y-%m-%d", "%d%b%Y", "%Y/%m/%d %H:%M:%S")))
NUMBERS = [
    "1,234",
    "1,234.5",
    "12,34",
    "1234",
    ",234",
    "1,2345",
    " -1,234,567.25 ",
    "1,234e1",
    "999",
    " 999.0 ",
    "NA",
    " unknown ",
    "unknown.",
    "+999",
    "9,99",
    "1,234,5678",
    "1.5",
    "0",
    "",
    None,
    "1234,567",
    "999.00001",
    "1, 234",
    "NA\n",
]
DATES = [
    "31.12.1999",
    "1.2.2000",
    "31.2.2000",
    "01.02.68",
    "01.02.69",
    "1999-12-31",
    "1999-1-1",
    "05JAN2010",
    "05jan2010",
    "5Jan2010",
    "05XYZ2010",
    "2010/01/05 23:59:59",
    "2010/01/05 24:00:00",
    "2010/1/5 1:2:3",
    "NA",
    " 01.01.1970",
    "01.01.0000",
    "0000-01-01",
    "29.02.2001",
    "29.02.2000",
    "",
    None,
    "unknown",
    "01.01.1970\n",
]
WORDS = ["a", "b", "NA", " NA ", "999", "999.0", "unknown", "c", "", None, "a", "3", *["b"] * 12]


def table_of():
    cells = {"x": NUMBERS, "d": DATES, "c": WORDS}
    keys = pa.array([str(at) for at in range(len(NUMBERS))])
    return pa.table({"k": keys, **{name: pa.array(each, pa.string()) for name, each in cells.items()}})


def declared(**reading):
    read = Reading(**{"thousands": ",", "dates": GERMAN, "missing_codes": ("NA", "unknown", "999", "(?.*)"), **reading})
    columns = (
        numbers(lower="-2000000", upper="5000", step="0.5"),
        dates(missing=Becomes(7)),
        categories(missing=Becomes(1)),
    )
    return declare(*columns, read=read)


def same_as_naive(source, declaration, table):
    reference = Reference(declaration, ("x", "d", "c"), table.to_pylist())
    with source.rows(("x", "d", "c")) as rows:
        assert rows.fetch(numbers=("x", "d", "c")).numbers.tolist() == reference.numbers(("x", "d", "c"))


@pytest.mark.parametrize("place", EVERYWHERE, ids=lambda make: make.__name__)
def test_texts_are_read_as_declared(place, tmp_path):
    table, declaration = table_of(), declared()
    same_as_naive(place(table, declaration, tmp_path), declaration, table)


@pytest.mark.parametrize("place", EVERYWHERE, ids=lambda make: make.__name__)
def test_a_column_has_settings_of_its_own(place, tmp_path):
    declaration = declared(thousands="", dates=None, missing_codes=())
    x, d, c = declaration.columns.values()
    own = {
        "x": replace(x, thousands="'", missing_codes=("1.5",)),
        "d": replace(d, dates=GERMAN[:1]),
        "c": replace(c, missing_codes=("3",)),
    }
    declaration = replace(declaration, columns=own)
    cells = {
        "x": ["1'234", "1,234", "1.50", "7", "12'34"],
        "d": ["1.2.2000", "2000-02-01", None, "", "x"],
        "c": list("a3bab"),
    }
    table = pa.table({"k": list("12345"), **cells})
    same_as_naive(place(table, declaration, tmp_path), declaration, table)


@pytest.mark.parametrize("thousands", [".", " ", "\u202f", "'"])
def test_a_decimal_comma_in_a_text_file(tmp_path, thousands):
    declaration = declared(decimal=",", thousands=thousands)
    texts = [
        "1.234,5",
        "1 234,5",
        "1\u202f234,5",
        "1'234,5",
        "1234,5",
        "1.5",
        "1,5",
        "999,0",
        " 1 234 ",
        "1 23",
        "12 345 678,5",
    ]
    table = pa.table({"k": texts, "x": texts, "d": ["1.1.2000"] * len(texts), "c": ["a"] * len(texts)})
    for place in CSV:
        same_as_naive(place(table, declaration, tmp_path), declaration, table)


TYPED_CELLS = {
    "int64": ([1, 999, -999, 2**60, None, 5], pa.int64()),
    "uint8": ([1, 99, 9, 255, None, 5], pa.uint8()),
    "double": ([999.0, 999.5, -999.0, 1e300, None, 3.0], pa.float64()),
    "decimal": (
        [Decimal("999.00"), Decimal("-999.00"), Decimal("9.99"), None, Decimal(3), Decimal(1)],
        pa.decimal128(12, 2),
    ),
}


@pytest.mark.parametrize("place", TYPED, ids=lambda make: make.__name__)
@pytest.mark.parametrize("type_", TYPED_CELLS)
def test_codes_are_missing_in_typed_columns_too(place, tmp_path, type_):
    cells, arrow = TYPED_CELLS[type_]
    days = [date(1900, 1, 1), date(2000, 1, 1), None, date(1970, 1, 1), date(1900, 1, 2), date(1999, 1, 1)]
    declaration = declared(missing_codes=("999", "-999", "1900-01-01", "x", "255"))
    if place.__name__ == "from_pandas":
        days = [None] * 6  # pandas has no dates
    table = pa.table(
        {
            "k": pa.array(range(6)),
            "x": pa.array(cells, arrow),
            "d": pa.array(days, pa.date32()),
            "c": pa.array(cells, arrow),
        }
    )
    if place.__name__ == "from_pandas":
        table = table.set_column(2, "d", pa.array([None] * 6, pa.string()))
    same_as_naive(place(table, declaration, tmp_path), declaration, table)
