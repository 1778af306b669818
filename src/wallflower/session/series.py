"""A question whose answer comes in parts under one charge: what was told is kept in the ledger, and a later part goes on from it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Protocol, Self, TypeGuard, runtime_checkable

from wallflower.engines.base import Rows
from wallflower.errors import BudgetError, LedgerError
from wallflower.ledger.book import Ledger
from wallflower.ledger.charge import Part
from wallflower.ledger.events import now
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantee import Guarantee
from wallflower.privacy.price import Price
from wallflower.schema.canonical import digest
from wallflower.schema.declaration import Declaration
from wallflower.session.description import description
from wallflower.session.queries import Query

GOES_ON = "This series has been charged already: it goes on, and nothing more is charged."


@runtime_checkable
class Series(Protocol):
    """What a query of a series can do beside what every query can."""

    def until(self, today: date, /) -> Self:
        """The same question with the last moment it can be told now; refuses one that is not over."""
        ...

    def has_all(self, kept: Sequence[Any], /) -> bool:
        """Whether what is kept answers all that is asked for."""
        ...

    def go_on(self, kept: Sequence[Any], rows: Rows, entropy: Entropy, /) -> tuple[list[Any], dict[str, Any]]:
        """What is kept with what is drawn now, and the whole answer so far, which follows from that alone."""
        ...


class SeriesQuery(Query, Series, Protocol):
    """A query whose answer comes in parts."""


def is_series(query: Query) -> TypeGuard[SeriesQuery]:
    return isinstance(query, Series)


def dated(query: Query) -> Query:
    """A question as it can be answered now: a series until the last day that is over, any other as it is."""
    return query.until(date.fromisoformat(now()[:10])) if is_series(query) else query


def usual_id(query: Query) -> str:
    """The id of a series that nobody has named: asked again, the same question goes on and is not charged again."""
    return f"series-{digest(description(query))[:32]}"


def has_begun(declaration: Declaration, guarantee: Guarantee, **whose: Any) -> bool:
    """Whether a series has been charged already; False too where no ledger could say so."""
    try:
        return Ledger.open(declaration).check(guarantee, declaration=declaration, series=True, **whose)
    except (BudgetError, LedgerError):
        return False


def refuse_other_tree(part: Part, price: Price, entry: int) -> None:
    """Kept sums mean what they mean under the mechanism they were drawn by."""
    if dict(part.release["mechanism"]) != dict(price.mechanism):
        raise LedgerError(
            f"entry {entry} was begun under another mechanism than this version of Wallflower would use, and cannot go on.",
            hint="What it has told is in `wallflower ledger history DECL --json`. Use a new --request-id to begin another series.",
        )
