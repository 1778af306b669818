"""What the events add up to, folded one event at a time. Pure: no file, no database; `ledger.book` reads and writes.

Totals are kept by own account alone: what an account has spent is the sum over every account that covers it, so a model
or a family that is declared later starts with everything that was already released. The whole state is small, is written
into the chain every so often as a checkpoint, and a ledger is opened from the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from wallflower.ledger.events import CHECKPOINT_EVERY, CREATED, Event
from wallflower.privacy.account import Account
from wallflower.privacy.accounts import spent_in
from wallflower.privacy.limits import refuse_float, written_limit
from wallflower.privacy.sensitive_privacy import SENSITIVE
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.schema.fingerprint import model_definition
from wallflower.stores.base import FORMAT, Damaged, Head

REMEMBERED = 20
"""How many of the latest unanswered and conditional charges are kept by their entry; of the rest the number is."""

Totals = dict[Account, dict[str, Fraction]]


@dataclass
class Journal:
    """Everything the events say, as far as later charges and a statement need it."""

    table: str
    entry: int = 0
    head: str = CREATED
    checkpoint: int = 0
    limits: dict[str, Any] = field(default_factory=dict)
    """The latest limits, as `limits_of` writes them."""
    totals: Totals = field(default_factory=dict)
    by_asker: dict[str, Totals] = field(default_factory=dict)
    charged_models: dict[str, Any] = field(default_factory=dict)
    """The definition under which a model's own answers were charged; it cannot change after that."""
    charges: int = 0
    replies: int = 0
    """Answers, and charges that were closed without one."""
    waiting: list[int] = field(default_factory=list)
    """Entries of the latest charges without an answer."""
    conditional: list[int] = field(default_factory=list)
    """Entries of the latest charges whose promise holds under a condition."""
    series: dict[str, int] = field(default_factory=dict)
    """The entry of the latest part of every series, by the entry of its charge."""

    @property
    def place(self) -> Head:
        return Head(entry=self.entry, hash=self.head, checkpoint=self.checkpoint)

    def add(self, event: Event) -> None:
        """Take in the next event; that it follows the one before has been checked."""
        if event.entry != self.entry + 1:
            raise Damaged(f"entry {self.entry + 1} is missing")
        content = event.content
        match event.kind:
            case "limits":
                self._set_limits(content)
            case "charge":
                self._charge(event.entry, content)
            case "part":
                self._part(event.entry, content["charge"])
            case "checkpoint":
                if self.entry and content["state"] != self.state():
                    raise Damaged(f"the checkpoint at entry {event.entry} does not agree with what came before it")
                self.checkpoint = event.entry
            case _:
                self._reply(content["charge"])
        self.entry, self.head = event.entry, event.hash

    def _set_limits(self, content: Mapping[str, Any]) -> None:
        if content["format"] != FORMAT or content["table"] != self.table:
            raise Damaged(f"it is of another format or table: {content['format']}, '{content['table']}'")
        kept = ("table", "neighbours", "unit", "limits", "models", "askers")
        self.limits = {name: content[name] for name in kept}

    def _charge(self, entry: int, content: Mapping[str, Any]) -> None:
        account = Account.of(content["account"])
        amounts = {name: Fraction(amount) for name, amount in content["amounts"].items()}
        for totals in (self.totals, self.by_asker.setdefault(content["asker"], {})):
            total = totals.setdefault(account, {})
            for name, amount in amounts.items():
                total[name] = total.get(name, Fraction(0)) + amount
        if account.model:
            self.charged_models[account.model] = self.limits["models"][account.model]
        self.charges += 1
        self.waiting = [*self.waiting, entry][-REMEMBERED:]
        if content["promise"]["holds_when"] != "always":
            self.conditional = [*self.conditional, entry][-REMEMBERED:]

    def _reply(self, charge: int) -> None:
        self.replies += 1
        if charge in self.waiting:
            self.waiting.remove(charge)

    def _part(self, entry: int, charge: int) -> None:
        """The first part is the reply to a series' charge; later ones replace nothing and cost nothing."""
        if str(charge) not in self.series:
            self._reply(charge)
        self.series = {**self.series, str(charge): entry}

    def spent(self, account: Account, *, asker: str | None = None) -> dict[str, Fraction]:
        """Everything booked in `account`, by everyone or by one asker."""
        return spent_in(account, self.totals if asker is None else self.by_asker.get(asker, {}))

    @property
    def is_due(self) -> bool:
        """Whether the next event should be a checkpoint: it then costs no more than what it saves."""
        lines = len(self.totals) + sum(1 + len(totals) for totals in self.by_asker.values())
        return self.entry - self.checkpoint >= max(CHECKPOINT_EVERY, 4 * lines)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: all of this, in exact numbers."""
        return {
            "limits": self.limits,
            "totals": _written(self.totals),
            "by_asker": {asker: _written(totals) for asker, totals in self.by_asker.items()},
            "charged_models": self.charged_models,
            "charges": self.charges,
            "replies": self.replies,
            "waiting": self.waiting,
            "conditional": self.conditional,
            **(
                {"series": self.series} if self.series else {}
            ),  # left out where there is none, as before there were any
        }

    @classmethod
    def at(cls, event: Event, *, table: str) -> Journal:
        """The journal as a checkpoint left it."""
        state = event.content["state"]
        if state["limits"].get("table") != table:
            raise Damaged("its checkpoint is of another table")
        return cls(
            table=table,
            entry=event.entry,
            head=event.hash,
            checkpoint=event.entry,
            limits=state["limits"],
            totals=_read(state["totals"]),
            by_asker={asker: _read(totals) for asker, totals in state["by_asker"].items()},
            charged_models=state["charged_models"],
            charges=state["charges"],
            replies=state["replies"],
            waiting=list(state["waiting"]),
            conditional=list(state["conditional"]),
            series=dict(state.get("series", {})),
        )


def _written(totals: Totals) -> dict[str, dict[str, str]]:
    return {account.code: {name: shown(amount) for name, amount in total.items()} for account, total in totals.items()}


def _read(totals: Mapping[str, Mapping[str, str]]) -> Totals:
    return {
        Account.of(code): {name: Fraction(amount) for name, amount in total.items()} for code, total in totals.items()
    }


def limits_of(declaration: Declaration) -> dict[str, Any]:
    """What a `limits` event holds of a declaration: the table, its unit, every limit, every model down to its columns."""
    limits = {family: written_limit(budget) for family, budget in sorted(declaration.budgets.items())}
    for name, model in sorted(declaration.models.items()):
        refuse_float(model.epsilon)
        limits[Account(SENSITIVE.code, name).code] = {"epsilon": shown(model.epsilon)}
    return {
        "table": declaration.id,
        "neighbours": declaration.neighbours,
        "unit": unit_of(declaration),
        "limits": limits,
        "models": {name: model_definition(declaration, name) for name in sorted(declaration.models)},
        "askers": {
            asker: {code: written_limit(budget) for code, budget in sorted(shares.items())}
            for asker, shares in sorted(declaration.askers.items())
        },
    }


def unit_of(declaration: Declaration) -> str:
    """What one promise is about: a row, or a person, who is known by one column and no other."""
    return declaration.unit if declaration.person is None else f"{declaration.unit}:{declaration.person}"
