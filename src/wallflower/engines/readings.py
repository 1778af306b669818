"""Readings for a sensor, from a file or as they are typed: numbers only, and no error ever quotes one."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError, nearest_name


def windows_of_file(path: Path, columns: Sequence[str], *, length: int, skip: int = 0) -> Iterator[NDArray[np.float64]]:
    """The rows of a CSV or Parquet file from `skip` on, `length` at a time; what is no number comes as NaN."""
    import duckdb

    table = _table(path)
    db = duckdb.connect()
    try:
        db.execute("SET threads = 1")
        known = [name for name, *_ in db.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()]
        for column in columns:
            if column not in known:
                raise UsageError(f"'{path.name}' has no column '{column}'.", hint=nearest_name(column, known))
        wanted = ", ".join(f"TRY_CAST({_quoted(column)} AS DOUBLE)" for column in columns)
        batches: Any = db.execute(f"SELECT {wanted} FROM {table} OFFSET {int(skip)}").fetch_record_batch(length)
    except duckdb.Error:
        raise UsageError(
            f"'{path}' cannot be read as a table.", hint="Give a CSV file with a header, or Parquet."
        ) from None
    rest = np.empty((0, len(columns)))
    for batch in batches:
        rows = np.column_stack([_numbers(batch.column(place)) for place in range(len(columns))])
        rest = np.concatenate([rest, rows]) if len(rest) else rows
        while len(rest) >= length:
            yield rest[:length]
            rest = rest[length:]
    if len(rest):
        yield rest


def windows_of_lines(lines: TextIO, columns: Sequence[str], *, length: int) -> Iterator[NDArray[np.float64]]:
    """The same from CSV text as it arrives, for live use; the first line names the columns."""
    rows_of_text = _rows(csv.reader(lines))
    header = next(rows_of_text, [])
    for column in columns:
        if column not in header:
            raise UsageError(f"the first line names no column '{column}'.", hint=nearest_name(column, header))
    places = [header.index(column) for column in columns]
    rows: list[list[float]] = []
    for row in rows_of_text:
        rows.append([_number(row[place]) if place < len(row) else math.nan for place in places])
        if len(rows) == length:
            yield np.array(rows)
            rows = []
    if rows:
        yield np.array(rows)


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """What cannot be read is a row of nothing: no reading may stop a sensor, or be quoted by an error."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield []


def _table(path: Path) -> str:
    if not path.is_file():
        raise UsageError(f"there is no file '{path}'.")
    name = str(path).replace("'", "''")
    if path.suffix.lower() in {".parquet", ".pq"}:
        return f"read_parquet('{name}')"
    if path.suffix.lower() in {".csv", ".tsv", ".txt"}:
        return f"read_csv('{name}', header = true, all_varchar = true, null_padding = true)"
    raise UsageError(f"'{path.name}' is neither CSV nor Parquet.", hint="Give a .csv or .parquet file, or - for stdin.")


def _numbers(column: Any) -> NDArray[np.float64]:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
