"""A private copy of cells as texts, for formats that DuckDB cannot be made to read without failing because of a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import Database
from wallflower.engines.reading_rule import cell_text


def stage(base: Database, columns: int, batches: Iterable[Sequence[Sequence[Any]]]) -> None:
    """Make the view `staged` from rows that come a batch at a time; each cell is written as text (`cell_text`)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    copy = base.folder / "copy.parquet"
    fields = [f"f{at}" for at in range(columns)]
    schema = pa.schema([*((field, pa.large_string()) for field in fields), ("present", pa.bool_())])
    with pq.ParquetWriter(copy, schema) as writer:
        for batch in batches:
            texts = [pa.array([cell_text(row[at]) for row in batch], type=pa.large_string()) for at in range(columns)]
            writer.write_batch(pa.record_batch([*texts, pa.array([True] * len(batch))], schema=schema))
    sql.stage(base, f"read_parquet({sql.one_file(copy)}, {sql.NO_FOLDER_NAMES})", fields)
