"""Readings from files and lines: the same rule as for tables; numbers or NaN, in order, and never an error about a cell."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wallflower.engines.readings import windows_of_file, windows_of_lines
from wallflower.errors import UsageError, WallflowerError

ODD = (
    'b,a\n1,10\nx,\n,20\n1e400,nan\n5\n6,60,7\n"q""",70\n"two\nlines",80\n\n#,90\n# 5,100\n,1_000\n,1e400\n, 7 \n,inf\n'
)
READ = [10, np.nan, 20, np.nan, np.nan, 60, 70, 80, 90, 100, np.nan, np.nan, 7, np.nan]


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
