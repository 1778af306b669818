"""Files with a schema of their own: Parquet, and a table in a DuckDB file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import Database, literal
from wallflower.engines.duckdb.parquet_copy import can_be_read, readable_copy
from wallflower.engines.memory.dialect import refused
from wallflower.engines.reading_rule import Kind
from wallflower.engines.view import find_columns, find_table
from wallflower.errors import DeclarationError

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
    """A scan that DuckDB knows the types of, and the rows."""

    decimal = "."
    paged = True

    @abstractmethod
    def scan(self, base: Database) -> str:
        """The table function or table to select from."""

    def check(self) -> None:  # noqa: B027 - there is nothing to check, in this file and the other
        """The file's own schema says what a row is."""

    def names(self, base: Database) -> Sequence[str]:
        return list(self._types(base))

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        types = self._types(base)
        find_columns(columns, list(types))
        return {name: _kind_of(name, types[name]) for name in columns}

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        types = self._types(base)
        cells = [_cell(name, types[name]) for name in columns]
        kinds = [_kind_or_text(types[name]) for name in columns]
        sql.stage(base, self.scan(base), cells, kinds)

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        self.stage(base, columns)
        sql.decode(base, "staged", [f"c{at}" for at in range(len(columns))])

    def _types(self, base: Database) -> Mapping[str, str]:
        described = base.run(f"DESCRIBE SELECT * FROM {self.scan(base)}")
        return {name: type_ for name, type_, *_ in described}


@dataclass(frozen=True)
class ParquetFile(Typed):
    path: Path

    def open(self, base: Database) -> None:
        base.seal(self.path)

    def scan(self, base: Database) -> str:
        return f"read_parquet({sql.one_file(self.path)}, {sql.NO_FOLDER_NAMES})"

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        types = self._types(base)
        doubtful = [name for name in columns if types[name].startswith(("VARCHAR", "TIMESTAMP"))]
        if can_be_read(base, self.scan(base), doubtful):
            super().stage(base, columns)
        else:
            ParquetFile(readable_copy(self.path, columns, base.folder)).stage(base, columns)

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        if not can_be_read(base, self.scan(base), columns):
            super().decode(base, columns)  # from a copy, as it will be read

    def types(self, base: Database) -> Mapping[str, str]:
        """What DuckDB calls the types of the columns; the files of a folder must agree on them."""
        return self._types(base)

    def _types(self, base: Database) -> Mapping[str, str]:
        """DuckDB calls a decimal too wide for it a double, and reads nonsense: such a type is not one of `KINDS`."""
        wide = base.run(f"SELECT name FROM parquet_schema({sql.one_file(self.path)}) WHERE precision > {MOST_DIGITS}")
        return {**super()._types(base), **{name: "WIDE DECIMAL" for (name,) in wide}}


@dataclass(frozen=True)
class DuckFile(Typed):
    path: Path
    table: str

    def open(self, base: Database) -> None:
        base.run(f"ATTACH {literal(str(self.path))} AS source (READ_ONLY)")
        base.seal(self.path)

    def scan(self, base: Database) -> str:
        tables = base.run("SELECT table_name FROM information_schema.tables WHERE table_catalog = 'source'")
        find_table(self.table, [name for (name,) in tables])
        return f"source.{sql.name(self.table)}"

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        """Computed columns are tried too: DuckDB has computed them for every row that was ever put in."""
        views = base.run("SELECT view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal")
        if (self.table,) not in views:
            super().decode(base, columns)

    def _types(self, base: Database) -> Mapping[str, str]:
        import duckdb

        try:
            return super()._types(base)
        except duckdb.PermissionException:
            pass
        raise DeclarationError(
            f"the view '{self.table}' reads something outside '{self.path.name}'.",
            hint="Nothing but the declared source is read: copy what the view needs into a table of the file.",
        )


def _kind_of(name: str, type_: str) -> Kind:
    plain = type_.partition("(")[0]
    if type_.endswith("]") or plain not in KINDS:
        raise refused(name)
    return KINDS[plain]


def _cell(name: str, type_: str) -> str:
    """A collation, which a text column keeps through views and casts, would make one text of several."""
    if _kind_or_text(type_) is not Kind.TEXT:
        return sql.name(name)
    text = f"CAST({sql.name(name)} AS VARCHAR)" if type_.startswith("ENUM") else sql.name(name)
    return f'{text} COLLATE "binary"' if type_.startswith(("VARCHAR", "ENUM")) else text


def _kind_or_text(type_: str) -> Kind:
    return KINDS.get(type_.partition("(")[0], Kind.TEXT)
