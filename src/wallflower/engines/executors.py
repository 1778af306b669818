"""Processes that run tasks where rows lie: the executors of a declared cluster, or this process where there is none.

A task is a picklable callable of an installed module. It draws no noise and writes nothing, because it may run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.engines.partition import AT_A_TIME, FINER, Cut, begins
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


@dataclass(frozen=True)
class OneProcess:
    """One process that does in turn what executors do side by side: the same tasks over the same parts."""

    rows: Rows

    @property
    def slots(self) -> int:
        return 1

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        return [task(payload) for payload in payloads]

    def spread(self, columns: Sequence[str]) -> SpreadHere:
        return SpreadHere(self.rows.fetch(numbers=columns).numbers)


@dataclass(frozen=True)
class SpreadHere:
    """`Spread` in this process."""

    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def cut(self, column: int, *, below: int, above: int, most: int, copies: int | None = None) -> Cut:
        each, ordered = max(1, min(most, AT_A_TIME) // FINER), np.sort(self.rows[:, column])
        starts = begins(ordered[each::each].tolist(), each, halo=below + above, most=most)
        return Cut(column, below, above, starts, copies)

    def each(self, task: OverPart, cut: Cut) -> list[Any]:
        which, parts = cut.travel(self.rows)
        once = np.ones(len(which), dtype=np.int64)
        return [
            task(cut.strip(part, self.rows[which[parts == part]], once[parts == part]))
            for part in np.unique(parts).tolist()
        ]

    def kept(self, task: Keeping, cut: Cut, *, width: int) -> tuple[SpreadHere, list[Any]]:
        found = self.each(task, cut)
        rows = [rows for rows, _ in found]
        return SpreadHere(np.concatenate([np.empty((0, width), dtype=np.int64), *rows])), [told for _, told in found]

    def over(self, task: OverPartition) -> list[Any]:
        return [task(0, iter([self.rows]))]

    def having(self, value: int) -> SpreadHere:
        return SpreadHere(self.rows[self.rows[:, -1] == value, :-1])

    def ascending(self, by: Sequence[int]) -> SpreadHere:
        return SpreadHere(self.rows[np.lexsort([self.rows[:, at] for at in reversed(by)])])

    def whole(self) -> Ints:
        return self.rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing lies anywhere else."""


@runtime_checkable
class OnExecutors(Protocol):
    """Rows of an engine that has executors."""

    @property
    def executors(self) -> Executors: ...


def executors_of(rows: Rows) -> Executors:
    """Those that run tasks over these rows: the cluster's where the declaration has `executors = true`, else this process, one after
    the other.
    """
    return rows.executors if isinstance(rows, OnExecutors) else OneProcess(rows)
