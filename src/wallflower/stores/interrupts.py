"""Blocks that end whatever interrupts them: a lock or a transaction of theirs is let go before the interrupt is told to anyone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

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
        try:
            return self._plain.__enter__()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._steps.close()  # type: ignore[attr-defined]  # a generator, which a function with `yield` returns

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        if kind is None and not self.is_open:
            raise RuntimeError("a block was closed before its end, and what it did was undone.")
        return self._plain.__exit__(kind, error, traceback)
