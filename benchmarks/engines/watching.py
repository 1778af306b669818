"""What the processes of a measurement spend, hold and send."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wallflower.engines import sql_rows
from wallflower.engines.batches import GrowingTable

TICK = os.sysconf("SC_CLK_TCK")
PARTS = {
    "CoarseGrainedExecutor": "executor",
    "SparkSubmit": "driver",
    "deploy.worker": "worker",
    "pyspark.daemon": "task",
    "postgres": "server",
}


class Peaks:
    """The most that each process held, looked at while it is there."""

    roots: tuple[int, ...] = ()
    seen: dict[int, tuple[float, str]] = {}  # noqa: RUF012 - one measuring process, one set of peaks

    @classmethod
    def look(cls) -> None:
        for process in tree(cls.roots):
            cls.seen[process] = max(cls.seen.get(process, (0, "")), (held(process), what(process)))


def tree(roots: Iterable[int]) -> set[int]:
    """The processes and all that they started."""
    parents = {int(path.name): parent for path in Path("/proc").glob("[0-9]*") if (parent := _stat(path.name, 1))}
    found = set(roots)
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _stat(process: int | str, *fields: int) -> int:
    try:
        parts = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0  # it ended meanwhile
    return sum(int(parts[at]) for at in fields)


def cpu_seconds(roots: Iterable[int]) -> float:
    """Of the living and, in their parents' books, of those that ended."""
    return sum(_stat(process, 11, 12, 13, 14) for process in tree(roots)) / TICK


def what(process: int) -> str:
    """Which part a process plays, by the program it runs."""
    try:
        line = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
    return next((part for name, part in PARTS.items() if name in line), "")


def held(process: int) -> float:
    """The peak of a process, in MiB."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0)


class Sent:
    """Rows that leave an engine, counted where they arrive: whole answers, or the parts of a fetch."""

    answered = 0
    fetched = 0

    @classmethod
    def watch(cls, *backends: type) -> None:
        for backend in backends:
            cls._answers(backend)
        add, gather = GrowingTable.add, sql_rows.gathered

        def adding(self: GrowingTable, columns: Any, rows: int) -> None:
            cls.fetched += rows if len(columns) else 0
            add(self, columns, rows)

        def gathered(batch: Any, width: int) -> Any:
            cls.fetched += batch.num_rows
            return gather(batch, width)

        GrowingTable.add = adding  # type: ignore[method-assign]
        sql_rows.gathered = gathered  # type: ignore[attr-defined]

    @classmethod
    def _answers(cls, backend: type) -> None:
        whole = backend.arrow  # type: ignore[attr-defined]

        def arrow(self: Any, expression: Any) -> Any:
            answer = whole(self, expression)
            cls.answered += answer.num_rows
            return answer

        backend.arrow = arrow  # type: ignore[attr-defined]

    @classmethod
    def rows(cls) -> int:
        """Since it was last asked."""
        sent = cls.fetched or cls.answered
        cls.fetched = cls.answered = 0
        return sent
