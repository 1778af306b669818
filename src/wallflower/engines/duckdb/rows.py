"""Rows of a file come in its order, so that a row without a key has a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wallflower.engines.duckdb.database import Database
from wallflower.engines.sql_rows import SqlRows
from wallflower.engines.view import position


@dataclass(frozen=True)
class DuckRows(SqlRows):
    def hold(self, name: str, expression: Any) -> Any:
        """In a table of its own, so that a question does not join the rows of every person again."""
        assert isinstance(self.base, Database)  # noqa: S101 - DuckSource opens no other
        return self.base.hold(name, expression)

    def placed(self, key: str) -> Any:
        import ibis

        at = position(key)
        if at is None:
            return None
        numbered = self.base.table("staged").mutate(position=ibis.row_number())
        return numbered.filter(numbered.position == at)
