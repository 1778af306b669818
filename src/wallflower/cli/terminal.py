"""The owner's terminal: words on stdout, everything else on stderr, progress of what takes long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wallflower.progress import listening

err = Console(stderr=True, soft_wrap=True)
out = Console(soft_wrap=True)

SILENT_SECONDS = 1.0


def show_lines(rows: list[tuple[str, str]]) -> None:
    width = max(len(label) for label, _ in rows)
    for label, text in rows:
        out.print(f"{label:<{width}}", style="bold", end="  ", highlight=False)
        out.print(text, markup=False, highlight=False)


def bars_on_stderr() -> Progress:
    """Bars for the owner's terminal, gone when the work is done; nothing where stderr is not a terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )


@contextmanager
def progress_on_stderr() -> Iterator[None]:
    """Show progress of anything that takes over a second; nothing for short work or when stderr is not a terminal."""
    started = time.monotonic()
    bars: dict[str, TaskID] = {}
    with bars_on_stderr() as progress:

        def show(label: str, done: int, total: int) -> None:
            if time.monotonic() - started < SILENT_SECONDS:
                return
            if label not in bars:
                bars[label] = progress.add_task(label, total=total)
            progress.update(bars[label], completed=done, total=total)

        with listening(show):
            yield
