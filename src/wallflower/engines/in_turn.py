"""One process that does in turn what executors do side by side: the same tasks over the same parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from wallflower.engines.base import Rows
from wallflower.engines.executors import Ints, Keeping, OverPart, OverPartition
from wallflower.engines.parting import AT_A_TIME, FINER, Cut, begins


@dataclass(frozen=True)
class InTurn:
    """`executors.Executors` in this process."""

    rows: Rows

    @property
    def slots(self) -> int:
        return 1

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        return [task(payload) for payload in payloads]

    def spread(self, columns: Sequence[str]) -> Held:
        return Held(self.rows.fetch(numbers=columns).numbers)


@dataclass(frozen=True)
class Held:
    """`executors.Spread` in this process."""

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

    def kept(self, task: Keeping, cut: Cut, *, width: int) -> tuple[Held, list[Any]]:
        found = self.each(task, cut)
        rows = [rows for rows, _ in found]
        return Held(np.concatenate([np.empty((0, width), dtype=np.int64), *rows])), [told for _, told in found]

    def over(self, task: OverPartition) -> list[Any]:
        return [task(0, iter([self.rows]))]

    def having(self, value: int) -> Held:
        return Held(self.rows[self.rows[:, -1] == value, :-1])

    def ascending(self, by: Sequence[int]) -> Held:
        return Held(self.rows[np.lexsort([self.rows[:, at] for at in reversed(by)])])

    def whole(self) -> Ints:
        return self.rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing lies anywhere else."""
