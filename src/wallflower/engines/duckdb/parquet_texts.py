"""Text columns of Parquet may hold bytes that are no text, and DuckDB then refuses the whole file: one row would fail a release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import Database

BATCH = 50_000
"""Rows copied at a time."""


def is_text(base: Database, scan: str, columns: Sequence[str]) -> bool:
    """Whether DuckDB can read every cell of these columns."""
    import duckdb

    lengths = ", ".join(f"sum(length({sql.name(name)}))" for name in columns)
    try:
        base.run(f"SELECT {lengths or 1} FROM {scan}")
    except duckdb.InvalidInputException:
        return False
    return True


def readable_copy(path: Path, columns: Sequence[str], folder: Path) -> Path:
    """The columns once more, with U+FFFD (unreadable) in place of bytes that are no text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    copy = folder / "readable.parquet"
    with pq.ParquetFile(path) as source:
        schema = pa.schema([source.schema_arrow.field(name) for name in columns])
        with pq.ParquetWriter(copy, schema) as writer:
            for batch in source.iter_batches(BATCH, columns=list(columns)):
                cells = [_readable(batch.column(name)) for name in columns]
                writer.write_batch(pa.record_batch(cells, schema=schema))
    return copy


def _readable(cells: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as t

    if not (t.is_string(cells.type) or t.is_large_string(cells.type)):
        return cells
    raw = cells.cast(pa.large_binary() if t.is_large_string(cells.type) else pa.binary()).to_pylist()
    return pa.array([None if cell is None else cell.decode("utf-8", "replace") for cell in raw], type=cells.type)
