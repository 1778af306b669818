"""What every handler works with: the service, its database, its people, its pages, and prices. It opens no rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from wallflower.ledger.book import Ledger
from wallflower.ledger.preview import Preview, preview
from wallflower.privacy.price import Price
from wallflower.report.pages import render
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.service.configuration import Service
from wallflower.service.cookies import Signer
from wallflower.service.declarations import Declared, current
from wallflower.service.grants import budgets, shares
from wallflower.service.people import People
from wallflower.service.questions import Given, question
from wallflower.service.web.visit import Answer, Visit
from wallflower.service.words import FAMILIES, account_words, amount_words
from wallflower.session.pricing import price_of
from wallflower.stores.database import Database

if TYPE_CHECKING:
    from wallflower.session import Query


@dataclass(frozen=True)
class Desk:
    """The web process's own tools."""

    service: Service
    database: Database
    people: People
    signer: Signer
    clock: Callable[[], float] = time.time

    @classmethod
    def of(cls, service: Service, database: Database) -> Desk:
        return cls(service, database, People(database, database.clock), Signer.of(database), database.clock)

    def declared(self, table: str) -> Declared:
        with self.database.read() as seen:
            return current(seen, self.service, table)

    def priced(self, table: str, command: str, given: Given) -> Quote:
        """What a question would promise and cost; no row is read, nothing is spent."""
        declaration = self.declared(table).declaration
        query = question(command, given)
        return Quote(declaration=declaration, query=query, price=price_of(query, declaration))

    def left(self, table: str, asker: str, quote: Quote) -> Preview:
        """Every account that a question would debit, and what it would leave there."""
        with self.database.read() as seen:
            limits = shares(seen, self.service, table, asker)
        return preview(quote.declaration, quote.price.guarantee, quote.query, asker=asker, shares=budgets(limits))

    def standing(self, declaration: Declaration) -> dict[str, Any]:
        """What the ledger says of a table, as JSON."""
        return Ledger.open(declaration).show(declaration).to_json()

    def page(self, template: str, visit: Visit | None, /, *, status: int = 200, **fields: Any) -> Answer:
        """A page of the console for whoever visits."""
        person = None if visit is None else visit.person
        text = render(
            template,
            package="wallflower.service",
            person=person,
            csrf="" if visit is None else visit.csrf,
            path="" if visit is None else visit.route.path,
            waiting=0 if person is None else self.waiting(person.name),
            owns=person is not None and bool(self.owned(person.name)),
            demo=self.service.demo,
            exactly=shown,
            families=FAMILIES,
            **fields,
        )
        return Answer(status=status, body=text.encode())

    def owned(self, name: str) -> list[str]:
        """Tables of which somebody is an owner."""
        return [table for table in self.service.tables if "owner" in self.service.roles(name, table)]

    def waiting(self, name: str) -> int:
        """How many requests wait for this owner."""
        tables = self.owned(name)
        with self.database.read() as seen:
            counts = [
                seen.one("SELECT count(*) AS n FROM requests WHERE subject = :table AND state = 'waiting'", table=table)
                for table in tables
            ]
        return sum(int(row["n"]) for row in counts if row)


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A question with its price."""

    declaration: Declaration
    query: Query
    price: Price

    def to_json(self) -> dict[str, Any]:
        return {
            "guarantee": self.price.guarantee.to_json(),
            "mechanism": dict(self.price.mechanism),
            "settings": dict(self.price.settings),
            "expected": dict(self.price.expected),
            "notes": list(self.price.notes),
        }


def bars(standing: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Accounts as bars: what is spent of what, as parts of 100 for drawing."""
    found = []
    for account in standing["accounts"]:
        for amount, most in (account["limit"] or {}).items():
            spent = account["spent"].get(amount, "0")
            if amount == "delta" and Fraction(most) == 0:
                continue
            part = 100 if Fraction(most) == 0 else min(100, round(100 * Fraction(spent) / Fraction(most)))
            found.append(
                {
                    "name": account_words(str(account["account"])),
                    "sentence": account["sentence"],
                    "amount": amount_words(amount),
                    "spent": spent,
                    "most": most,
                    "part": part,
                }
            )
    return found
