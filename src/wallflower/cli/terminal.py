"""The owner's terminal: words on stdout, everything else on stderr, progress of what takes long."""

from __future__ import annotations

import errno
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from wallflower.progress import listening

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


class _AtFirstUse:
    """A console that is made when something is first printed: most of a short command would be spent on loading it."""

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        return getattr(self.console, name)

    @cached_property
    def console(self) -> Console:
        from rich.console import Console
        from rich.text import Text

        class Plain(Console):
            """Says that its reader has left by the operating system's own error, which the command can then answer for."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

            def render_str(self, text: str, **settings: Any) -> Text:
                return super().render_str(shown(text), **settings)

        # Names and values are printed as they are: neither [red] nor :bug: in one means anything.
        return Plain(soft_wrap=True, markup=False, emoji=False, **self._settings)


class _Stderr:
    """Whatever stderr is by now. A warning that nobody can read, on a full disk or a terminal that has ended, undoes no command:
    it may come between a charge and what was paid for.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


err = cast("Console", _AtFirstUse(stderr=True, file=_Stderr()))
out = cast("Console", _AtFirstUse())

LOOK = "This looks at the rows without protection. Keep it at your desk."

SILENT_SECONDS = 1.0

LAID_OUT = dict.fromkeys(map(ord, "\n\t"))

FORCED = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"})
"""What tells rich to take a pipe for a terminal."""


def shown(text: str) -> str:
    """The text, lines and tabs and all, with an escape for each letter that a terminal would obey: names and values may come from anybody.

    >>> print(shown("a \\x1b[31mname"))
    a \\x1b[31mname
    """
    if text.translate(LAID_OUT).isprintable():
        return text
    from wallflower.schema.problems import visible  # rarely needed, and what it lies in takes long to load

    return re.sub(r"[^\n\t]+", lambda found: visible(found[0]), text)


def show_lines(rows: list[tuple[str, str]]) -> None:
    width = max(len(label) for label, _ in rows)
    for label, text in rows:
        out.print(f"{label:<{width}}", style="bold", end="  ", highlight=False)
        out.print(text, highlight=False)


def bars_on_stderr() -> Progress:
    """Bars for the owner's terminal, gone when the work is done; nothing where stderr is not a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=cast("_AtFirstUse", err).console,
        transient=True,
        disable=not err.is_terminal,
    )


@contextmanager
def progress_on_stderr() -> Iterator[None]:
    """Show progress of anything that takes over a second; nothing for short work or when stderr is not a terminal."""
    if not sys.stderr.isatty() and not FORCED & os.environ.keys():
        yield
        return
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
