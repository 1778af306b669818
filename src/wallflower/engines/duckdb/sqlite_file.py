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

from wallflower.engines.duckdb import sql, text_copy
from wallflower.engines.duckdb.database import Database
from wallflower.engines.reading_rule import Kind
from wallflower.engines.view import find_columns, find_table

BATCH = 50_000
"""Rows copied at a time."""
COMPUTED = 2
"""What SQLite says of a column that is computed whenever it is read."""


@dataclass(frozen=True)
class SqliteFile:
    path: Path
    table: str
    decimal: str = "."
    paged = True
    ids: str | None = None
    """The column that says whose row it is, in which a real is unreadable."""

    def open(self, base: Database) -> None:
        base.seal(self.path)

    def names(self, base: Database) -> Sequence[str]:
        with self._opened() as source:
            tables = source.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
            find_table(self.table, [name for (name,) in tables])
            return [name for name, *_ in source.execute(f"SELECT * FROM {sql.name(self.table)} LIMIT 0").description]

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        find_columns(columns, self.names(base))
        return dict.fromkeys(columns, Kind.TEXT)

    def check(self) -> None:
        """SQLite's own pages say what a row is."""

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        with self._opened() as source:
            text_copy.stage(base, text_copy.writers(columns, self.ids), self._batches(source, columns))

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        with self._opened() as source:
            kept = self._kept(source)
            if kept is not None:
                for _ in self._batches(source, [name for name in columns if name in kept]):
                    pass

    def _batches(self, source: sqlite3.Connection, columns: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
        cells = ", ".join([*map(sql.name, columns), "1"])
        cursor = source.execute(f"SELECT {cells} FROM {sql.name(self.table)}")
        return iter(lambda: cursor.fetchmany(BATCH), [])

    def _kept(self, source: sqlite3.Connection) -> set[str] | None:
        """The columns whose cells are on pages, none of them computed; None for a view, or a table that is a program."""
        roots = source.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ? AND rootpage", [self.table]
        ).fetchall()
        if not roots:
            return None
        described = source.execute(f"PRAGMA table_xinfo({sql.name(self.table)})")
        return {name for _, name, *_, hidden in described if hidden != COMPUTED}

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        source = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
        source.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            yield source
        finally:
            source.close()
