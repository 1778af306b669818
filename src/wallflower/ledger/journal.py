"""The ledger's events and what they add up to. Pure: no file, no database; `ledger.book` keeps the events.

Every event carries a hash of itself and of the one before, so an event that was changed, dropped or swapped is noticed.
Nothing is stored as a total: what an account has spent is the sum over all charges, so a model or a family that is
declared later starts with everything that was already released.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

from wallflower.privacy.accounts import Account, Amounts, covered, own_booking
from wallflower.schema.declaration import Declaration

CREATED = "0" * 64
"""What stands before the first event."""


class Damaged(Exception):  # noqa: N818 - not an error of the package; `ledger.book` turns it into one
    """The events do not follow from each other."""


def canonical(value: object) -> str:
    """One text for one JSON value. No float gets in: it would not be exact, and could carry more than it shows.

    >>> canonical({"b": [1, "1/3"], "a": None})
    '{"a":null,"b":[1,"1/3"]}'
    """
    _plain(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _plain(value: object) -> None:
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            message = "the ledger names fields by text"
            raise TypeError(message)
        for item in value.values():
            _plain(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _plain(item)
    elif not (value is None or isinstance(value, str | int)):
        message = f"the ledger cannot hold a {type(value).__name__}"  # its value may come from rows
        raise TypeError(message)


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of the ledger: `limits`, `charge` or `answer`."""

    entry: int
    at: str
    """When, in UTC."""
    kind: str
    body: str
    """Canonical JSON."""
    hash: str

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.body)
        return content

    @classmethod
    def after(cls, head: str, *, entry: int, at: str, kind: str, content: Mapping[str, Any]) -> Event:
        body = canonical(content)
        return cls(entry=entry, at=at, kind=kind, body=body, hash=_hash(head, entry, at, kind, body))


def _hash(head: str, entry: int, at: str, kind: str, body: str) -> str:
    return hashlib.sha256(canonical([head, entry, at, kind, body]).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Charged:
    """A charge as the books keep it."""

    entry: int
    account: Account
    amounts: Amounts
    request_id: str
    asked: str
    """Hash of the query and the declaration's fingerprint: equal exactly when both are."""
    record: str | None
    """The key of the record that was explained, if one was."""
    condition: str
    """What the promise assumes about the rows."""


@dataclass
class Books:
    """Everything the events say, folded one event at a time."""

    entry: int = 0
    head: str = CREATED
    limits: dict[str, Any] = field(default_factory=dict)
    """The latest limits, as `limits_of` writes them."""
    charges: dict[int, Charged] = field(default_factory=dict)
    answers: dict[int, int] = field(default_factory=dict)
    """Entry of a charge, and the entry of its answer."""
    requests: dict[str, int] = field(default_factory=dict)
    totals: dict[Account, dict[str, Fraction]] = field(default_factory=dict)
    """By own account alone; `spent` adds what covers an account."""
    charged_models: dict[str, Any] = field(default_factory=dict)
    """The definition under which a model's own answers were charged; it cannot change after that."""

    def add(self, event: Event) -> None:
        """Take in the next event, after checking that it is the next one."""
        if event.entry != self.entry + 1:
            message = f"entry {self.entry + 1} is missing"
            raise Damaged(message)
        if event.hash != _hash(self.head, event.entry, event.at, event.kind, event.body):
            message = f"entry {event.entry} does not match its hash"
            raise Damaged(message)
        content = event.content
        match event.kind:
            case "limits":
                self.limits = content
            case "charge":
                self._charge(event.entry, content)
            case "answer":
                self.answers[content["charge"]] = event.entry
            case _:
                message = f"entry {event.entry} is of an unknown kind"
                raise Damaged(message)
        self.entry, self.head = event.entry, event.hash

    def _charge(self, entry: int, content: Mapping[str, Any]) -> None:
        own = own_booking(self.limits["table"], content["guarantee"])
        record = content["query"].get("record")
        self.charges[entry] = Charged(
            entry=entry,
            account=own.account,
            amounts=own.amounts,
            request_id=content["request_id"],
            asked=asked(content["query"], content["declaration"]),
            record=None if record is None else str(record),
            condition=content["guarantee"]["holds_when"],
        )
        self.requests[content["request_id"]] = entry
        if own.account.model:
            self.charged_models[own.account.model] = self.limits["models"][own.account.model]["definition"]
        total = self.totals.setdefault(own.account, {})
        for name, amount in own.amounts.items():
            total[name] = total.get(name, Fraction(0)) + amount

    def spent(self, account: Account) -> dict[str, Fraction]:
        """Everything booked in `account`: its own charges and those of every stronger one."""
        names = ("publications",) if account.family == "plain-k-anonymity" else ("epsilon", "delta")
        models = [account.model] if account.model else []
        spent = dict.fromkeys(names, Fraction(0))
        for own, total in self.totals.items():
            if account in covered(own, models):
                for name, amount in total.items():
                    spent[name] += amount
        return spent

    def unanswered(self) -> list[Charged]:
        return [charge for entry, charge in self.charges.items() if entry not in self.answers]


def asked(query: Mapping[str, Any], fingerprint: str) -> str:
    """What two requests with the same id are compared by."""
    return hashlib.sha256(canonical([query, fingerprint]).encode()).hexdigest()


def limits_of(declaration: Declaration) -> dict[str, Any]:
    """What a `limits` event holds: the table, every limit, and every model down to its columns."""
    budgets: dict[str, dict[str, str]] = {}
    for family, budget in sorted(declaration.budgets.items()):
        amounts = {"epsilon": budget.epsilon, "delta": budget.delta or None, "publications": budget.publications}
        budgets[family] = {name: _amount(amount) for name, amount in amounts.items() if amount is not None}
    models = {}
    for name, model in sorted(declaration.models.items()):
        written = {key: _written(value) for key, value in asdict(model).items() if key != "epsilon"}
        # A model is its columns too: other bounds, steps or scales make other distances, hence another promise.
        # Not the place of a hierarchy file: no distance uses it, and a folder may move.
        columns = {column: replace(declaration.column(column), hierarchy=None) for column in model.columns}
        written["columns"] = {column: _digest(repr(kept)) for column, kept in columns.items()}
        models[name] = {"epsilon": _amount(model.epsilon), "definition": written}
    return {
        "table": declaration.id,
        "neighbours": declaration.neighbours,
        "unit": declaration.unit,
        "budgets": budgets,
        "models": models,
    }


def _written(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _written(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_written(item) for item in value]
    return value if value is None or isinstance(value, str | int) else _amount(value)


def _amount(value: object) -> str:
    if not isinstance(value, int | Fraction):
        message = f"a limit or a model is written in exact numbers, not as a {type(value).__name__}"
        raise TypeError(message)
    return str(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
