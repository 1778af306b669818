"""Accounts by short codes that never change; what a kind of account is, as data. Each family's file holds its kinds.

The codes are written into ledgers and releases: a code is never renamed, and never used for anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

Amounts = Mapping[str, Fraction]

CHANGED = {"add-remove": "is added or removed", "replace-one": "is replaced by another"}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of account: whom it protects, what limits it, what else its charges are booked in."""

    code: str
    budget: str
    """The part of the declaration that holds its limit: [budget.X], or "identify" for a model of its own."""
    words: str
    """Its name for whoever reads the ledger."""
    everyday_name: str
    """What people call it who need not know its code, as at the console."""
    bounds: Callable[[str, str, str], str]
    """What its number says about everything booked in it, given how likely ("… times as likely"), the unit and the change."""
    adds: tuple[str, ...] = ("epsilon", "delta", "rho")
    covers: tuple[str, ...] = ()
    """Codes of the weaker kinds that its charges are also booked in, transitively closed."""
    between_tables: bool = True
    """Whether it compares neighbouring tables: then its promises share the ledger's `neighbours`."""
    conditional: bool = False
    """Whether it takes promises that hold under a condition, and says so of its number; elsewhere such a promise is refused."""
    recomputed: bool = False
    """Whether an answer that was charged and never recorded may be computed anew under its id: only where nothing is drawn."""
    no_sum: str = ""
    """Why, once something is booked in it, no number bounds everything that was released; empty where one does."""
    order: int = 0
    """Its place in a statement; the weakest is last."""

    @property
    def counts_publications(self) -> bool:
        """Whether it counts published tables, in place of what answers give away."""
        return "publications" in self.adds


@dataclass(frozen=True)
class Account:
    """What is added up together inside one ledger, which fixes table, unit and neighbours.

    >>> Account("sensitive-privacy", "default").code, Account.of("sensitive-privacy/default").model
    ('sensitive-privacy/default', 'default')
    """

    kind: str
    model: str = ""
    """The declared anomaly model, for sensitive-privacy; each has an account of its own."""

    @property
    def code(self) -> str:
        return f"{self.kind}/{self.model}" if self.model else self.kind

    @classmethod
    def of(cls, code: str) -> Account:
        kind, _, model = code.partition("/")
        return cls(kind, model)


def among_such(unit: str, change: str) -> str:
    """`change`, for an account that covers some rows only: a row that comes in place of one must be one of them too.

    >>> among_such("row", "is replaced by another"), among_such("row", "is added or removed")
    ('is replaced by another such row', 'is added or removed')
    """
    return f"{change} such {unit}" if change == CHANGED["replace-one"] else change


def times_as_likely(factor: str, delta: str) -> str:
    return f"become more than {factor} times as likely{delta} when"
