"""Processes that run tasks: the executors of a declared cluster, or this process where there is none.

A task is a picklable callable of an installed module. It draws no noise and writes nothing, because it may run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from wallflower.engines.base import Rows


class Executors(Protocol):
    """What runs tasks."""

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        """What `task` gives for each payload, in their order. All three are pickled; what payloads share belongs into `task`, once
        (`functools.partial`).
        """
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
