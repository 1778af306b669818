"""Readings from files and lines: numbers or NaN, in order, and never an error about a cell."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wallflower.engines.readings import windows_of_file, windows_of_lines
from wallflower.errors import UsageError

ODD = 'b,a\n1,10\nx,\n,20\n1e400,nan\n5\n6,60,7\n"q""",70\n'


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


def test_odd_cells_are_nan_and_stop_nothing(tmp_path):
    (tmp_path / "odd.csv").write_text(ODD)
    from_file = np.concatenate(list(windows_of_file(tmp_path / "odd.csv", ["a"], length=3)))
    from_lines = np.concatenate(list(windows_of_lines(io.StringIO(ODD), ["a"], length=3)))
    assert np.array_equal(from_lines[:, 0], [10, np.nan, 20, np.nan, np.nan, 60, 70], equal_nan=True)
    assert np.isnan(from_file).any()
    long = "a\n" + "1" * 200_000 + "\n2\n"
    assert np.concatenate(list(windows_of_lines(io.StringIO(long), ["a"], length=9)))[-1] == 2


def test_what_is_no_table_or_lacks_a_column_is_refused_without_a_quote(tmp_path):
    (tmp_path / "r.csv").write_text("flow\n4711\n")
    for path, columns in ((tmp_path / "r.csv", ["flov"]), (tmp_path / "none.csv", ["a"]), (tmp_path / "r.xls", ["a"])):
        with pytest.raises(UsageError) as caught:
            next(windows_of_file(path, columns, length=2))
        assert "4711" not in str(caught.value)
    (tmp_path / "r.parquet").write_bytes(b"4711")
    with pytest.raises(UsageError) as caught:
        next(windows_of_file(tmp_path / "r.parquet", ["a"], length=2))
    assert "4711" not in str(caught.value)
    with pytest.raises(UsageError, match="Did you mean 'flow'"):
        next(windows_of_lines(io.StringIO("flow\n1\n"), ["flov"], length=2))
