"""Progress of long work, for the owner's eyes: silent unless somebody listens, and never part of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("wallflower_progress", default=None)


def report(label: str, done: int, total: int) -> None:
    """Say that `done` of `total` pieces of `label` are finished."""
    listener = _listener.get()
    if listener is not None:
        listener(label, done, total)


def heard() -> bool:
    """Whether somebody listens."""
    return _listener.get() is not None


Warned = Callable[[str], None]
_warned: ContextVar[Warned | None] = ContextVar("wallflower_warned", default=None)


def warn(sentence: str) -> None:
    """Tell the owner something that is no part of a release's computation; nothing where nobody listens."""
    listener = _warned.get()
    if listener is not None:
        listener(sentence)


@contextmanager
def warned(listener: Warned) -> Iterator[None]:
    """Send every `warn` below this block to `listener`.

    >>> with warned(print):
    ...     warn("the publication is empty.")
    the publication is empty.
    """
    token = _warned.set(listener)
    try:
        yield
    finally:
        _warned.reset(token)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every `report` below this block to `listener`.

    >>> with listening(lambda label, done, total: print(label, done, total)):
    ...     report("contexts", 1, 2)
    contexts 1 2
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
