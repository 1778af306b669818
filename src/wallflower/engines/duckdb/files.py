"""Which file a declaration names, and what every kind of file must offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from wallflower.engines.duckdb.database import Database
from wallflower.engines.reading_rule import Kind
from wallflower.engines.redaction import quietly, unreadable
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Reading

ENDINGS = {
    "CSV": (".csv", ".tsv", ".txt"),
    "Parquet": (".parquet", ".pq"),
    "JSON": (".json", ".jsonl", ".ndjson"),
    "DuckDB": (".duckdb", ".ddb", ".db"),
    "SQLite": (".sqlite", ".sqlite3"),
}
"""Databases are known by their first bytes; their endings matter only for files that are not what they say."""


class File(Protocol):
    """A file that DuckDB can be made to read."""

    @property
    def path(self) -> Path: ...

    @property
    def decimal(self) -> str:
        """The decimal mark of numbers written as text."""
        ...

    @property
    def paged(self) -> bool:
        """Whether cells lie in pages that can be damaged; any text has its cells."""
        ...

    def open(self, base: Database) -> None:
        """Let `base` reach this file, and from then on nothing else."""
        ...

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        """What the asked-for columns hold, from the file's schema alone; refuses names that it lacks."""
        ...

    def check(self) -> None:
        """Refuse a file whose rows cannot be told apart; before the charge, so that no row can make a release fail."""
        ...

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        """Read every cell of these columns as `stage` and what follows would, and keep nothing. Damage alone makes it fail:
        no value of a cell does, and what a view computes is left out.
        """
        ...

    def names(self, base: Database) -> Sequence[str]:
        """Every column; for the owner, since a format without a schema finds them in the rows."""
        ...

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        """Make the view `staged`, whose columns c0, c1, ... hold the raw cells; copies, if any, go into the folder of `base`."""
        ...


def open_file(path: Path | None, table: str | None, read: Reading, *, ids: str | None = None) -> File:
    """The file at `path`; only its first bytes are read."""
    from wallflower.engines.duckdb.csv_file import CsvFile
    from wallflower.engines.duckdb.folder import open_folder
    from wallflower.engines.duckdb.json_file import JsonFile
    from wallflower.engines.duckdb.sqlite_file import SqliteFile
    from wallflower.engines.duckdb.typed_files import DuckFile, ParquetFile

    if path is None:
        raise DeclarationError("the declaration names no source.", hint='Write source = "..." in [table].')
    if path.is_dir():
        return quietly(lambda: open_folder(path, read), lambda: unreadable(path))
    if not path.is_file():
        raise DeclarationError(
            f"there is no file '{path.name or path}' to read.", hint="`source` is relative to the declaration file."
        )
    format_ = quietly(lambda: format_of(path), lambda: unreadable(path))
    if format_ == "CSV":
        return CsvFile(path, read)
    if format_ == "JSON":
        return JsonFile(path, ids=ids)
    if format_ == "Parquet":
        return ParquetFile(path)
    if table is None:
        raise DeclarationError(
            f"'{path.name}' is a {format_} file, which can hold several tables.", hint='Write table = "..." in [table].'
        )
    return SqliteFile(path, table, ids=ids) if format_ == "SQLite" else DuckFile(path, table)


def format_of(path: Path) -> str:
    """By its ending; databases by their first bytes."""
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"SQLite format 3\0"):
        return "SQLite"
    if start[8:12] == b"DUCK":
        return "DuckDB"
    for name, endings in ENDINGS.items():
        if path.suffix.lower() in endings:
            return name
    if path.suffix.lower() in {".xlsx", ".xls", ".ods"}:
        raise DeclarationError(
            f"'{path.name}' is a spreadsheet, and its cells have no one reading.",
            hint='Export the sheet from your spreadsheet program as "CSV UTF-8", with the names of columns in the first line.',
        )
    known = ", ".join(ending for endings in ENDINGS.values() for ending in endings)
    raise DeclarationError(f"the source '{path.name}' has an ending that is not known.", hint=f"Known: {known}.")
