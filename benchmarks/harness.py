"""Measure, compare, and write one table. Nothing here asserts: a benchmark reports, a reader judges."""

from __future__ import annotations

import math
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


def seconds(work: Callable[[], Value], *, repeats: int = 3) -> tuple[float, Value]:
    """The best wall time of `repeats` runs, and the last result. Warm a compiled kernel before measuring it."""
    best, value = math.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        value = work()
        best = min(best, time.perf_counter() - start)
    return best, value


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The growth exponent between the first and the last size."""
    return math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])


def peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def data_folder() -> Path:
    """The real data sets: WALLFLOWER_DATA, or ../shared/data beside the repository."""
    folder = Path(os.environ.get("WALLFLOWER_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not folder.is_dir():
        message = f"no data folder at {folder}: set WALLFLOWER_DATA to the folder that holds the data sets"
        raise SystemExit(message)
    return folder


@dataclass
class Table:
    """Rows of goal, baseline, measured, target; printed as Markdown as soon as each is known."""

    title: str
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        print(f"\n## {self.title}\n\n| goal | baseline (same run) | measured | target |\n|---|---|---|---|", flush=True)

    def add(self, goal: str, baseline: str, measured: str, target: str) -> None:
        self.rows.append((goal, baseline, measured, target))
        print(f"| {goal} | {baseline} | {measured} | {target} |", flush=True)
