"""The few pieces of SQL that Ibis has no words for: how a file becomes a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def make_view(connection: Any, cells: Sequence[str], scan: str) -> None:
    """The view `staged`: the given expressions as c0, c1, ..., over a scan."""
    # `present` keeps the view valid, and countable, when no column is asked for.
    columns = ", ".join([*(f"{cell} AS c{at}" for at, cell in enumerate(cells)), "true AS present"])
    connection.raw_sql(f"CREATE OR REPLACE TEMP VIEW staged AS SELECT {columns} FROM {scan}")


def fetch(connection: Any, query: str) -> list[tuple[Any, ...]]:
    return list(connection.raw_sql(query).fetchall())


def name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
