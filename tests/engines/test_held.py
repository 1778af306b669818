"""Small files are read in memory, large ones pushed down: by the declared bound alone, and to the same answers."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from tests.contracts.engine_sources import declare, from_csv, from_held_csv, from_parquet, numbers
from wallflower.engines import arrow_cells
from wallflower.engines.duckdb.rows import DuckRows
from wallflower.engines.duckdb.source import HELD, MANY_TIMES
from wallflower.engines.memory.rows import MemoryRows
from wallflower.schema.domains import EPOCH

TABLE = pa.table({"k": [str(at) for at in range(20)], "x": [str(at / 10) for at in range(20)]})


def opened(source):
    with source.rows(("x",)) as rows:
        return type(rows), sorted(rows.fetch(numbers=("x",)).numbers.tolist())


def test_the_declared_bound_chooses_and_the_rows_do_not(tmp_path):
    few, many = declare(numbers(), max_rows=HELD), declare(numbers(), max_rows=HELD + 1)
    held = from_held_csv(TABLE, few, tmp_path)
    assert opened(held) == (MemoryRows, [[at] for at in range(20)])
    assert opened(replace(held, declaration=replace(many, source=held.declaration.source))) == (
        DuckRows,
        [[at] for at in range(20)],
    )
    assert opened(from_parquet(TABLE.set_column(1, "x", pa.array([1.5] * 20)), few, tmp_path))[0] is DuckRows


@pytest.mark.parametrize(("held", "kind"), [(20 // MANY_TIMES, MemoryRows), (20 // MANY_TIMES - 1, DuckRows)])
def test_a_file_that_breaks_the_bound_many_times_over_is_pushed_down_and_read_whole(held, kind, tmp_path):
    source = replace(from_csv(TABLE, declare(numbers(), max_rows=1), tmp_path), held=held)
    assert opened(source) == (kind, [[at] for at in range(20)])


@pytest.mark.parametrize(("room", "kind"), [(2**20, MemoryRows), (2**14, DuckRows)])
def test_long_texts_are_pushed_down_and_not_held(room, kind, tmp_path, monkeypatch):
    """Rows are few whatever the texts are; these were more than Arrow, or memory, had room for: after the charge."""
    monkeypatch.setattr("wallflower.engines.duckdb.source.ROOM", room)
    table = TABLE.set_column(0, "k", pa.array(["a" * 3_000] * 20))
    assert opened(from_held_csv(table, declare(numbers()), tmp_path)) == (kind, [[at] for at in range(20)])


def test_texts_of_a_batch_may_be_longer_than_two_gibibytes(tmp_path):
    """Which usual texts of Arrow are not: their places are counted in 32 bits."""
    held = from_held_csv(TABLE, declare(numbers(), key=None), tmp_path)
    with held.open(("x",)) as rows:
        assert rows.base.reader("SELECT c0 FROM staged").schema.types == [pa.large_string()]


def test_columns_are_made_as_arrow_makes_them():
    texts, days = ["a", None, "", "ü\0"], [date(1969, 12, 30), EPOCH, date(2020, 2, 29)]
    assert arrow_cells.texts(texts).equals(pa.array(texts, pa.large_string()))
    assert arrow_cells.texts([]).equals(pa.array([], pa.large_string()))
    assert arrow_cells.days(days).equals(pa.array(days))
    assert arrow_cells.doubles([1.5, -0.0]).equals(pa.array([1.5, -0.0]))
    assert arrow_cells.whole(np.array([2**62, -1])).equals(pa.array([2**62, -1]))


@pytest.mark.parametrize(
    "type_", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
)
def test_columns_are_taken_apart_as_arrow_takes_them(type_):
    cells = pa.array([1, None, 3, None, 100], getattr(pa, type_)())
    for part in (cells, cells.slice(1, 3), cells.slice(4), cells.slice(5)):
        taken = arrow_cells.as_numpy(arrow_cells.filled(part, 7))
        assert taken.dtype == np.dtype(type_)
        assert taken.tolist() == [7 if value is None else value for value in part.to_pylist()]
    if type_.startswith("float"):
        assert math.isnan(arrow_cells.as_numpy(arrow_cells.filled(cells, math.nan))[1])


def test_booleans_are_taken_apart_and_null_is_false():
    cells = pa.array([True, None, False] * 5)
    for part in (cells, cells.slice(1, 9), cells.slice(15)):
        assert arrow_cells.mask(part).tolist() == [bool(value) for value in part.to_pylist()]
