"""Rows of a Spark table have no order: a record is found by its key alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wallflower.engines.base import Repeated
from wallflower.engines.executors import Executors, OneProcess
from wallflower.engines.redaction import broken, quietly_each
from wallflower.engines.spark.executors import SparkExecutors
from wallflower.engines.spark.parts import bounds_of, in_ranges
from wallflower.engines.spark.snapshot import Snapshot
from wallflower.engines.sql_rows import SqlRows


@dataclass(frozen=True)
class SparkRows(SqlRows):
    """The questions of `base.Rows`, run on the executors."""

    base: Snapshot

    @property
    def executors(self) -> Executors:
        """What runs tasks: the executors where the declaration says that they may, else this process."""
        return SparkExecutors(self.base, self.places) if self.declaration.executors else OneProcess(self)

    def hold(self, name: str, expression: Any) -> Any:
        """Kept on the executors: joining the rows of people is planned and run once, however many questions follow."""
        return self.base.hold(name, expression)

    def stream(self, numbers: Sequence[str], *, by: str | None = None) -> Iterator[Repeated]:
        """Range by range: what Spark sorts as a whole could only be collected as a whole."""
        self.view.check([*numbers, *(() if by is None else (by,))])
        across = numbers[0] if by is None else by
        table = self.base.table("kept")
        columns = {f"v{at}": table[self.places[name]] for at, name in enumerate(numbers)}
        chosen = self.base.view("streamed", table.select(**columns))
        first, bounds = f"v{list(numbers).index(across)}", bounds_of(self.declaration.column(across).domain)
        yield from quietly_each(lambda: in_ranges(self.base, chosen, list(columns), first, bounds), broken)
