"""One process that does in turn what executors do side by side: the same tasks over the same parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wallflower.engines.base import Rows


@dataclass(frozen=True)
class InTurn:
    """`executors.Executors` in this process."""

    rows: Rows

    def run(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        return [task(payload) for payload in payloads]
