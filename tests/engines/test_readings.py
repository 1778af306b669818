"""Readings from files and lines: the same rule as for tables; numbers or NaN, in order, and never an error about a cell."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wallflower.engines import expressions
from wallflower.engines.dialect import double
from wallflower.engines.duckdb.database import database
from wallflower.engines.duckdb.files import open_file
from wallflower.engines.reading_rule import State, rule_for
from wallflower.engines.readings import ANY_NUMBER, refuse_unusable, windows_of_file, windows_of_lines
from wallflower.errors import DeclarationError, UsageError, WallflowerError
from wallflower.schema.declaration import Column, Reading

ODD = (
    'b,a\n1,10\nx,\n,20\n1e400,nan\n5\n6,60,7\n"q""",70\n"two\nlines",80\n\n#,90\n# 5,100\n,1_000\n,1e400\n, 7 \n,inf\n'
    ' "x,y" , "100"\n'
)
READ = [10, np.nan, 20, np.nan, np.nan, 60, 70, 80, 90, 100, np.nan, np.nan, 7, np.nan, 100]


TEXTS = [
    *(
        "1",
        " -1.5 ",
        "+.5",
        "5.",
        ".",
        "-",
        "",
        None,
        "1e3",
        "1E-400",
        "-1e-400",
        "1e400",
        "4.9e-324",
        "2e-324",
        "1e",
        "0x1",
    ),
    *(
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        "1_000",
        "1,5",
        "1\t",
        "\t1",
        "1\n",
        "\u0661",
        "\ufffd",
        "1\ufffd",
        "\xa01",
        "-0",
        "١",
    ),
    *(
        "9007199254740993",
        "0.1",
        "0." + "0" * 400 + "1",
        "1" * 309,
        "2.2250738585072011e-308",
        "1.7976931348623159e308",
    ),
    *(
        "0.30000000000000004",
        "123456789012345678901234567890.5e-10",
        "  ",
        "1 2",
        "++1",
        "true",
        "2020-01-01",
        "00012",
        "1e+05",
    ),
]


def pushed_down(path, columns):
    """The same numbers from the rule as SQL: what a table's columns are read by, and what the sensor's reading must equal."""
    import ibis

    file = open_file(path, None, Reading())
    with database() as base:
        file.open(base)
        kinds = file.kinds(base, columns)
        file.stage(base, columns)
        staged, values = base.table("staged"), {}
        for at, name in enumerate(columns):
            rule = rule_for(Column(name=name, role="sensitive", domain=ANY_NUMBER), kinds[name])
            value, state = expressions.prepared(staged[f"c{at}"], rule, base.dialect)
            inside = (state == int(State.INSIDE)) & value.notnull()
            values[f"v{at}"] = ibis.cases((inside, value.cast("float64")), else_=double(float("nan")))
        found = base.arrow(staged.select(**values))
    return np.column_stack([each.to_numpy() for each in found.columns])


def bits(numbers):
    return np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)


def column(windows):
    return np.concatenate(list(windows))[:, 0]


def test_windows_come_in_order_and_start_where_one_left_off(tmp_path):
    values = np.arange(1000.0)
    pq.write_table(pa.table({"a": values, "b": -values}), tmp_path / "r.parquet")
    (tmp_path / "r.csv").write_text("a,b\n" + "".join(f"{value},{-value}\n" for value in values))
    for name in ("r.parquet", "r.csv"):
        windows = list(windows_of_file(tmp_path / name, ["b", "a"], length=300))
        assert [len(window) for window in windows] == [300, 300, 300, 100]
        assert np.array_equal(np.concatenate(windows)[:, 1], values)
        rest = np.concatenate(list(windows_of_file(tmp_path / name, ["a"], length=300, skip=650)))
        assert np.array_equal(rest[:, 0], values[650:])


def test_odd_cells_and_lines_are_read_alike_from_files_and_as_they_arrive(tmp_path):
    (tmp_path / "odd.csv").write_text(ODD)
    assert np.array_equal(column(windows_of_file(tmp_path / "odd.csv", ["a"], length=3)), READ, equal_nan=True)
    assert np.array_equal(column(windows_of_lines(io.StringIO(ODD), ["a"], length=3)), READ, equal_nan=True)
    long = "a\n" + "1" * 200_000 + "\n2\n"
    (tmp_path / "long.csv").write_text(long)
    for windows in (
        windows_of_lines(io.StringIO(long), ["a"], length=9),
        windows_of_file(tmp_path / "long.csv", ["a"], length=9),
    ):
        assert np.array_equal(column(windows), [np.nan, 2], equal_nan=True)


