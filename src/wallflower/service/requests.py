"""A request's journey: submitted, decided, taken at a tick, answered, shown at a later tick.

States: `waiting` for the owner, `refused`, `withdrawn`, `approved`, `taken` (by a worker), `done`. An asker is told waiting,
decided or answered, and never which of `approved` and `taken` it is: that would tell how long the work takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from wallflower.errors import UsageError
from wallflower.privacy.price import Price
from wallflower.schema import canonical
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import exact
from wallflower.service.audit_log import note
from wallflower.service.configuration import Policy, Service
from wallflower.service.forms import form_of
from wallflower.service.grants import policies
from wallflower.service.passwords import new_id
from wallflower.service.ticks import Ticks
from wallflower.stores.database import Transaction

MOST_PURPOSE = 300
MOST_REASON = 300
MOST_WAITING = 50
"""Undecided requests of one asker at one table: a queue is read by a person."""

SENT_AS = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""An asker's own id of a request."""

Shown = Literal["waiting", "refused", "withdrawn", "decided", "answered"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it is kept."""

    id: str
    number: int
    table: str
    asker: str
    command: str
    fields: Mapping[str, Any]
    purpose: str
    price: Mapping[str, Any]
    bound: str
    submitted_at: str
    state: str
    decided_by: str | None
    reason: str | None
    taken_tick: int | None
    finished_tick: int | None
    outcome: Mapping[str, Any] | None
    sent_as: str | None = None
    """The asker's own name of it."""

    def shown_tick(self, ticks: Ticks) -> int | None:
        return None if self.taken_tick is None else ticks.shown(self.taken_tick, self.finished_tick)

    def shown(self, ticks: Ticks, now: float) -> Shown:
        """What the asker is told; it changes by decisions and at ticks alone."""
        if self.state in ("waiting", "refused", "withdrawn"):
            return self.state  # type: ignore[return-value]
        tick = self.shown_tick(ticks)
        over = self.state == "done" and tick is not None and tick <= ticks.at(now)
        return "answered" if over else "decided"

    def missed(self, ticks: Ticks, now: float) -> bool:
        """Whether the answer was not ready at the tick it was planned for: told to the owner."""
        if self.taken_tick is None:
            return False
        planned = self.taken_tick + ticks.shown_after
        late = self.finished_tick is not None and self.finished_tick >= planned
        return late or (self.state == "taken" and ticks.at(now) >= planned)


def read(row: Mapping[str, Any]) -> Request:
    return Request(
        id=row["id"],
        number=row["number"],
        table=row["subject"],
        asker=row["asker"],
        command=row["command"],
        fields=json.loads(row["fields"]),
        purpose=row["purpose"],
        price=json.loads(row["price"]),
        bound=row["bound"],
        submitted_at=row["submitted_at"],
        state=row["state"],
        decided_by=row["decided_by"],
        reason=row["reason"],
        taken_tick=row["taken_tick"],
        finished_tick=row["finished_tick"],
        outcome=None if row["outcome"] is None else json.loads(row["outcome"]),
        sent_as=row["sent_as"],
    )


def find(seen: Transaction, identity: str) -> Request | None:
    row = seen.one("SELECT * FROM requests WHERE id = :id", id=identity)
    return None if row is None else read(row)


def of_asker(seen: Transaction, asker: str, *, most: int = 200) -> list[Request]:
    rows = seen.all(
        "SELECT * FROM requests WHERE asker = :asker OR id IN (SELECT request FROM shared WHERE asker = :asker) "
        "ORDER BY number DESC LIMIT :most",
        asker=asker,
        most=most,
    )
    return [read(row) for row in rows]


def of_table(seen: Transaction, table: str, *, state: str | None = None, most: int = 500) -> list[Request]:
    where = "" if state is None else "AND state = :state "
    given = {} if state is None else {"state": state}
    rows = seen.all(
        f"SELECT * FROM requests WHERE subject = :table {where}ORDER BY number DESC LIMIT :most",
        table=table,
        most=most,
        **given,
    )
    return [read(row) for row in rows]


def asks_the_same(one: Request, other: Request) -> bool:
    """Whether two requests have the same true answer: the same question, whatever noise was chosen for it."""

    def about(request: Request) -> dict[str, Any]:
        return {name: value for name, value in request.fields.items() if not name.endswith("epsilon")}

    return (one.table, one.command, about(one)) == (other.table, other.command, about(other))


def unseen(seen: Transaction, ticks: Ticks, table: str, now: float) -> list[tuple[str, str]]:
    """Asker and id of what workers have taken and nobody may see yet. When they charge depends on how long the work before
    it took; so what is left is shown to askers without these, until their tick.
    """
    rows = seen.all(
        "SELECT asker, id FROM requests WHERE state = 'taken' AND subject = :table "
        "UNION SELECT asker, id FROM requests WHERE taken_tick > :planned AND state = 'done' AND subject = :table "
        "UNION SELECT asker, id FROM requests WHERE finished_tick >= :tick AND state = 'done' AND subject = :table",
        table=table,
        tick=ticks.at(now),
        planned=ticks.at(now) - ticks.shown_after,
    )
    return [(str(row["asker"]), str(row["id"])) for row in rows]


def binding(declaration: Declaration, price: Price) -> str:
    """What a decision was about: if the declaration or the price changes, the request goes back to the queue."""
    parts = {
        "declaration": declaration.fingerprint,
        "guarantee": price.guarantee.to_json(),
        "mechanism": dict(price.mechanism),
        "settings": dict(price.settings),
    }
    return canonical.text(parts)


def submit(
    changes: Transaction,
    service: Service,
    *,
    table: str,
    asker: str,
    command: str,
    fields: Mapping[str, Any],
    purpose: str,
    price: Mapping[str, Any],
    bound: str,
    epsilon: Fraction | None,
    source: str,
    sent_as: str | None = None,
) -> str:
    """Keep a request, and approve it at once where a standing policy says so. Returns its id. A second one that the same
    asker sent under the same name is the first one again.
    """
    purpose = " ".join(purpose.split())
    again = None if sent_as is None else _sent_before(changes, asker, sent_as)
    if again is not None:
        if (again.table, again.command, again.fields, again.purpose) != (table, command, fields, purpose):
            raise UsageError(f"you sent another question as '{sent_as}'.", hint="Use a new id for a new question.")
        return again.id
    _refuse_new(changes, table=table, asker=asker, purpose=purpose)
    identity = new_id()
    approved = _policy(changes, service, table=table, asker=asker, command=command, epsilon=epsilon)
    now = changes.now_text()
    changes.run(
        "INSERT INTO requests (id, number, subject, asker, command, fields, purpose, price, bound, submitted_at, state, "
        "decided_by, decided_at, decided_number, reason, sent_as) VALUES (:id, :number, :table, :asker, :command, :fields, :purpose, "
        ":price, :bound, :now, :state, :decided_by, :decided_at, :decided_number, NULL, :sent_as)",
        sent_as=sent_as,
        id=identity,
        number=changes.next_number("requests"),
        table=table,
        asker=asker,
        command=command,
        fields=json.dumps(fields, ensure_ascii=False),
        purpose=purpose,
        price=json.dumps(price, ensure_ascii=False),
        bound=bound,
        now=now,
        state="approved" if approved else "waiting",
        decided_by="a standing policy" if approved else None,
        decided_at=now if approved else None,
        decided_number=changes.next_number("decisions") if approved else None,
    )
    note(changes, who=asker, source=source, did="request submitted", subject=table, words=f"{command} {identity}")
    if approved:
        note(changes, who="policy", source="service", did="request approved", subject=table, words=identity)
    return identity


def _sent_before(changes: Transaction, asker: str, sent_as: str) -> Request | None:
    if not SENT_AS.fullmatch(sent_as):
        raise UsageError("an id of yours has 1 to 64 letters, digits, '.', '_' and '-'.")
    row = changes.one("SELECT * FROM requests WHERE asker = :asker AND sent_as = :sent", asker=asker, sent=sent_as)
    return None if row is None else read(row)


def _refuse_new(changes: Transaction, *, table: str, asker: str, purpose: str) -> None:
    """Refuse a request that nobody could decide about, or that would be one too many."""
    if not purpose or len(purpose) > MOST_PURPOSE or not purpose.isprintable():
        raise UsageError(
            f"a purpose has 1 to {MOST_PURPOSE} printable characters.",
            hint="The owner and the auditor read it; it is kept for good.",
        )
    waiting = changes.one(
        "SELECT count(*) AS waiting FROM requests WHERE asker = :asker AND subject = :table AND state = 'waiting'",
        asker=asker,
        table=table,
    )
    if waiting and int(waiting["waiting"]) >= MOST_WAITING:
        raise UsageError(f"{MOST_WAITING} of your requests wait for a decision.", hint="Withdraw one, or wait.")
    if changes.one("SELECT subject FROM stopped WHERE subject = :table", table=table):
        raise UsageError("the owner has stopped this table: it takes no requests.")


def decide(changes: Transaction, request: Request, *, owner: str, approve: bool, reason: str, source: str) -> None:
    """An owner's word; a refusal has a reason, which goes to the asker."""
    reason = " ".join(reason.split())
    if not approve and not reason:
        raise UsageError("a refusal has a reason.", hint="It goes to the asker.")
    if len(reason) > MOST_REASON or not reason.isprintable():
        raise UsageError(f"a reason has at most {MOST_REASON} printable characters.")
    changed = changes.run(
        "UPDATE requests SET state = :state, decided_by = :owner, decided_at = :now, decided_number = :number, reason = :reason "
        "WHERE id = :id AND state = 'waiting'",
        state="approved" if approve else "refused",
        owner=owner,
        now=changes.now_text(),
        number=changes.next_number("decisions") if approve else None,
        reason=reason or None,
        id=request.id,
    )
    if not changed:
        raise UsageError("this request has been decided or withdrawn already.")
    did = "request approved" if approve else "request refused"
    note(changes, who=owner, source=source, did=did, subject=request.table, words=request.id)


def withdraw(changes: Transaction, request: Request, *, source: str) -> None:
    if not changes.run("UPDATE requests SET state = 'withdrawn' WHERE id = :id AND state = 'waiting'", id=request.id):
        raise UsageError("only a request that waits for a decision can be withdrawn.")
    note(changes, who=request.asker, source=source, did="request withdrawn", subject=request.table, words=request.id)


def return_to_queue(changes: Transaction, request: Request, *, price: Mapping[str, Any], bound: str) -> None:
    """What was decided is not what would be asked now; the next decision is about that, and its price is shown for it."""
    changes.run(
        "UPDATE requests SET state = 'waiting', decided_by = NULL, decided_at = NULL, decided_number = NULL, taken_tick = NULL, "
        "worker = NULL, reason = :reason, price = :price, bound = :bound WHERE id = :id",
        price=json.dumps(price, ensure_ascii=False),
        bound=bound,
        reason="The declaration or the price changed after the decision; it waits for a new one.",
        id=request.id,
    )
    note(
        changes,
        who="worker",
        source="service",
        did="request returned to the queue",
        subject=request.table,
        words=request.id,
    )


def share(changes: Transaction, request: Request, *, asker: str, owner: str, source: str) -> None:
    """Show a recorded answer to a second asker; nothing is charged."""
    if request.state != "done" or not changes.one("SELECT name FROM users WHERE name = :asker", asker=asker):
        raise UsageError("only an answered request can be shared, and only with a user of this service.")
    changes.run("DELETE FROM shared WHERE request = :id AND asker = :asker", id=request.id, asker=asker)
    changes.run(
        "INSERT INTO shared (request, asker, by_whom, at) VALUES (:id, :asker, :owner, :now)",
        id=request.id,
        asker=asker,
        owner=owner,
        now=changes.now_text(),
    )
    note(
        changes,
        who=owner,
        source=source,
        did="answer shared",
        subject=request.table,
        words=f"{request.id} with {asker}",
    )


def covers(service: Service, policy: Policy, *, asker: str, command: str, epsilon: Fraction | None) -> bool:
    """Whether a policy approves; never `explain` (its record is unprotected) or `publish`."""
    return (
        form_of(command).policies
        and policy.command == command
        and epsilon is not None
        and epsilon <= policy.epsilon_at_most
        and asker in service.members(policy.askers)
    )


def _policy(
    changes: Transaction, service: Service, *, table: str, asker: str, command: str, epsilon: Fraction | None
) -> bool:
    return any(
        covers(service, policy, asker=asker, command=command, epsilon=epsilon)
        for _, policy in policies(changes, service, table)
    )


def charged_epsilon(price: Price) -> Fraction | None:
    """The ε of a price, where its promise has one."""
    amount = price.guarantee.parameters.get("epsilon")
    return None if amount is None else exact(str(amount))
