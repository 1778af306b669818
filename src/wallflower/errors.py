"""Every error this package raises.

WallflowerError
├── UsageError            the question itself is wrong; exit 2
├── DeclarationError      the declaration is wrong or incomplete; exit 2
├── BudgetError           the ledger refuses a charge; exit 3
│   └── NotComposable     no account can add this promise to what was already released
├── LedgerError           the ledger is missing, unreadable, full or damaged; exit 3
└── ReleaseFailed         something broke after the charge; carries no row, value or count; exit 1

The first four can be raised before any row is read, so their text is safe to print in full.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar


class WallflowerError(Exception):
    """What was wrong and what was expected, in one sentence; `hint` says what to do next."""

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(WallflowerError):
    kind = "usage"
    exit_code = 2


class DeclarationError(WallflowerError):
    kind = "declaration"
    exit_code = 2

    @classmethod
    def of(cls, owner: object, field: str, expected: str, got: object) -> DeclarationError:
        """One message shape for every field of every value object.

        >>> print(DeclarationError.of(3, "scale", "positive", 0))
        'scale' of int must be positive, got 0.
        """
        return cls(f"'{field}' of {type(owner).__name__} must be {expected}, got {got!r}.")


class BudgetError(WallflowerError):
    kind = "budget"
    exit_code = 3


class NotComposable(BudgetError):  # noqa: N818 - reads as what it says
    kind = "not-composable"


class LedgerError(WallflowerError):
    kind = "ledger"
    exit_code = 3


class ReleaseFailed(WallflowerError):  # noqa: N818 - reads as what it says
    kind = "bug"
    exit_code = 1


def place(error: BaseException) -> str:
    """Kind and place of an error, without its text: that may quote a row."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = f" at {Path(last.filename).name}:{last.lineno}" if last else ""
    return f"{type(error).__name__}{where}"


def nearest_name(wrong: str, known: Iterable[str]) -> str:
    """A sentence that names the closest of `known`, or lists them when none is close.

    >>> nearest_name("salry", ["salary", "city"])
    "Did you mean 'salary'?"
    """
    names = list(known)
    close = get_close_matches(wrong, names, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"Known here: {', '.join(sorted(names))}." if names else "None is declared."
