"""A few rows that nobody holds, spread over the declared domains: what a question is tried on before it is charged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

from wallflower.engines.arrow_cells import column_of, days, texts
from wallflower.engines.base import Rows, Source
from wallflower.engines.memory.source import MemorySource
from wallflower.schema.declaration import Declaration
from wallflower.schema.domains import EPOCH, Categories, Domain

STRIDE = 7
"""Prime to most sizes, so that the columns do not run in step."""


def made_up_rows(declaration: Declaration, columns: Sequence[str], *, size: int = 24) -> AbstractContextManager[Rows]:
    """A view of made-up rows, the same every time. Nothing of the source is looked at."""
    import pyarrow as pa

    named = [name for name, column in declaration.columns.items() if column.domain is None]
    if declaration.key is not None:
        named.append(declaration.key)
    cells: dict[str, Any] = {name: texts([str(row) for row in range(size)]) for name in named}
    for at, (name, column) in enumerate(declaration.columns.items()):
        if column.domain is not None:
            cells[name] = _column(column.domain, [(row * STRIDE + at * row) % size for row in range(size)])
    if declaration.time is not None:
        cells.setdefault(declaration.time, days([EPOCH + timedelta(days=row) for row in range(size)]))
    return MemorySource(pa.table(cells), declaration).rows(columns)


@runtime_checkable
class TrialSource(Protocol):
    """A source that lets a question try on made-up rows what it will do where the rows are."""

    def made_up(self, columns: Sequence[str], /) -> AbstractContextManager[Rows]: ...


def trial_rows(source: Source, declaration: Declaration, columns: Sequence[str]) -> AbstractContextManager[Rows]:
    """Made-up rows for a question on this source. No row of it is looked at."""
    return source.made_up(columns) if isinstance(source, TrialSource) else made_up_rows(declaration, columns)


def _column(domain: Domain, rows: Sequence[int]) -> Any:
    """Values that are spread evenly, ends included, in the order `rows` of a permutation."""
    if isinstance(domain, Categories):
        return texts([domain.values[row % domain.size] for row in rows])
    numbers = [domain.first + (domain.last - domain.first) * row // max(len(rows) - 1, 1) for row in rows]
    return column_of(domain, numbers)
