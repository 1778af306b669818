"""The few pieces of SQL that Ibis has no words for: how a file becomes a view."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wallflower.engines.duckdb.database import Database, literal, only
from wallflower.engines.reading_rule import Kind

TYPES = {
    # The width of numbers does not matter to the rule. Reals are called float32 so that Ibis always writes the cast to double.
    Kind.INTEGER: "int64",
    Kind.REAL: "float32",
    Kind.DECIMAL: "decimal(38, 9)",
    Kind.BOOLEAN: "boolean",
    Kind.TEXT: "string",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.NOTHING: "null",
}
NANOSECONDS = "timestamp(9)"
"""What has its day found otherwise (`dialect.DuckDialect`)."""

LONG_ROWS = 8_192
"""Rows of texts fetched at a time; each may be long."""
NO_FOLDER_NAMES = "hive_partitioning=false"
"""Or else a folder called salary=0 would give every row of a file in it that salary."""


def stage(base: Database, scan: str, cells: Sequence[str], types: Sequence[str] | None = None) -> None:
    """The view `staged`: the given expressions over a scan as c0, c1, ...; text unless `types`, as Ibis calls them, say otherwise."""
    # `present` keeps the view valid, and countable, when no column is asked for.
    columns = ", ".join([*(f"{cell} AS c{at}" for at, cell in enumerate(cells)), "true AS present"])
    held = ["string"] * len(cells) if types is None else types
    schema = {f"c{at}": type_ for at, type_ in enumerate(held)} | {"present": "boolean"}
    base.define("staged", f"SELECT {columns} FROM {scan}", schema)


def decode(base: Database, scan: str, cells: Sequence[str]) -> None:
    """Read these cells of every row, keeping nothing: a hash needs the value, where a count can be had from a page's header."""
    seen = ", ".join(f"bit_xor(hash({cell}))" for cell in cells) or "count(*)"
    base.run(f"SELECT {seen} FROM {scan}")


def texts(base: Database, *, most: int, room: int) -> list[Any] | None:
    """The cells of `staged`, column by column, as Arrow holds them.

    None unless all are texts, and where there are more rows than `most` or more bytes than `room`.
    """
    import pyarrow as pa

    columns = [column for column in base.schemas["staged"] if column != "present"]
    if any(base.schemas["staged"][column] != TYPES[Kind.TEXT] for column in columns):
        return None
    reader = base.reader(f"SELECT {', '.join(columns)} FROM staged", LONG_ROWS)
    batches, rows, held = [], 0, 0
    for batch in reader:
        rows, held = rows + batch.num_rows, held + batch.nbytes
        if rows > most or held > room:
            return None
        batches.append(batch)
    table = pa.Table.from_batches(batches, schema=reader.schema)
    return [table.column(column) for column in columns]


def name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def one_file(path: Path) -> str:
    """The path as a literal that stands for this file alone."""
    return literal(only(path.absolute()))
