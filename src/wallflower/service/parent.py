"""A child's side of the pipe to the supervisor: stop when it is gone, say when one is ready."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any


def stop_with_parent(parent: Any, stop: Callable[[], object]) -> None:
    """Call `stop` when the supervisor has gone, however it went."""

    def watch() -> None:
        try:
            parent.recv()  # nothing is ever sent: it returns when the other end is gone
        except (EOFError, OSError):
            stop()

    threading.Thread(target=watch, daemon=True).start()


def say_ready(parent: Any) -> None:
    with contextlib.suppress(OSError):  # the supervisor has gone: the watch sees to it
        parent.send("ready")
