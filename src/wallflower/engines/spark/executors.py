"""The executors of a Spark session, as what runs tasks over rows that lie on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wallflower.engines.redaction import broken, quietly
from wallflower.engines.spark import tasks
from wallflower.engines.spark.snapshot import Snapshot
from wallflower.engines.spark.spread import SparkSpread


@dataclass(frozen=True)
class SparkExecutors:
    """`engines.executors.Executors` of the session that a snapshot lies in."""

    base: Snapshot
    places: dict[str, str]
    """For each column of the view its name in `kept`."""

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        return tasks.run(self.base.session, task, payloads)

    def spread(self, columns: Sequence[str]) -> SparkSpread:
        table = self.base.table("kept")
        chosen = table.select(**{f"v{at}": table[self.places[name]].cast("int64") for at, name in enumerate(columns)})
        return quietly(lambda: SparkSpread(self.base, self.base.frame(chosen), len(columns)), broken)
