"""Processes that run tasks where rows lie: the executors of a declared cluster, or this process where there is none.

A task is a picklable callable of an installed module. It draws no noise and writes nothing, because it may run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.engines.parting import Cut
from wallflower.geometry.strips import Strip

Ints = NDArray[np.int64]
OverPart = Callable[[Strip], Any]
Keeping = Callable[[Strip], tuple[Ints, Any]]
"""Gives rows that stay where they are, and something to tell."""
OverPartition = Callable[[int, Iterator[Ints]], Any]
"""Is given the number of a partition and its rows, a few at a time, in no order."""


class Spread(Protocol):
    """Rows of whole numbers that lie on executors, in no order."""

    def __len__(self) -> int:
        """How many there are. Private."""
        ...

    def cut(self, column: int, *, below: int, above: int, most: int, copies: int | None = None) -> Cut:
        """Parts of about `most` rows, and no narrower than the halo."""
        ...

    def each(self, task: OverPart, cut: Cut) -> list[Any]:
        """What a task tells about each part that has a row."""
        ...

    def kept(self, task: Keeping, cut: Cut, *, width: int) -> tuple[Spread, list[Any]]:
        """The rows that the tasks give, which stay on the executors, and what they tell."""
        ...

    def over(self, task: OverPartition) -> list[Any]:
        """What a task tells about each partition, without parting anything anew; in the order of the partitions."""
        ...

    def having(self, value: int) -> Spread:
        """The rows with this value in the last column, without that column."""
        ...

    def ascending(self, by: Sequence[int]) -> Spread:
        """The same rows in the order of these columns, from one partition to the next."""
        ...

    def whole(self) -> Ints:
        """Every row, in this process."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None:
        """Take the rows off the executors."""
        ...


class Executors(Protocol):
    """What runs tasks."""

    @property
    def slots(self) -> int:
        """About how many tasks run side by side."""
        ...

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        """What `task` gives for each payload, in their order. All three are pickled; what payloads share belongs into `task`, once
        (`functools.partial`).
        """
        ...

    def spread(self, columns: Sequence[str]) -> Spread:
        """These columns of every row, where they lie."""
        ...


@runtime_checkable
class OnExecutors(Protocol):
    """Rows of an engine that has executors."""

    @property
    def executors(self) -> Executors: ...


def executors_of(rows: Rows) -> Executors:
    """Those that run tasks over these rows: the cluster's where the declaration has `executors = true`, else this process, one after
    the other.
    """
    from wallflower.engines.in_turn import InTurn

    return rows.executors if isinstance(rows, OnExecutors) else InTurn(rows)
