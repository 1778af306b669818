"""What Spark says about a table or a Parquet folder: columns and types, no row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wallflower.engines.memory.dialect import refused
from wallflower.engines.reading_rule import Kind
from wallflower.engines.redaction import quietly
from wallflower.engines.spark.snapshot import Snapshot
from wallflower.engines.view import find_columns
from wallflower.errors import DeclarationError

KINDS = {
    **dict.fromkeys(("byte", "tinyint", "short", "smallint", "integer", "int", "long", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.REAL),
    "decimal": Kind.DECIMAL,
    "boolean": Kind.BOOLEAN,
    **dict.fromkeys(("string", "varchar", "char"), Kind.TEXT),
    "date": Kind.DATE,
    **dict.fromkeys(("timestamp", "timestamp_ntz"), Kind.TIMESTAMP),
    "void": Kind.NOTHING,
}
TYPES = {
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.DECIMAL: "decimal(38, 9)",
    Kind.BOOLEAN: "boolean",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.NOTHING: "null",
}
CASTS = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "STRING COLLATE UTF8_BINARY",
    Kind.TIMESTAMP: "TIMESTAMP_NTZ",
}


def frame(base: Snapshot, table: str) -> Any:
    """A table of the catalogue, or Parquet at a path: a name with a slash in it."""
    read = (lambda: base.session.read.parquet(table)) if "/" in table else (lambda: base.session.table(table))
    return quietly(
        read,
        lambda: DeclarationError(
            f"Spark finds no table or Parquet at '{table}'.",
            hint='Write table = "catalog.name", or a path with a slash.',
        ),
    )


def kinds(rows: Any, columns: Sequence[str]) -> Mapping[str, Kind]:
    find_columns(columns, list(rows.columns))
    types = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
    found = {}
    for name in columns:
        kind = KINDS.get(types[name].partition("(")[0].partition(" ")[0])
        if kind is None:
            raise refused(name)
        found[name] = kind
    return found


def stage(base: Snapshot, rows: Any, columns: Sequence[str], types: Mapping[str, Kind]) -> None:
    """Copy the raw cells as c0, c1, ...; texts are compared by their bytes, whatever the collation.

    Columns are taken by their places: no name is resolved, quoted or folded.
    """
    names = list(rows.columns)
    numbered = rows.toDF(*(f"column{at}" for at in range(len(names))))
    cells = []
    for at, name in enumerate(columns):
        cell, cast = f"column{names.index(name)}", CASTS.get(types[name])
        cells.append(f"{f'CAST({cell} AS {cast})' if cast else cell} AS c{at}")
    schema = {f"c{at}": TYPES[types[name]] for at, name in enumerate(columns)} | {"present": "boolean"}
    base.keep(numbered.selectExpr(*cells, "true AS present"), schema)
