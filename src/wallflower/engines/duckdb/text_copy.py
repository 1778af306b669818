"""A private copy of cells as texts, for formats that DuckDB cannot be made to read without failing because of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import Database
from wallflower.engines.reading_rule import cell_text, id_text

Writer = Callable[[object], str | None]


def writers(columns: Sequence[str], ids: str | None) -> list[Writer]:
    """How the cells of each column are written; those of `ids` so that no two people become one."""
    return [id_text if name == ids else cell_text for name in columns]


def stage(base: Database, columns: Sequence[Writer], batches: Iterable[Sequence[Sequence[Any]]]) -> None:
    """Make the view `staged` from rows that come a batch at a time; each cell is written as text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    copy = base.folder / "copy.parquet"
    fields = [f"f{at}" for at in range(len(columns))]
    schema = pa.schema([*((field, pa.large_string()) for field in fields), ("present", pa.bool_())])
    with pq.ParquetWriter(copy, schema) as writer:
        for batch in batches:
            texts = [
                pa.array([text(row[at]) for row in batch], type=pa.large_string()) for at, text in enumerate(columns)
            ]
            writer.write_batch(pa.record_batch([*texts, pa.array([True] * len(batch))], schema=schema))
    sql.stage(base, f"read_parquet({sql.one_file(copy)}, {sql.NO_FOLDER_NAMES})", fields)
