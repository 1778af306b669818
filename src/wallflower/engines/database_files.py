"""Files with a schema of their own: Parquet, a table in a DuckDB file, a table in a SQLite file.

SQLite types every cell on its own, so each is written as text first (`reading.cell_text`); it is copied with the standard library,
a batch at a time, because DuckDB's extension for SQLite would have to be downloaded.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wallflower.engines import sql
from wallflower.engines.arrow_reading import refused
from wallflower.engines.database import Database
from wallflower.engines.reading import Kind, cell_text
from wallflower.engines.view import find_columns
from wallflower.errors import DeclarationError, nearest_name

BATCH = 50_000
"""Rows copied at a time from SQLite."""
MOST_DIGITS = 38
"""Of a decimal that DuckDB can hold."""
KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), Kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    # Integers of 128 bits are read as decimals are: no other engine has them.
    **dict.fromkeys(("DECIMAL", "HUGEINT", "UHUGEINT"), Kind.DECIMAL),
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(("VARCHAR", "ENUM"), Kind.TEXT),
    "DATE": Kind.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP),
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP,
    '"NULL"': Kind.NOTHING,
}


class Typed(ABC):
    """A scan that DuckDB knows the types of."""

    decimal = "."

    @abstractmethod
    def scan(self, base: Database) -> str:
        """The table function or table to select from."""

    def names(self, base: Database) -> Sequence[str]:
        return list(self._types(base))

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        types = self._types(base)
        find_columns(columns, list(types))
        return {name: _kind_of(name, types[name]) for name in columns}

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        types = self._types(base)
        cells = [
            f"CAST({sql.name(name)} AS VARCHAR)" if types[name].startswith("ENUM") else sql.name(name)
            for name in columns
        ]
        kinds = [_kind_or_text(types[name]) for name in columns]
        sql.stage(base, self.scan(base), cells, kinds)

    def _types(self, base: Database) -> Mapping[str, str]:
        described = base.run(f"DESCRIBE SELECT * FROM {self.scan(base)}")
        return {name: type_ for name, type_, *_ in described}


@dataclass(frozen=True)
class ParquetFile(Typed):
    path: Path

    def scan(self, base: Database) -> str:
        return f"read_parquet({sql.one_file(self.path)}, {sql.NO_FOLDER_NAMES})"

    def _types(self, base: Database) -> Mapping[str, str]:
        """DuckDB calls a decimal too wide for it a double, and reads nonsense: such a type is not one of `KINDS`."""
        wide = base.run(f"SELECT name FROM parquet_schema({sql.one_file(self.path)}) WHERE precision > {MOST_DIGITS}")
        return {**super()._types(base), **{name: "WIDE DECIMAL" for (name,) in wide}}


@dataclass(frozen=True)
class DuckFile(Typed):
    path: Path
    table: str

    def scan(self, base: Database) -> str:
        base.run(f"ATTACH IF NOT EXISTS {sql.literal(str(self.path))} AS source (READ_ONLY)")
        tables = base.run("SELECT table_name FROM information_schema.tables WHERE table_catalog = 'source'")
        _find_table(self.table, [name for (name,) in tables])
        return f"source.{sql.name(self.table)}"


@dataclass(frozen=True)
class SqliteFile:
    path: Path
    table: str
    decimal: str = "."

    def names(self, base: Database) -> Sequence[str]:
        with self._opened() as source:
            tables = source.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
            _find_table(self.table, [name for (name,) in tables])
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


def _find_table(table: str, tables: list[str]) -> None:
    if table not in tables:
        raise DeclarationError(f"the source has no table '{table}'.", hint=nearest_name(table, tables))


def _kind_of(name: str, type_: str) -> Kind:
    plain = type_.partition("(")[0]
    if type_.endswith("]") or plain not in KINDS:
        raise refused(name)
    return KINDS[plain]


def _kind_or_text(type_: str) -> Kind:
    return KINDS.get(type_.partition("(")[0], Kind.TEXT)
