"""Files with a schema of their own: Parquet, and a table in a DuckDB file."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import SETTINGS, Database, literal
from wallflower.engines.duckdb.parquet_copy import can_be_read, readable_copy
from wallflower.engines.memory.dialect import refused
from wallflower.engines.reading_rule import Kind
from wallflower.engines.view import find_columns, find_table
from wallflower.errors import DeclarationError

MADE_OF_ROWS = {"SEQ_SCAN", "RANGE", "GENERATE_SERIES", "UNNEST", "REPEAT", "REPEAT_ROW", "JSON_EACH", "JSON_TREE"}
"""The table functions, as a plan spells them, that give what the file holds; any other tells of DuckDB itself or of what lies outside."""
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


class TypedScan(ABC):
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
        cells = [_cell(raw, types[name]) for name, raw in zip(columns, self.raw(base, columns), strict=True)]
        sql.stage(base, self.scan(base), cells, [_ibis_type(types[name]) for name in columns])

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        self.stage(base, columns)
        sql.decode(base, base.own_name("staged"), [f"c{at}" for at in range(len(columns))])

    def raw(self, base: Database, columns: Sequence[str]) -> list[str]:
        """These columns as DuckDB is asked for them."""
        return [sql.name(name) for name in columns]

    def _types(self, base: Database) -> Mapping[str, str]:
        return dict(self._described(base))

    def _described(self, base: Database) -> list[tuple[str, str]]:
        """Every column as DuckDB calls it, with its type."""
        described = base.run(f"DESCRIBE SELECT * FROM {self.scan(base)}")
        return [(name, type_) for name, type_, *_ in described]


@dataclass(frozen=True)
class ParquetColumn:
    name: str
    called: str
    """By DuckDB, in which no two names are alike."""
    type: str
    rounded: bool


@dataclass(frozen=True)
class ParquetFile(TypedScan):
    path: Path

    def open(self, base: Database) -> None:
        base.seal(self.path)

    def scan(self, base: Database) -> str:
        return f"read_parquet({sql.one_file(self.path)}, {sql.NO_FOLDER_NAMES})"

    def names(self, base: Database) -> Sequence[str]:
        return [column.name for column in self._columns(base)]

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        types = self._types(base)
        doubtful = [name for name in columns if types[name].startswith(("VARCHAR", "TIMESTAMP"))]
        if not self._rounds(base, columns) and self._can_be_read(base, doubtful):
            super().stage(base, columns)
        else:
            ParquetFile(readable_copy(self.path, columns, base.folder)).stage(base, columns)

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        if self._rounds(base, columns) or not self._can_be_read(base, columns):
            super().decode(base, columns)  # from a copy, as it will be read

    def raw(self, base: Database, columns: Sequence[str]) -> list[str]:
        called = {column.name: column.called for column in self._columns(base)}
        return [sql.name(called[name]) for name in columns]

    def types(self, base: Database) -> Mapping[str, str]:
        """What DuckDB calls the types of the columns; the files of a folder must agree on them."""
        return self._types(base)

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        find_columns(columns, self.names(base))  # a name that stands twice has one type here, and no one column
        return super().kinds(base, columns)

    def _rounds(self, base: Database, columns: Sequence[str]) -> bool:
        """Whether DuckDB would round moments, towards 1970: it has nanoseconds without a zone alone."""
        return any(column.rounded for column in self._columns(base) if column.name in columns)

    def _can_be_read(self, base: Database, columns: Sequence[str]) -> bool:
        return can_be_read(base, self.scan(base), self.raw(base, columns))

    def _types(self, base: Database) -> Mapping[str, str]:
        return {column.name: column.type for column in self._columns(base)}

    def _columns(self, base: Database) -> list[ParquetColumn]:
        """DuckDB calls one of two columns anew whose names are alike but for case, and the copy of `readable_copy` has them as they are.

        It calls a decimal too wide for it a double, and reads nonsense: such a type is not one of `KINDS`.
        """
        schema = base.run(
            "SELECT name, num_children, precision, contains(CAST(logical_type AS VARCHAR), 'NANOS=NanoSeconds')"
            f" FROM parquet_schema({sql.one_file(self.path)})"
        )
        return [
            ParquetColumn(
                name,
                called,
                "WIDE DECIMAL" if (precision or 0) > MOST_DIGITS else type_,
                rounded=bool(nanoseconds) and type_ == "TIMESTAMP WITH TIME ZONE",
            )
            for (name, _, precision, nanoseconds), (called, type_) in zip(
                _top_level(schema), self._described(base), strict=True
            )
        ]


@dataclass(frozen=True)
class DuckFile(TypedScan):
    path: Path
    table: str

    def open(self, base: Database) -> None:
        base.run(f"ATTACH {literal(str(self.path))} AS source (READ_ONLY)")
        if self._computed(base):
            # What several columns compute alike would be computed once, outside of what may fail in each (`raw`).
            base.run(f"SET disabled_optimizers = '{SETTINGS['disabled_optimizers']},common_subexpressions'")
        base.run("SET explain_output = 'all'")
        base.seal(self.path)

    def scan(self, base: Database) -> str:
        tables = base.run("SELECT table_name FROM information_schema.tables WHERE table_catalog = 'source'")
        find_table(self.table, [name for (name,) in tables])
        return f"source.{sql.name(self.table)}"

    def raw(self, base: Database, columns: Sequence[str]) -> list[str]:
        """A cell that a column of the table cannot compute is missing: DuckDB computed it when its row was put in, and not when
        the row was changed.
        """
        computed = self._computed(base)
        return [f"TRY({sql.name(name)})" if name in computed else sql.name(name) for name in columns]

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        """A column that is another one whenever it is read cannot be tried, as `raw` does: no two answers would be of one table."""
        import duckdb

        kinds = super().kinds(base, columns)
        for name in sorted(self._computed(base) & set(columns)):
            try:
                base.run(f"DESCRIBE SELECT {self.raw(base, [name])[0]} FROM {self.scan(base)}")
            except duckdb.BinderException:
                changing = True
            else:
                changing = False
            if changing:  # outside the handler: inside it Python would keep the library's error as __context__
                raise DeclarationError(
                    f"column '{name}' is computed anew whenever it is read, by something like random(): it has no one value.",
                    hint="Keep what it should be in a column of its own, and declare that.",
                )
        return kinds

    def _computed(self, base: Database) -> set[str]:
        """The columns that are computed whenever they are read; as DuckDB tells them, those with a default too, which trying leaves be."""
        told = base.run(
            "SELECT column_name FROM duckdb_columns() WHERE database_name = 'source' AND schema_name = 'main'"
            f" AND table_name = {literal(self.table)} AND column_default IS NOT NULL"
        )
        return {name for (name,) in told}

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        if not self._is_view(base):
            super().decode(base, columns)

    def _is_view(self, base: Database) -> bool:
        views = base.run("SELECT view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal")
        return (self.table,) in views

    def _described(self, base: Database) -> list[tuple[str, str]]:
        import duckdb

        try:
            described = super()._described(base)
            if not self._is_view(base) or self._planned(base) <= MADE_OF_ROWS:
                return described
        except duckdb.PermissionException:
            pass
        raise DeclarationError(
            f"the view '{self.table}' reads something outside '{self.path.name}'.",
            hint="Nothing but the declared source is read: copy what the view needs into a table of the file.",
        )

    def _planned(self, base: Database) -> set[str]:
        """The table functions that the view calls, which some may do until they are run; found in plans, with no row read."""
        functions = base.run(
            "SELECT DISTINCT upper(function_name) FROM duckdb_functions() WHERE function_type = 'table'"
        )
        plans = base.run(f"EXPLAIN (FORMAT json) SELECT * FROM {self.scan(base)}")
        return {name for (name,) in functions} & {step for _, plan in plans for step in _operators(json.loads(plan))}


def _operators(plan: Sequence[dict[str, Any]]) -> Iterator[str]:
    for step in plan:
        yield step["name"].strip()
        yield from _operators(step["children"])


def _top_level(schema: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The columns, from a list of the root, then each field before the fields in it, whose number comes second."""
    within = 0
    for field in schema[1:]:
        if within:
            within -= 1
        else:
            yield field
        within += field[1] or 0


def _kind_of(name: str, type_: str) -> Kind:
    plain = type_.partition("(")[0]
    if type_.endswith("]") or plain not in KINDS:
        raise refused(name)
    return KINDS[plain]


def _cell(raw: str, type_: str) -> str:
    """A collation, which a text column keeps through views and casts, would make one text of several."""
    if _kind_or_text(type_) is not Kind.TEXT:
        return raw
    text = f"CAST({raw} AS VARCHAR)" if type_.startswith("ENUM") else raw
    return f'{text} COLLATE "binary"' if type_.startswith(("VARCHAR", "ENUM")) else text


def _ibis_type(type_: str) -> str:
    return sql.NANOSECONDS if type_ == "TIMESTAMP_NS" else sql.TYPES[_kind_or_text(type_)]


def _kind_or_text(type_: str) -> Kind:
    return KINDS.get(type_.partition("(")[0], Kind.TEXT)
