"""Readings as they come to a sensor's process: from a file when asked, from standard input by a thread of its own."""

from __future__ import annotations

import io
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wallflower.errors import WallflowerError


class Feed:
    """Windows of readings as they come. A file is read when asked; standard input by a thread, so that nobody waits for it."""

    def __init__(self, data: str, columns: list[str], length: int, *, skip: int) -> None:
        from wallflower.engines.readings import windows_of_file, windows_of_lines

        self.ended = False
        self._windows: Iterator[Any] | None = None
        # A full queue stops the reading, and so whoever writes.
        self._queue: queue.Queue[Any] = queue.Queue(maxsize=2 if length > 1 else 4096)
        if data == "-":
            if isinstance(sys.stdin, io.TextIOWrapper):
                sys.stdin.reconfigure(errors="replace")
            live = windows_of_lines(sys.stdin, columns, length=length)
            threading.Thread(target=self._read, args=(live,), daemon=True).start()
        else:
            self._windows = windows_of_file(Path(data), columns, length=length, skip=skip)

    def _read(self, windows: Iterator[Any]) -> None:
        try:
            for window in windows:
                self._queue.put(window)
        except WallflowerError as error:
            self._queue.put(error)
        finally:
            self._queue.put(None)

    def take(self) -> Any:
        """The next window, or None when none is there now; `ended` says that none will come."""
        if self.ended:
            return None
        if self._windows is not None:
            window = next(self._windows, None)
        else:
            try:
                window = self._queue.get_nowait()
            except queue.Empty:
                return None
        if isinstance(window, WallflowerError):
            raise window
        self.ended = window is None
        return window
