"""Blocks that end whatever interrupts them: a lock or a transaction of theirs is let go before the interrupt is told to anyone."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def block(
    function: Callable[Arguments, Iterator[Result]],
) -> Callable[Arguments, Block[Result]]:
    """`contextlib.contextmanager`, for what must not stay open where an interrupt comes just as the block is entered.

    There contextlib leaves the generator at its `yield`, and the interrupt's own traceback keeps it: whoever cleans up under that
    interrupt would wait for a lock that nobody lets go of.
    """

    @wraps(function)
    def made(*arguments: Arguments.args, **named: Arguments.kwargs) -> Block[Result]:
        return Block(function(*arguments, **named))

    return made


class Block(AbstractContextManager[Result]):
    """What `block` makes; `close` ends one that was left open."""

    def __init__(self, steps: Iterator[Result]) -> None:
        self._steps = steps
        self._plain = contextmanager(lambda: steps)()
        self._entered_in: int | None = None
        self._stack: list[weakref.ref[Block[Any]]] = []

    @property
    def is_open(self) -> bool:
        return self._entered_in is not None and self._steps.gi_frame is not None  # type: ignore[attr-defined]  # as in `close`

    def is_beneath(self) -> bool:
        """Whether the `with` that entered it is still at work in this thread: a signal's handler came on top of it."""
        frame: FrameType | None = sys._getframe()  # noqa: SLF001 - the one way to a thread's own stack
        while frame is not None and id(frame) != self._entered_in:
            frame = frame.f_back
        return frame is not None

    def __enter__(self) -> Result:
        # By its number: the frame itself would be kept alive by what it keeps alive.
        self._entered_in = id(sys._getframe(1))  # noqa: SLF001 - as above
        self._stack = _ENTERED.blocks
        self._stack.append(weakref.ref(self))
        try:
            return self._plain.__enter__()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        try:
            self._steps.close()  # type: ignore[attr-defined]  # a generator, which a function with `yield` returns
        finally:
            self._leave()

    def _leave(self) -> None:
        """Close what was entered within and left open: an interrupt came as it was to end."""
        places = [place for place, each in enumerate(self._stack) if each() is self]
        for place in places:
            within = [each() for each in self._stack[place + 1 :]]
            del self._stack[place:]
            for left in reversed(within):
                if left is not None:
                    left.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        if kind is None and not self.is_open:
            raise RuntimeError("a block was closed before its end, and what it did was undone.")
        try:
            return self._plain.__exit__(kind, error, traceback)
        finally:
            self._leave()


class _Entered(threading.local):
    """The blocks that a thread is in, outermost first; not kept alive here, so that one left open ends with what keeps it."""

    def __init__(self) -> None:
        self.blocks: list[weakref.ref[Block[Any]]] = []


_ENTERED = _Entered()
