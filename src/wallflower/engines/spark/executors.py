"""The executors of a Spark session, as what runs tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wallflower.engines.spark import tasks
from wallflower.engines.spark.snapshot import Snapshot


@dataclass(frozen=True)
class SparkExecutors:
    """`engines.executors.Executors` of the session that a snapshot lies in."""

    base: Snapshot

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        return tasks.run(self.base.session, task, payloads)
