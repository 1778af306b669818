"""A question's price, in numbers and in words, with what it would leave in every account. No row is read, nothing is spent.

The web process quotes what is quick; the clerk quotes the rest (`errands.py`). Both use this, and both give the same JSON.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from wallflower.ledger.book import Ledger
from wallflower.ledger.capacity import still_fit
from wallflower.ledger.preview import preview
from wallflower.privacy.price import Price
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.service.configuration import Service
from wallflower.service.curves import error_curve
from wallflower.service.declarations import current
from wallflower.service.grants import budgets, shares
from wallflower.service.questions import Given, question
from wallflower.service.redaction import without_places
from wallflower.service.requests import binding, charged_epsilon, unseen
from wallflower.service.words import FAMILIES, account_words, amount_words
from wallflower.session.pricing import price_of
from wallflower.stores.database import Database

if TYPE_CHECKING:
    from wallflower.session import Query


NEAR = "_by_rows_near"
"""How a price ends the name of chances that depend on how many rows are near."""


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A question with its price."""

    declaration: Declaration
    query: Query
    price: Price


@dataclass(frozen=True)
class Quoter:
    """Prices the questions of a service."""

    database: Database
    service: Service

    def priced(self, table: str, command: str, given: Given) -> Quote:
        with self.database.read() as seen:
            declaration = current(seen, self.service, table).declaration
        query = question(command, given, folder=self.service.folder)
        return Quote(declaration=declaration, query=query, price=price_of(query, declaration))

    def kept(self, table: str, command: str, given: Given) -> dict[str, Any]:
        """The price itself, and what a request keeps of it: all that a program is told."""
        return _kept(self.priced(table, command, given))

    def quoted(self, table: str, command: str, given: Given, asker: str) -> dict[str, Any]:
        """The same, with everything that a page shows beside it: JSON all through."""
        quote = self.priced(table, command, given)
        return {**_kept(quote), "words": self._words(table, asker, quote)}

    def standing(self, table: str, declaration: Declaration) -> dict[str, Any]:
        """What the ledger says of a table, as JSON; a charge is in it from the tick on at which its answer is shown."""
        return Ledger.open(declaration, unseen=partial(self._unseen, table)).show(declaration).to_json()

    def _unseen(self, table: str) -> list[tuple[str, str]]:
        with self.database.read() as seen:
            return unseen(seen, self.service.ticks, table, self.database.clock())

    def room(self, table: str, command: str, given: Given, asker: str) -> int | None:
        """How many more such questions fit."""
        quote = self.priced(table, command, given)
        with self.database.read() as seen:
            limits = shares(seen, self.service, table, asker)
        standing = self.standing(table, quote.declaration)
        return still_fit(quote.price.guarantee, quote.declaration, standing, spent=asker, shares=limits)

    def leaves(self, table: str, command: str, given: Given, asker: str) -> list[list[str]]:
        """What it would leave in every account that it would debit, as a page shows it."""
        return self._leaves(table, asker, self.priced(table, command, given))

    def _words(self, table: str, asker: str, quote: Quote) -> dict[str, Any]:
        guarantee = quote.price.guarantee
        curve = error_curve(quote.query, quote.declaration)
        return {
            "costs": ", ".join(f"{amount_words(name)}\u00a0{amount}" for name, amount in guarantee.parameters.items()),
            "expected": expected_words(quote.price.expected),
            "leaves": self._leaves(table, asker, quote),
            "promise": guarantee.sentence,
            "notes": list(quote.price.notes),
            "curve": None if curve is None else dataclasses.asdict(curve),
            "settings": [[name.replace("_", " "), value] for name, value in quote.price.settings.items()],
        }

    def _leaves(self, table: str, asker: str, quote: Quote) -> list[list[str]]:
        """Every account that it would debit, and what it would leave there."""
        with self.database.read() as seen:
            limits = shares(seen, self.service, table, asker)
        told = preview(
            quote.declaration,
            quote.price.guarantee,
            quote.query,
            asker=asker,
            shares=budgets(limits),
            unseen=partial(self._unseen, table),
        )
        found = [["would be refused" if not told.debited else "note", without_places(note)] for note in told.notes]
        for place, debit in enumerate(told.to_json()):
            if place and not debit["left"]:
                continue  # nothing limits it there
            left = ", ".join(f"{amount_words(name)}\u00a0{amount}" for name, amount in (debit["left"] or {}).items())
            label = "leaves" if place == 0 else "also counts in"
            found.append([label, f"{account_words(debit['account'])}: {left or 'no limit'}"])
        touched = {str(debit["account"]).partition("/")[0] for debit in told.to_json()}
        for share, most in limits.items():
            if touched and share not in touched:
                continue  # this question does not spend of it
            found.append(["your share", f"ε\u00a0{shown(most)} of {FAMILIES.get(share, share)} in all"])
        return found


def _kept(quote: Quote) -> dict[str, Any]:
    epsilon = charged_epsilon(quote.price)
    return {
        "price": quote.price.to_json(),
        "bound": binding(quote.declaration, quote.price),
        "epsilon": None if epsilon is None else shown(epsilon),
    }


def expected_words(expected: Mapping[str, Any]) -> list[list[str]]:
    """What a price expects of its answer, label and text.

    >>> expected_words({"wrong_if_no_row_holds_it_by_rows_near": {"0": "9e-5", "24": "0.27"}})
    [['wrong if no row holds it', 'under 0.1\xa0% with 0 rows near, 27\xa0% with 24']]
    """
    return [
        [name.removesuffix(NEAR).replace("_", " "), _chances(item) if isinstance(item, Mapping) else str(item)]
        for name, item in expected.items()
    ]


def _chances(by_rows_near: Mapping[str, str]) -> str:
    """Chances of being wrong, for people: how many rows are near, and how often."""
    said = [f"{_percent(float(chance))} with {near}" for near, chance in by_rows_near.items()]
    return ", ".join([f"{said[0]} rows near", *said[1:]]) if said else ""


def _percent(chance: float) -> str:
    """
    >>> _percent(0.378), _percent(0.00419), _percent(1e-6)
    ('38\xa0%', '0.4\xa0%', 'under 0.1\xa0%')
    """
    if chance < 0.001:
        return "under 0.1\u00a0%"
    return f"{100 * chance:.0f}\u00a0%" if chance >= 0.095 else f"{100 * chance:.1f}\u00a0%"
