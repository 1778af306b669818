"""Every error this package raises.

WallflowerError
├── UsageError            the question itself is wrong; exit 2
├── DeclarationError      the declaration is wrong or incomplete; exit 2
├── BudgetError           the ledger refuses a charge; exit 3
│   └── NotComposable     no account can add this promise to what was already released
├── LedgerError           the ledger is missing, unreadable, full or damaged; exit 3
├── PendingError          the request is still being answered: ask again with the same id; exit 4
└── ReleaseFailed         something broke after the charge; carries no row, value or count; exit 1

All but the last can be raised before any row is read, so their text is safe to print in full.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar


class WallflowerError(Exception):
    """What was wrong and what was expected, in one sentence; `hint` says what to do next.

    >>> error = WallflowerError("'ages' is not declared.", hint="Did you mean 'age'?")
    >>> error.kind, error.exit_code, str(error)
    ('error', 1, "'ages' is not declared. Did you mean 'age'?")
    """

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(WallflowerError):
    """The question itself is wrong.

    >>> from wallflower.count import Outliers
    >>> Outliers(columns=(), neighbours=1, radius=1, epsilon=1)
    Traceback (most recent call last):
    wallflower.errors.UsageError: 'columns' must name at least one column, each once.
    """

    kind = "usage"
    exit_code = 2


class DeclarationError(WallflowerError):
    """The declaration is wrong or incomplete.

    >>> DeclarationError("no column is declared.").exit_code
    2
    """

    kind = "declaration"
    exit_code = 2
    places: tuple[tuple[tuple[str | int, ...], str], ...] = ()
    """Where in the file each problem stands (names from the top down), and what it is: for a form that shows it there."""

    @classmethod
    def of(cls, owner: object, field: str, expected: str, got: object) -> DeclarationError:
        """One message shape for every field of every value object.

        >>> print(DeclarationError.of(3, "scale", "positive", 0))
        'scale' of int must be positive, got 0.
        """
        return cls(f"'{field}' of {type(owner).__name__} must be {expected}, got {cut(repr(got))}.")


class BudgetError(WallflowerError):
    """The ledger refuses a charge; nothing was read.

    >>> BudgetError("this release costs epsilon = 1, and 0.5 of 2 is left.").exit_code
    3
    """

    kind = "budget"
    exit_code = 3


class NotComposable(BudgetError):  # noqa: N818 - reads as what it says
    """No account can add this promise to what was already released.

    >>> issubclass(NotComposable, BudgetError)
    True
    """

    kind = "not-composable"


class LedgerError(WallflowerError):
    """The ledger is missing, unreadable, full or damaged.

    >>> from pathlib import Path
    >>> from wallflower.ledger import Ledger
    >>> Ledger.open(Path("no-such.ledger"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    wallflower.errors.LedgerError: ...
    """

    kind = "ledger"
    exit_code = 3
    passing: bool = False
    """Whether the same, tried again in a while, may work: a server that is being started."""


class PendingError(WallflowerError):
    """The request has been charged and may still be answered: ask again with the same id, never with a new one.

    >>> PendingError("request id 'monday' is still being answered.").exit_code
    4
    """

    kind = "pending"
    exit_code = 4


class ReleaseFailed(WallflowerError):  # noqa: N818 - reads as what it says
    """Something broke after the charge: a bug. It names a place in the code and nothing of the rows.

    >>> ReleaseFailed("the answer could not be computed (KeyError at queries.py:7).").kind
    'bug'
    """

    kind = "bug"
    exit_code = 1


def place(error: BaseException) -> str:
    """Kind and place of an error, without its text: that may quote a row."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = f" at {Path(last.filename).name}:{last.lineno}" if last else ""
    return f"{type(error).__name__}{where}"


def cut(text: str, most: int = 60) -> str:
    """Text that does not fill a screen."""
    return text if len(text) <= most else f"{text[:most]}…"


def nearest_name(wrong: object, known: Iterable[str]) -> str:
    """A sentence that names the closest of `known`, or lists them when none is close.

    >>> nearest_name("salry", ["salary", "city"])
    "Did you mean 'salary'?"
    """
    names = list(known)
    close = get_close_matches(wrong, names, n=1) if isinstance(wrong, str) else []  # from Python anything may come
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"Known here: {', '.join(sorted(names))}." if names else "None is declared."
