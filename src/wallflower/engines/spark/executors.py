"""The executors of a Spark session, as what runs tasks over rows that lie on them; and on made-up rows, before anything is charged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wallflower.engines.base import Rows
from wallflower.engines.executors import Executors, OneProcess
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

    @property
    def slots(self) -> int:
        return tasks.slots(self.base.session)

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        return tasks.run(self.base.session, task, payloads)

    def spread(self, columns: Sequence[str]) -> SparkSpread:
        table = self.base.table("kept")
        chosen = table.select(**{f"v{at}": table[self.places[name]].cast("int64") for at, name in enumerate(columns)})
        return quietly(lambda: SparkSpread(self.base, self.base.frame(chosen), len(columns)), broken)


@dataclass(frozen=True)
class TrialExecutors(OneProcess):
    """Executors that are tried before a charge: tasks run on them, and made-up rows stay in this process."""

    session: Any

    @property
    def slots(self) -> int:
        return tasks.slots(self.session)

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        return tasks.run(self.session, task, payloads, otherwise=tasks.not_ready)


@dataclass(frozen=True)
class MadeUp:
    """Made-up rows, with the executors that the table's own lie on."""

    rows: Rows
    executors: Executors

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rows, name)
