"""A few rows that nobody holds, spread over the declared domains: what a question is tried on before it is charged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import Any

from wallflower.engines.base import Rows
from wallflower.engines.memory.source import MemorySource
from wallflower.schema.declaration import Declaration
from wallflower.schema.domains import EPOCH, Categories, Dates, Numbers

STRIDE = 7
"""Prime to most sizes, so that the columns do not run in step."""


def made_up_rows(declaration: Declaration, columns: Sequence[str], *, size: int = 24) -> AbstractContextManager[Rows]:
    """A view of made-up rows, the same every time. Nothing of the source is looked at."""
    import pyarrow as pa

    texts = [name for name, column in declaration.columns.items() if column.domain is None]
    if declaration.key is not None:
        texts.append(declaration.key)
    cells: dict[str, Any] = {name: pa.array([str(row) for row in range(size)]) for name in texts}
    for at, (name, column) in enumerate(declaration.columns.items()):
        if column.domain is not None:
            cells[name] = pa.array(
                [_cell(column.domain, (row * STRIDE + at * row) % size, size) for row in range(size)]
            )
    if declaration.time is not None:
        cells.setdefault(declaration.time, pa.array([date.fromordinal(EPOCH.toordinal() + row) for row in range(size)]))
    return MemorySource(pa.table(cells), declaration).rows(columns)


def _cell(domain: Categories | Numbers | Dates, row: int, size: int) -> str | float | date:
    """The `row`-th of `size` values that are spread evenly, ends included."""
    if isinstance(domain, Categories):
        return domain.values[row % domain.size]
    number = domain.first + (domain.last - domain.first) * row // max(size - 1, 1)
    if isinstance(domain, Dates):
        return date.fromordinal(EPOCH.toordinal() + number)
    return float(domain.value(number))
