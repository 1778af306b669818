"""What every handler works with: the service, its database, its people, its pages, and prices. It opens no rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from wallflower.errors import WallflowerError
from wallflower.ledger.book import Ledger
from wallflower.report.pages import render
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import exact, shown
from wallflower.service import errands
from wallflower.service.configuration import Service
from wallflower.service.cookies import Signer
from wallflower.service.declarations import Declared, current
from wallflower.service.errands import is_slow
from wallflower.service.forms import form_of
from wallflower.service.people import People
from wallflower.service.questions import Given, fields_of
from wallflower.service.quotes import Quoter
from wallflower.service.requests import read, submit
from wallflower.service.web.visit import Answer, Visit
from wallflower.service.words import FAMILIES, account_words, amount_words
from wallflower.stores.database import Database


@dataclass(frozen=True)
class Desk:
    """The web process's own tools."""

    service: Service
    database: Database
    people: People
    signer: Signer
    clock: Callable[[], float] = time.time
    patience_s: float = 8.0
    """How long a page waits for a price that the clerk computes."""

    @classmethod
    def of(cls, service: Service, database: Database) -> Desk:
        service.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(service, database, People(database, database.clock), Signer.of(database), database.clock)

    def declared(self, table: str) -> Declared:
        with self.database.read() as seen:
            return current(seen, self.service, table)

    def quoted(self, table: str, command: str, given: Given, asker: str) -> dict[str, Any]:
        """What a question would promise, cost and leave; no row is read, nothing is spent. Slow ones are a clerk's."""
        if not is_slow(command, given):
            return Quoter(self.database, self.service).quoted(table, command, given, asker)
        return self._by_clerk(table, command, given, asker)

    def priced(self, table: str, command: str, given: Given, asker: str) -> dict[str, Any]:
        """The price alone, for programs and submissions: a curve that nobody sees is not computed."""
        if not is_slow(command, given):
            return Quoter(self.database, self.service).kept(table, command, given)
        return self._by_clerk(table, command, given, asker)

    def submit(self, visit: Visit, command: str, given: Given, *, purpose: str, sent_as: str | None) -> str:
        """The question as a request of whoever visits, at the price that it has now; returns the request's name."""
        table = visit.path["table"]
        quote = self.priced(table, command, given, visit.name)
        with self.database.write() as changes:
            return submit(
                changes,
                self.service,
                table=table,
                asker=visit.name,
                command=command,
                fields=fields_of(form_of(command), given),
                purpose=purpose,
                price=quote["price"],
                bound=str(quote["bound"]),
                epsilon=None if quote["epsilon"] is None else exact(quote["epsilon"]),
                source=visit.source,
                sent_as=sent_as,
            )

    def _by_clerk(self, table: str, command: str, given: Given, asker: str) -> dict[str, Any]:
        return errands.quoted(
            self.database,
            self.service,
            table=table,
            command=command,
            given=given,
            asker=asker,
            patience_s=self.patience_s,
        )

    def rehearsed(self, table: str, command: str, given: Given, asker: str) -> dict[str, Any]:
        """The question tried on public or made-up rows, by the clerk; nothing is spent."""
        return errands.rehearsed(
            self.database,
            self.service,
            table=table,
            command=command,
            given=given,
            asker=asker,
            patience_s=self.patience_s,
        )

    def rehearsal_of(self, table: str, command: str, given: Given, asker: str) -> dict[str, Any] | None:
        """What has come of a rehearsal that was asked for, without asking for one."""
        try:
            return errands.rehearsal_of(
                self.database, self.service, table=table, command=command, given=given, asker=asker
            )
        except WallflowerError:  # the declaration cannot be read now: the card says so elsewhere
            return None

    def more_like_the_last(self, table: str, asker: str) -> str:
        """About how many more questions like this asker's last one the table's limits and their share allow."""
        with self.database.read() as seen:
            row = seen.one(
                "SELECT * FROM requests WHERE subject = :table AND asker = :asker AND state != 'refused' "
                "ORDER BY number DESC LIMIT 1",
                table=table,
                asker=asker,
            )
        if row is None or is_slow(str(row["command"]), read(row).fields):
            return ""
        try:
            more = Quoter(self.database, self.service).room(table, str(row["command"]), read(row).fields, asker)
        except WallflowerError:  # the declaration has changed since: nothing can be said
            return ""
        return "" if more is None else f"about {more} more question{'' if more == 1 else 's'} like your last"

    def standing(self, declaration: Declaration) -> dict[str, Any]:
        """What the ledger says of a table now, as JSON: for those who may see when it was charged."""
        return Ledger.open(declaration).show(declaration).to_json()

    def standing_for_askers(self, table: str, declaration: Declaration) -> dict[str, Any]:
        """The same, as it may be seen: it changes at ticks, with the answers."""
        return Quoter(self.database, self.service).standing(table, declaration)

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


def bars(standing: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Accounts as bars: what is spent of what, as parts of 100 for drawing."""
    found = []
    for account in standing["accounts"]:
        for amount, most in (account["limit"] or {}).items():
            spent = account["spent"].get(amount, "0")
            name = account_words(str(account["account"]))
            unit = "" if amount_words(amount) == name else f"{amount_words(amount)}\u00a0"
            left = (account["left"] or {}).get(amount, most)
            if amount == "delta" and Fraction(most) == 0:
                continue
            part = 100 if Fraction(most) == 0 else min(100, round(100 * Fraction(spent) / Fraction(most)))
            found.append(
                {
                    "name": name,
                    "sentence": account["sentence"],
                    "words": f"{unit}{spent} of {most} spent, {left} left",
                    "part": part,
                }
            )
    return found
