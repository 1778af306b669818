"""Rows of a table have no order: a record is found by its key alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wallflower.engines.postgresql.snapshot import Snapshot
from wallflower.engines.sql_rows import SqlRows


@dataclass(frozen=True)
class PostgresRows(SqlRows):
    """The questions of `base.Rows`, pushed down."""

    def hold(self, name: str, expression: Any) -> Any:
        """Once in a statement, so that what looks at the cells of people several times does not read them as often."""
        assert isinstance(self.base, Snapshot)  # noqa: S101 - PostgresSource opens no other
        return self.base.hold(name, expression)
