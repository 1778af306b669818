"""A table in a SQLite file.

SQLite types every cell on its own, so each is written as text first (`reading_rule.cell_text`); it is copied with the standard
library, a batch at a time, because DuckDB's extension for SQLite would have to be downloaded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import Database
from wallflower.engines.reading_rule import Kind, cell_text
from wallflower.engines.view import find_columns, find_table

BATCH = 50_000
"""Rows copied at a time."""


@dataclass(frozen=True)
class SqliteFile:
    path: Path
    table: str
    decimal: str = "."

    def names(self, base: Database) -> Sequence[str]:
        with self._opened() as source:
            tables = source.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
            find_table(self.table, [name for (name,) in tables])
            return [name for name, *_ in source.execute(f"SELECT * FROM {sql.name(self.table)} LIMIT 0").description]

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        find_columns(columns, self.names(base))
        return dict.fromkeys(columns, Kind.TEXT)

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        copy = base.folder / "sqlite.parquet"
        fields = [f"f{at}" for at in range(len(columns))]
        schema = pa.schema([*((field, pa.large_string()) for field in fields), ("present", pa.bool_())])
        with self._opened() as source, pq.ParquetWriter(copy, schema) as writer:
            cells = ", ".join([*map(sql.name, columns), "1"])
            cursor = source.execute(f"SELECT {cells} FROM {sql.name(self.table)}")
            while batch := cursor.fetchmany(BATCH):
                *columns_, _ = zip(*batch, strict=True)
                texts = [pa.array(map(cell_text, column), type=pa.large_string()) for column in columns_]
                writer.write_batch(pa.record_batch([*texts, pa.array([True] * len(batch))], schema=schema))
        sql.stage(base, f"read_parquet({sql.one_file(copy)}, {sql.NO_FOLDER_NAMES})", fields)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        source = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
        source.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            yield source
        finally:
            source.close()
