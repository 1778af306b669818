"""Rows of a file come in its order, so that a row without a key has a place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wallflower.engines.duckdb.database import Database
from wallflower.engines.sql_rows import SqlRows
from wallflower.engines.view import position

KEPT = 3 * 2**28
"""Bytes up to which cells and values are kept for the next question, if there are as many rows as declared: three quarters of what DuckDB may hold."""


@dataclass(frozen=True)
class DuckRows(SqlRows):
    def hold(self, name: str, expression: Any) -> Any:
        """In a table of its own, so that a question does not join the rows of every person again."""
        assert isinstance(self.base, Database)  # noqa: S101 - DuckSource opens no other
        return self.base.hold(name, expression)

    def indexed(self, by: Sequence[str], metric: str, shape: tuple[int, ...]) -> Any:
        """Kept: reading cells by the declaration's rule takes longer than adding them up, and a detector asks for the same twice.

        Whether, and in how many bytes, is a matter of the declaration alone.
        """
        assert isinstance(self.base, Database)  # noqa: S101 - DuckSource opens no other
        rule = self.view.rules[metric]
        settled = [end for end in (rule.first, rule.last, rule.below, rule.above, rule.missing) if end is not None]
        cell, value = _bytes_of(0, math.prod(shape)), _bytes_of(min(settled), max(settled))
        if self.declaration.max_rows * (cell + value) > KEPT:
            return super().indexed(by, metric, shape)
        name = "_".join(("indexed", *(self.places[column] for column in (*by, metric))))
        if name not in self.base.schemas:
            wide = self.cells_and_values(by, metric, shape)
            narrow = wide.select(cell=wide.cell.cast(f"int{8 * cell}"), value=wide.value.cast(f"int{8 * value}"))
            self.base.hold(name, narrow)
        kept = self.base.table(name)
        return kept.select(cell=kept.cell.cast("int64"), value=kept.value.cast("int64"))

    def placed(self, key: str) -> Any:
        import ibis

        at = position(key)
        if at is None:
            return None
        numbered = self.base.table("staged").mutate(position=ibis.row_number())
        return numbered.filter(numbered.position == at)


def _bytes_of(first: int, last: int) -> int:
    """The width of the least type of DuckDB that holds these integers and all between.

    >>> [_bytes_of(0, 32_767), _bytes_of(-32_769, 0), _bytes_of(0, 2**31)]
    [2, 4, 8]
    """
    return next(width for width in (2, 4, 8) if -(2 ** (8 * width - 1)) <= first <= last < 2 ** (8 * width - 1))
