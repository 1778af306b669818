"""What a view of any engine holds, and what it refuses to be asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.contracts.engine_sources import (
    TYPED,
    categories,
    dates,
    declare,
    from_pandas,
    numbers,
)
from tests.contracts.test_engines import TEXT_ROWS, X, text_table
from wallflower.engines import open_source
from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.declaration import Becomes, Drop


def test_answers_about_the_same_rows_line_up(tmp_path):
    """Many row groups and threads: `codes` and `numbers` come in the order of the file, on every call."""
    n = 100_000
    x = [((at * 7919) % 101 - 50) / 10 for at in range(n)]
    table = pa.table({"x": pa.array(x), "c": pa.array(["ab3"[at % 3] for at in range(n)])})
    declaration = declare(X, categories(missing=Drop()), key=None)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=1000)
    with open_source(replace(declaration, source=tmp_path / "rows.parquet")).rows(("x", "c")) as rows:
        assert rows.fetch(codes=["c"]).codes[:, 0].tolist() == [at % 3 for at in range(n)]
        assert rows.fetch(numbers=["x"]).numbers[:, 0].tolist() == [round(value * 10) for value in x]
        assert rows.record("row:77777").numbers == {"x": round(x[77777] * 10), "c": 77777 % 3}


def test_size_is_refused_unless_it_is_public(place, tmp_path):
    declaration = declare(numbers())
    with (
        place(text_table(), declaration, tmp_path).rows(("x",)) as rows,
        pytest.raises(DeclarationError, match="private"),
    ):
        _ = rows.size
    public = replace(declaration, neighbours="replace-one")
    with place(text_table(), public, tmp_path).rows(("x",)) as rows:
        assert rows.size == len(TEXT_ROWS)


def test_a_number_without_bins_has_no_codes(place, tmp_path):
    with place(text_table(), declare(numbers()), tmp_path).rows(("x",)) as rows:
        with pytest.raises(DeclarationError, match="no declared values"):
            rows.fetch(codes=["x"])
        with pytest.raises(DeclarationError, match="no declared values"):
            rows.cells(["x"], "x", 0)


def test_a_view_holds_only_its_columns(place, tmp_path):
    with place(text_table(), declare(X, categories()), tmp_path).rows(("x",)) as rows:
        for ask in (
            lambda: rows.fetch(numbers=["c"]).numbers,
            lambda: rows.fetch(codes=["c"]).codes,
            lambda: rows.cells(["c"], "x", 0),
            lambda: rows.nearest(["c"], "x", 0, 1),
            lambda: list(rows.stream(["c"])),
            lambda: list(rows.stream(["x"], by="c")),
        ):
            with pytest.raises(UsageError, match="not part of this view"):
                ask()


def test_a_missing_column_is_refused_by_name(place, tmp_path):
    source = place(text_table(), declare(X, numbers("xx", missing=Becomes(1))), tmp_path)
    if "json" in place.__name__:  # without a schema, a column that no record has is a column of missing cells
        source.verify(["xx"])
        with source.rows(["xx"]) as rows:
            assert rows.fetch(numbers=["xx"]).numbers.tolist() == [[1]] * len(TEXT_ROWS)
        return
    for ask in (source.verify, lambda columns: source.rows(columns).__enter__()):
        with pytest.raises(DeclarationError, match=r"no column 'xx'.*declare"):
            ask(["xx"])


def test_an_undeclared_column_and_an_identifier_are_refused(place, tmp_path):
    identifier = replace(categories("k"), domain=None, role="identifier")
    source = place(text_table(), declare(X, identifier), tmp_path)
    for name, message in (("y", "not declared"), ("k", "identifier")):
        with pytest.raises(DeclarationError, match=message):
            source.verify([name])


@pytest.mark.parametrize("place", TYPED, ids=lambda make: make.__name__)
def test_timestamps_are_no_key(place, tmp_path):
    """A record is asked for by a text, and each engine writes a moment in its own way."""
    table = pa.table({"k": [datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC)], "x": ["1", "2"]})
    with pytest.raises(DeclarationError, match="timestamps"):
        place(table, declare(X), tmp_path).verify(["x"])


@pytest.mark.parametrize("place", TYPED, ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ([datetime(2020, 1, 1, tzinfo=UTC)], categories("x")),
        ([True], numbers()),
        ([1.5], dates("x")),
        ([[1]], numbers()),
        ([{"a": 1}], categories("x")),
        ([b"x"], categories("x")),
    ],
    ids=["timestamp", "boolean", "real", "list", "record", "bytes"],
)
def test_a_type_that_cannot_be_read_is_refused_without_a_row(place, tmp_path, cells, column):
    table = pa.table({"x": pa.array(cells * 2)})
    source = place(table, declare(column, key=None), tmp_path)
    if place is from_pandas and isinstance(cells[0], list | dict | bytes):  # objects, where each cell has its own type
        source.verify(["x"])
        with source.rows(["x"]) as rows:
            assert rows.fetch(numbers=["x"]).numbers.tolist() == [[column.missing.number]] * 2
        return
    with pytest.raises(DeclarationError):
        source.verify(["x"])
