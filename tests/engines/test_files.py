"""What only files can do wrong: broken lines, strange encodings, formats that are not what they say."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.contracts.engine_sources import categories, declare, numbers
from wallflower.engines import from_frame, open_source
from wallflower.engines.base import refuse_damage
from wallflower.errors import DeclarationError, WallflowerError
from wallflower.schema.declaration import Becomes, Reading

X = numbers("x", missing=Becomes(-1))
C = categories("c", ("a", "b", "é", "x,y"), outside=Becomes(3), missing=Becomes(0))


def read(path, *, columns=("x",), key=None, record=None, **changes):
    declaration = replace(declare(X, C, key=key), source=path, **changes)
    with open_source(declaration).rows(columns) as rows:
        return rows.record(record) if record else rows.fetch(numbers=columns).numbers.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,c\n1,a\n2\n3,a,surplus,cells\n", [[10], [20], [30]]),
        ("x,c\r\n1,a\r\n2,b\r\n", [[10], [20]]),
        ("x,c\n1,a\r\n2,b\n", [[10], [20]]),
        ("x,c\n1,a\n\n\n2,b", [[10], [20]]),
        ('x,c\n1,"a\nb"\n2,"x,y"\n', [[10], [20]]),
        ('x,c\n1,"a"trailing\n2,b\n', [[10], [20]]),
        ('x,c\n1,a"b\n2,b\n', [[10], [20]]),
        ('x,c\n1,a\n2,"never closed\n3,b\n', [[10], [20]]),
        ("x,c\n", []),
        ("x,c", []),
        ("\ufeffx,c\n1,a\n", [[10]]),
        ("x,c\n#1,a\n2,a\n", [[-1], [20]]),
        ("x,c\n1\0,a\n2,a\n", [[-1], [20]]),
        ("x,c\nNULL,a\n\\N,a\n", [[-1], [-1]]),
        ('"x" ,c\n1,a\n', None),
    ],
)
def test_no_line_of_a_csv_makes_reading_fail(tmp_path, text, expected):
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8", newline="")
    if expected is None:
        with pytest.raises(DeclarationError, match="no column 'x'"):
            read(path)
    else:
        assert read(path) == expected


def test_a_long_line_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,c\n1," + "a" * 5_000_000 + "\n2,b\n")
    assert read(path) == [[10], [20]]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252", "utf-8", "utf-8-sig"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    path.write_bytes("x,c\n1,é\n2,b\n".encode(encoding))
    assert read(path, columns=("x", "c"), read=Reading(encoding=encoding)) == [[10, 2], [20, 1]]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "utf-16-le"])
def test_bytes_that_are_no_text_make_one_cell_unreadable(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    bad = b"\x00\xd8" if encoding == "utf-16-le" else b"\xff\xfe"
    codec = "utf-16-le" if encoding == "utf-16-le" else "utf-8"
    path.write_bytes("x,c\n1,b".encode(codec) + bad + "\n2,b\n".encode(codec))
    assert read(path, columns=("x", "c"), read=Reading(encoding=encoding)) == [[10, 0], [20, 1]]


def test_delimiter_and_decimal_mark(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x;c\n1,5;a\n1.5;b\n-,5;a\n")
    assert read(path, read=Reading(delimiter=";", decimal=",")) == [[15], [-1], [-5]]


@pytest.mark.parametrize(
    "line", ["not json", '{"x": [1', "[1]", '"x"', "17", "", '{"y": 1}', '{"x": {"a": 1}}', '{"x": [1]}']
)
def test_no_line_of_json_makes_reading_fail(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"x": 1}}\n{line}\n{{"x": 2}}\n')
    numbers_ = [number for (number,) in read(path)]
    assert [number for number in numbers_ if number != -1] == [10, 20]


def test_an_empty_json_file_is_an_empty_table(tmp_path):
    for name, text in (("a.json", "[]"), ("b.jsonl", ""), ("c.json", "")):
        (tmp_path / name).write_text(text)
        assert read(tmp_path / name) == []


def test_sqlite_cells_of_every_type(tmp_path):
    path = tmp_path / "rows.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
        cells = [1, 1.5, "2", b"3", None, float("inf"), "", "2.25"]
        connection.executemany("INSERT INTO t VALUES (?)", [(cell,) for cell in cells])
        connection.execute("INSERT INTO t VALUES (CAST(x'ff' AS TEXT))")
    connection.close()
    assert read(path, source_table="t") == [[10], [15], [20], [-1], [-1], [-1], [-1], [23], [-1]]


def test_duckdb_enums_and_128_bit_integers(tmp_path):
    path = tmp_path / "rows.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (x HUGEINT, c ENUM('a', 'é', 'other'))")
        connection.execute(
            "INSERT INTO t VALUES (1, 'é'), (170141183460469231731687303715884105727, 'other'), (NULL, NULL)"
        )
    assert read(path, columns=("x", "c"), source_table="t") == [[10, 2], [50, 3], [-1, 0]]


def before_the_charge(source):
    source.verify(("x",))
    refuse_damage(source, ("x",))


def test_a_file_that_is_not_what_it_says_is_refused(tmp_path):
    for name, content in (
        ("a.parquet", b"x,c\n1,canary\n"),
        ("b.json", b'[{"x": canary}'),
        ("c.xlsx", b"PK"),
        ("d.duckdb", b"canary"),
    ):
        (tmp_path / name).write_bytes(content)
        source = open_source(replace(declare(X, C, key=None), source=tmp_path / name, source_table="t"))
        with pytest.raises(WallflowerError) as caught:
            before_the_charge(source)
        assert "canary" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_missing_files_and_tables_are_named(tmp_path):
    with pytest.raises(DeclarationError, match=r"no file 'gone\.csv'"):
        read(tmp_path / "gone.csv")
    sqlite3.connect(tmp_path / "t.db").execute("CREATE TABLE salaries (x)").connection.close()
    with pytest.raises(DeclarationError, match="Did you mean 'salaries'"):
        read(tmp_path / "t.db", source_table="salary")
    with pytest.raises(DeclarationError, match="table ="):
        read(tmp_path / "t.db")


STRANGE = {
    "nul": "\0",
    "surrogate": "\ud800",
    "replacement": "\ufffd",
    "sql": "'; DROP TABLE staged; --",
    "tiny": "1e-999999999",
    "long": "9" * 5000,
    "letter": "é",
}


@pytest.mark.parametrize("key", STRANGE.values(), ids=STRANGE)
def test_a_strange_key_finds_nothing(tmp_path, key):
    path = tmp_path / "rows.csv"
    path.write_text("x,c\n1,a\n2,b\n")
    assert read(path, key="c", record=key) is None
    duckdb.sql("SELECT * FROM (VALUES (1.0, 1), (2.0, 2)) AS t(x, c)").write_parquet(str(tmp_path / "rows.parquet"))
    assert read(tmp_path / "rows.parquet", key="c", record=key) is None


def test_a_file_without_names_does_not_show_its_first_row(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("canary-41,a\n2,b\n")
    with pytest.raises(DeclarationError) as caught:
        read(path)
    assert "canary" not in str(caught.value)


def test_another_spelling_of_a_name_is_proposed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(" X,c\n2,b\n")
    with pytest.raises(DeclarationError, match="Did you mean ' X'"):
        read(path)


@pytest.mark.parametrize("name", ["rows[1]", "rows*", "rows?", "rows[", "row's", "x=7/rows"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_name_is_one_file_and_no_pattern_and_its_folder_no_column(tmp_path, name, ending):
    for stem, value in ((name, 1), ("rows1", 5), ("rowsx", 6)):
        path = tmp_path / f"{stem}.{ending}"
        path.parent.mkdir(exist_ok=True)
        if ending == "parquet":
            pd.DataFrame({"x": [value]}).to_parquet(path)
        else:
            path.write_text(f"x\n{value}\n" if ending == "csv" else f'[{{"x": {value}}}]')
    assert read(tmp_path / f"{name}.{ending}") == [[10]]


def test_a_decimal_too_wide_for_duckdb_is_refused_and_not_misread(tmp_path):
    wide = pa.table({"x": pa.array([Decimal("1.5")], pa.decimal256(60, 20))})
    pq.write_table(wide, tmp_path / "rows.parquet")
    with pytest.raises(DeclarationError, match="'x' has a type"):
        read(tmp_path / "rows.parquet")


def test_views_of_text_are_read_as_text():
    cells = pa.array(["1.5", "no", None], pa.string_view())
    with from_frame(pa.table({"x": cells, "c": cells}), declare(X, C, key="c")).rows(("x", "c")) as rows:
        assert rows.fetch(numbers=("x", "c")).numbers.tolist() == [[15, 3], [-1, 3], [-1, 0]]
        assert rows.record("no").numbers == {"x": -1, "c": 3}
