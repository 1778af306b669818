"""Keep one child process running: start it again when it dies, and exchange it for a new one when asked to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from multiprocessing.context import SpawnContext
from typing import Any

from wallflower.service import child as children

BACK_OFF_S = (0.1, 5.0)
"""Pause before a child is started again: it doubles while children die young."""
YOUNG_S = 10.0
STOP_S = 60.0
READY_S = 240.0
LOOK_S = 0.2


class Keeper:
    """A thread that looks after a child. `overlapping`: the new one is ready before the old one is told to go."""

    def __init__(
        self,
        name: str,
        context: SpawnContext,
        target: Callable[..., None],
        arguments: Callable[[], tuple[Any, ...]],
        *,
        overlapping: bool = False,
    ) -> None:
        self.name = name
        self.child: Any = None
        self._context, self._target, self._arguments, self._overlapping = context, target, arguments, overlapping
        self._renew, self._stopping, self._started = threading.Event(), threading.Event(), threading.Event()
        self._ends: dict[int, Any] = {}
        self._thread = threading.Thread(target=self._run, name=f"keeper of {name}", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._started.wait(READY_S)

    def renew(self) -> None:
        """Ask for a new child."""
        self._renew.set()

    def stop(self) -> None:
        """Tell the child to finish; `join` waits for it."""
        self._stopping.set()
        if self.child is not None and self.child.is_alive():
            self.child.terminate()

    def join(self, end: float) -> None:
        self._thread.join(max(0.1, end - time.monotonic()))
        if self.child is not None and self.child.is_alive():
            self.child.kill()

    def _run(self) -> None:
        pause = BACK_OFF_S[0]
        while not self._stopping.is_set():
            self.child = self._spawn()
            began = time.monotonic()
            self._started.set()
            if self._watch():
                pause = BACK_OFF_S[0]
                continue
            pause = BACK_OFF_S[0] if time.monotonic() - began > YOUNG_S else min(2 * pause, BACK_OFF_S[1])
            self._stopping.wait(pause)

    def _watch(self) -> bool:
        """Until the child is gone; whether it went because a new one was asked for."""
        while True:
            self.child.join(LOOK_S)
            if not self.child.is_alive():
                self._forget(self.child)
                return False
            if self._stopping.is_set():
                self.child.terminate()  # once more, in case it had just been started; `join` has the patience
                continue
            if self._renew.is_set():
                self._renew.clear()
                if not self._overlapping:
                    self._end(self.child)
                    return True
                self._exchange()

    def _exchange(self) -> None:
        """Both listen for a moment; the old one then finishes what it has begun."""
        new = self._spawn()
        end, ours = time.monotonic() + READY_S, self._ends[new.pid]
        ready = False
        while not ready and new.is_alive() and time.monotonic() < end:
            ready = ours.poll(LOOK_S)
        if not ready or not new.is_alive():  # the old one serves on
            self._end(new)
            return
        old, self.child = self.child, new
        self._end(old)

    def _spawn(self) -> Any:
        """A new child, with one end of a pipe: it says there that it is ready, and sees there that we are gone."""
        theirs, ours = self._context.Pipe()
        child = self._context.Process(
            target=children.body,
            args=(self.name, self._target, *self._arguments(), theirs),
            name=f"wallflower {self.name}",
        )
        child.start()
        theirs.close()
        self._ends[child.pid or 0] = ours
        return child

    def _end(self, child: Any) -> None:
        child.terminate()
        child.join(STOP_S)
        if child.is_alive():
            child.kill()
            child.join()
        self._forget(child)

    def _forget(self, child: Any) -> None:
        ours = self._ends.pop(child.pid or 0, None)
        if ours is not None:
            ours.close()
