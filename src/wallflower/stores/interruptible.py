"""Blocks that end whatever interrupts them: a lock or a transaction of theirs is let go before the interrupt is told to anyone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import TracebackType
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

    def __enter__(self) -> Result:
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
        return self._plain.__exit__(kind, error, traceback)
