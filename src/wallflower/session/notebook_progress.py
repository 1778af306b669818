"""Progress of a release in a notebook: one line that comes after a second and goes when the work is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from wallflower import progress

SILENT_SECONDS = 1.0


def in_a_notebook() -> bool:
    """Whether a kernel that shows HTML runs this; IPython is never loaded for it."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def shown_progress(clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Listen where nobody does yet and a notebook could show it; elsewhere do nothing."""
    if progress.heard() or not in_a_notebook():
        yield
        return
    display: Any = import_module("IPython.display")  # loaded already; it has no types
    started, handle = clock(), None

    def show(label: str, done: int, total: int) -> None:
        nonlocal handle
        if clock() - started < SILENT_SECONDS:
            return
        line = display.HTML(bar(label, done, total))
        if handle is None:
            handle = display.display(line, display_id=True)
        else:
            handle.update(line)

    try:
        with progress.listening(show):
            yield
    finally:
        if handle is not None:
            handle.update(display.HTML(""))


def bar(label: str, done: int, total: int) -> str:
    """
    >>> bar("contexts", 1, 4)
    '<progress value="1" max="4"></progress> contexts: 1 of 4'
    """
    return f'<progress value="{done}" max="{total}"></progress> {label}: {done:,} of {total:,}'
