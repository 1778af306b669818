"""Rows of integers put aside and read again in order: in memory while they are few, else in DuckDB's private folder.

What is put aside is as private as the table. The folder can be entered by this user alone and is gone when the block ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.batches import gathered
from wallflower.engines.redaction import broken, quietly, quietly_each

Ints = NDArray[np.int64]

FEW = 1_000
"""So many rows are held in memory however little of it is declared: a database for fewer would take more."""


class Spill:
    """A heap of rows, all with the same number of columns.

    >>> with Spill(2, most=1_000) as heap:
    ...     heap.add(np.array([[3, 0], [1, 1]]))
    ...     heap.add(np.array([[2, 2], [1, 3]]))
    ...     len(heap), np.concatenate(list(heap.ascending([0, 1]))).tolist()
    (4, [[1, 1], [1, 3], [2, 2], [3, 0]])
    """

    def __init__(self, width: int, *, most: int) -> None:
        """Up to `most` rows are held in memory."""
        self._width, self._most = width, max(most, FEW)
        self._held: list[Ints] = []
        self._size = 0
        self._base: Any = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held = []
        self._base = None
        self._open.close()

    def __len__(self) -> int:
        return self._size

    def add(self, rows: Ints) -> None:
        self._size += len(rows)
        self._held.append(rows)
        if self._base is not None or self._size > self._most:
            quietly(self._put_aside, broken)

    def ascending(self, by: Sequence[int], *, columns: Sequence[int] | None = None) -> Iterator[Ints]:
        """Every row, or some columns of it, in the order of these columns; read it to its end before the next."""
        chosen = list(range(self._width)) if columns is None else list(columns)
        if self._base is not None:
            names = ", ".join(f"c{at}" for at in chosen)
            order = ", ".join(f"c{at}" for at in by)
            yield from quietly_each(lambda: self._read(f"SELECT {names} FROM heap ORDER BY {order}"), broken)
        elif self._size:
            rows = np.concatenate(self._held)
            yield rows[np.lexsort([rows[:, at] for at in reversed(by)])][:, chosen]

    def _put_aside(self) -> None:
        import pyarrow as pa

        if self._base is None:
            from wallflower.engines.duckdb.database import database

            self._base = self._open.enter_context(database())
            self._base.seal()
            self._base.run(f"CREATE TABLE heap ({', '.join(f'c{at} BIGINT' for at in range(self._width))})")
        rows = np.concatenate(self._held)
        self._held = []
        batch = pa.table(
            [pa.array(rows[:, at]) for at in range(self._width)], names=[f"c{at}" for at in range(self._width)]
        )
        self._base.connection.register("batch", batch)
        self._base.run("INSERT INTO heap SELECT * FROM batch")
        self._base.connection.unregister("batch")

    def _read(self, statement: str) -> Iterator[Ints]:
        for batch in self._base.reader(statement):
            yield gathered(batch, len(batch.columns))