def test_every_type_is_read_bit_for_bit_as_it_is_pushed_down(tmp_path):
    size = len(TEXTS)
    whole = [None, 0, 1, -1, 2**53 + 1, -(2**63), 2**63 - 1, 2**53 + 3]
    reals = [None, 0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1.7976931348623157e308, 0.1]
    exact = [None, *map(Decimal, ("0.1", "-12345678901234567890.123456789", "9007199254740993", "0.000000001"))]

    def filled(cells, type_):
        return pa.array((cells * size)[:size], type_)

    table = pa.table(
        {
            "text": pa.array(TEXTS),
            "large": pa.array(TEXTS, pa.large_string()),
            "coded": pa.array(TEXTS).dictionary_encode(),
            "int64": filled(whole, pa.int64()),
            "int8": filled([None, -128, 127], pa.int8()),
            "uint64": filled([None, 2**64 - 1, 2**53 + 1], pa.uint64()),
            "double": filled(reals, pa.float64()),
            "float": filled(reals, pa.float32()),
            "half": filled([None, np.float16(0.1), np.float16("inf")], pa.float16()),
            "decimal": filled(exact, pa.decimal128(38, 9)),
            "short": filled([None, Decimal("0.30"), Decimal("-9.99")], pa.decimal128(3, 2)),
            "nothing": pa.nulls(size),
            "full": pa.array(np.arange(size, dtype=np.float64)),
        }
    )
    pq.write_table(table, tmp_path / "r.parquet")
    spelt = ['"' + (text or "").replace('"', '""') + '"' for text in TEXTS]
    (tmp_path / "r.csv").write_text("a\n" + "\n".join(spelt) + "\n", encoding="utf-8")
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({"a": text}) + "\n" for text in TEXTS), encoding="utf-8")
    for path, names in (
        (tmp_path / "r.parquet", table.column_names),
        (tmp_path / "r.csv", ["a"]),
        (tmp_path / "r.jsonl", ["a"]),
    ):
        expected = pushed_down(path, names)
        assert len(expected) == size
        for length in (7, 10**6):
            found = np.concatenate(list(windows_of_file(path, names, length=length)))
            assert np.array_equal(bits(found), bits(expected)), path.name
    assert np.isnan(expected).any()
    assert np.isfinite(expected).any()


def test_texts_that_are_no_text_are_not_numbers_and_stop_nothing(tmp_path):
    raw = pa.array([b"1", b"\xff2", b"3\xff", None, b"4"], pa.binary())
    cells = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers(), raw.null_count)
    pq.write_table(pa.table({"a": cells}), tmp_path / "r.parquet")
    expected = [1, np.nan, np.nan, np.nan, 4]
    assert np.array_equal(column(windows_of_file(tmp_path / "r.parquet", ["a"], length=2)), expected, equal_nan=True)


def test_reading_a_file_loads_nothing_that_writes_sql(tmp_path):
    pq.write_table(pa.table({"a": [1.0, None]}), tmp_path / "r.parquet")
    (tmp_path / "r.csv").write_text("a\n1\n")
    code = (
        "import sys; from pathlib import Path; from wallflower.engines.readings import windows_of_file;"
        "[list(windows_of_file(Path(each), ['a'], length=2)) for each in sys.argv[1:]];"
        "print([name for name in ('ibis', 'sqlglot', 'pandas') if name in sys.modules])"
    )
    files = [str(tmp_path / "r.parquet"), str(tmp_path / "r.csv")]
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_folder_is_no_column_and_a_name_is_no_pattern(tmp_path):
    folder = tmp_path / "temperature=99"
    folder.mkdir()
    for ending in ("csv", "parquet"):
        for stem, value in (("a[1]", 1.0), ("a1", 5.0), ("a*", 6.0)):
            path = folder / f"{stem}.{ending}"
            if ending == "csv":
                path.write_text(f"temperature\n{value}\n")
            else:
                pq.write_table(pa.table({"temperature": [value]}), path)
            assert column(windows_of_file(path, ["temperature"], length=2)).tolist() == [value]


