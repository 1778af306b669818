"""Rows that lie on Spark's executors, parted and compared there by tasks; through frames alone, as `tasks` are.

Before rows travel, equal ones of a few hundred thousand become one with a number, so that one giant cell is a handful of rows. What tasks
keep is a copy without lineage, as the snapshot's is.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from wallflower.engines.batches import gathered
from wallflower.engines.executors import Ints, Keeping, OverPart, OverPartition
from wallflower.engines.partition import AT_A_TIME, FINER, Cut, begins, chunks, together
from wallflower.engines.redaction import broken, quietly
from wallflower.engines.same_code import Installed, installed
from wallflower.engines.spark.snapshot import Snapshot
from wallflower.engines.spark.tasks import failed

MOST_PLACES = 10_000
"""So many places at most are asked for at a time."""


@dataclass(frozen=True)
class SparkSpread:
    """`executors.Spread` over a frame of whole numbers v0, v1, ..."""

    base: Snapshot
    frame: Any
    width: int
    copy: Any = None
    """What lies on the executors for this frame alone."""
    known: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        if "size" not in self.known:
            self.known["size"] = quietly(lambda: int(self.frame.count()), broken)
        return int(self.known["size"])

    def cut(self, column: int, *, below: int, above: int, most: int, copies: int | None = None) -> Cut:
        size, target = len(self), min(most, AT_A_TIME)
        if size <= target:
            return Cut(column, below, above, (), copies)
        many = min(FINER * -(-size // target), MOST_PLACES)
        starts = begins(self._quantiles(column, many), -(-size // many), halo=below + above, most=most)
        return Cut(column, below, above, starts, copies)

    def each(self, task: OverPart, cut: Cut) -> list[Any]:
        def work() -> list[Any]:
            found = self._parted(cut).applyInArrow(_telling(task, cut, installed()), TELLING)
            return _told(found.toArrow())

        return quietly(work, broken)

    def kept(self, task: Keeping, cut: Cut, *, width: int) -> tuple[SparkSpread, list[Any]]:
        def work() -> tuple[SparkSpread, list[Any]]:
            schema = f"{_columns(width)}, {TELLING}"
            found = self._parted(cut).applyInArrow(_keeping(task, cut, width, installed()), schema)
            copy = self.base.copied(found)
            rows = copy.filter("told IS NULL").select(*_names(width))
            told = copy.filter("told IS NOT NULL").select("place", "told").toArrow()
            return SparkSpread(self.base, rows, width, copy), _told(told)

        return quietly(work, broken)

    def over(self, task: OverPartition) -> list[Any]:
        return quietly(lambda: _told(self.frame.mapInArrow(_counting(task, installed()), TELLING).toArrow()), broken)

    def having(self, value: int) -> SparkSpread:
        chosen = self.frame.filter(f"v{self.width - 1} = {value}").select(*_names(self.width - 1))
        return SparkSpread(self.base, chosen, self.width - 1)

    def ascending(self, by: Sequence[int]) -> SparkSpread:
        def work() -> SparkSpread:
            copy = self.base.copied(self.frame.orderBy(*(f"v{at}" for at in by)))
            return SparkSpread(self.base, copy, self.width, copy)

        return quietly(work, broken)

    def whole(self) -> Ints:
        def work() -> Ints:
            batches = [gathered(batch, self.width) for batch in self.frame.toArrow().to_batches()]
            return np.concatenate([np.empty((0, self.width), dtype=np.int64), *batches])

        return quietly(work, broken)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.copy is not None:
            quietly(lambda: self.base.let_go(self.copy), broken)

    def placed(self, cut: Cut) -> Any:
        """Rows, how often they occur, and the part that each goes to: what travels."""
        schema = f"part INT, {_columns(self.width)}, times BIGINT"
        return self.frame.mapInArrow(_placing(cut, installed()), schema)

    def _parted(self, cut: Cut) -> Any:
        return self.placed(cut).groupBy("part")

    def _quantiles(self, column: int, many: int) -> list[int]:
        """Values with about as many rows from one to the next. Only time depends on it."""
        shares = [at / many for at in range(1, many)]
        key = f"{column} of {many}"
        if key not in self.known:
            self.known[key] = quietly(
                lambda: self.frame.approxQuantile(f"v{column}", shares, min(0.01, 1 / (8 * many))), broken
            )
        return [int(value) for value in self.known[key]]  # ascending


TELLING = "place INT, told BINARY"


def _names(width: int) -> list[str]:
    return [f"v{at}" for at in range(width)]


def _columns(width: int) -> str:
    return ", ".join(f"{name} BIGINT" for name in _names(width))


def _told(table: Any) -> list[Any]:
    found = table.to_pydict()
    placed = sorted(zip(found["place"], found["told"], strict=True), key=lambda one: one[0])
    return [pickle.loads(told) for _, told in placed]  # noqa: S301 - our own tasks wrote it


# What runs on the executors. Nested, since Spark wants plain functions; all that they name is of installed modules.


def _placing(cut: Cut, wanted: Installed) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        wanted.refuse_another()
        for rows in chunks(gathered(batch, batch.num_columns) for batch in batches):
            merged = together(rows, np.ones(len(rows), dtype=np.int64))
            which, parts = cut.travel(merged.numbers)
            columns = [merged.numbers[which, at] for at in range(rows.shape[1])]
            yield pa.RecordBatch.from_arrays(
                [pa.array(parts, pa.int32()), *map(pa.array, columns), pa.array(merged.times[which])],
                names=["part", *_names(rows.shape[1]), "times"],
            )

    return work


def _strip(cut: Cut, key: Any, table: Any) -> tuple[int, Any]:
    part = int(key[0].as_py())
    numbers = [table.column(at).to_numpy() for at in range(1, table.num_columns)]
    return part, cut.strip(part, np.column_stack(numbers[:-1]), numbers[-1])


def _telling(task: OverPart, cut: Cut, wanted: Installed) -> Callable[[Any, Any], Any]:
    def work(key: Any, table: Any) -> Any:
        import pyarrow as pa

        wanted.refuse_another()

        def tell() -> Any:
            part, strip = _strip(cut, key, table)
            told = pickle.dumps(task(strip))
            return pa.table({"place": pa.array([part], pa.int32()), "told": pa.array([told], pa.binary())})

        return quietly(tell, failed)

    return work


def _keeping(task: Keeping, cut: Cut, width: int, wanted: Installed) -> Callable[[Any, Any], Any]:
    def work(key: Any, table: Any) -> Any:
        import pyarrow as pa

        wanted.refuse_another()

        def keep() -> Any:
            part, strip = _strip(cut, key, table)
            rows, told = task(strip)
            # One more row than is kept, for what is told.
            columns = {name: pa.array(np.append(rows[:, at], 0), pa.int64()) for at, name in enumerate(_names(width))}
            columns["place"] = pa.array(np.full(len(rows) + 1, part), pa.int32())
            columns["told"] = pa.array([None] * len(rows) + [pickle.dumps(told)], pa.binary())
            return pa.table(columns)

        return quietly(keep, failed)

    return work


def _counting(task: OverPartition, wanted: Installed) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        wanted.refuse_another()
        place = TaskContext.get().partitionId()
        told = quietly(
            lambda: pickle.dumps(task(place, chunks(gathered(batch, batch.num_columns) for batch in batches))), failed
        )
        yield pa.RecordBatch.from_pydict(
            {"place": pa.array([place], pa.int32()), "told": pa.array([told], pa.binary())}
        )

    return work