def test_what_is_no_table_or_lacks_a_column_is_refused_without_a_quote(tmp_path):
    (tmp_path / "r.csv").write_text("flow\n4711\n")
    for path, columns in ((tmp_path / "r.csv", ["flov"]), (tmp_path / "none.csv", ["a"]), (tmp_path / "r.xls", ["a"])):
        with pytest.raises(WallflowerError) as caught:
            next(windows_of_file(path, columns, length=2))
        assert "4711" not in str(caught.value)
    (tmp_path / "bare.csv").write_text("4711\n4712\n")
    for windows in (
        windows_of_file(tmp_path / "bare.csv", ["flow"], length=2),
        windows_of_lines(io.StringIO("4711\n4712\n"), ["flow"], length=2),
    ):
        with pytest.raises(UsageError) as caught:
            next(windows)
        assert "4711" not in str(caught.value)
    (tmp_path / "r.parquet").write_bytes(b"4711")
    with pytest.raises(WallflowerError) as caught:
        next(windows_of_file(tmp_path / "r.parquet", ["a"], length=2))
    assert "4711" not in str(caught.value)
    with pytest.raises(UsageError, match="Did you mean 'flow'"):
        next(windows_of_lines(io.StringIO("flow\n1\n"), ["flov"], length=2))


TYPES = {
    "booleans": pa.array([True, False, None]),
    "days": pa.array([0, 1, None], pa.date32()),
    "moments": pa.array([0, 1, None], pa.timestamp("us")),
    "lists": pa.array([[1], [2], None]),
    "numbers": pa.array([1.5, 2, None]),
    "texts": pa.array(["1", "x", None]),
    "nothing": pa.nulls(3),
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_type_that_no_reading_can_have_is_refused_at_the_first_look(tmp_path, kind):
    """The first look at a file refuses exactly what reading it would, in the same words: a refused sensor leaves no book behind."""
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "b": TYPES[kind]}), tmp_path / "r.parquet")

    def said(work):
        try:
            work()
        except WallflowerError as error:
            return str(error)
        return None

    first = said(lambda: refuse_unusable(tmp_path / "r.parquet", ["a", "b"]))
    assert first == said(lambda: list(windows_of_file(tmp_path / "r.parquet", ["a", "b"], length=2)))
    assert (first is None) == (kind in ("numbers", "texts", "nothing"))


MARK = "\ufeff"
SAME = {
    "a mark before the names": MARK + "a,b\n1,2\n",
    "a mark further on": f"a\n1\n{MARK}2\n3\n",
    "blank lines in one column": "a\n\n1\n\n\n2\n\n",
    "blank lines in two": "a,b\n\n1,2\n\n\n3,4\n\n",
    "quoted blank lines": 'a,b\n1,"x\n\ny"\n2,z\n',
    "a long cell over two lines": f'a,b\n1,"{"x" * 200_000}\ny"\n2,3\n',
    "an unclosed quote": 'a,b\n1,"x\n2,y\n3,z\n',
    "lines of Windows": "a,b\r\n1,2\r\n\r\n# 5,6\r\n3,4\r\n",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_what_a_row_is_does_not_depend_on_whether_a_file_is_read_or_arrives(tmp_path, text):
    (tmp_path / "r.csv").write_text(text, encoding="utf-8", newline="")
    from_file = column(windows_of_file(tmp_path / "r.csv", ["a"], length=2))
    as_it_arrives = column(windows_of_lines(io.StringIO(text, newline=None), ["a"], length=2))
    assert len(from_file)
    assert np.array_equal(from_file, as_it_arrives, equal_nan=True)


def test_a_name_that_occurs_twice_is_refused_in_a_file_and_as_it_arrives(tmp_path):
    (tmp_path / "r.csv").write_text("a,b,a\n1,2,4711\n")
    for windows in (
        windows_of_file(tmp_path / "r.csv", ["a"], length=2),
        windows_of_lines(io.StringIO("a,b,a\n1,2,4711\n"), ["a"], length=2),
    ):
        with pytest.raises(DeclarationError, match="several columns named 'a'"):
            next(windows)
