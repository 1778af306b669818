"""The ledger in plain words: what was spent, what is left, what the numbers bound and what they do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from wallflower.ledger.journal import Books, Event, limits_of
from wallflower.privacy.accounts import Account, Amounts, account_of, covered, limit
from wallflower.privacy.guarantees import BUT_ASKED, EVERY_ROW, SENSITIVE_ROWS, PlainKAnonymity, factor
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown

_CHANGED = {"add-remove": "is added or removed", "replace-one": "is replaced by another"}


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One account: its numbers, and the sentence that says what they bound."""

    account: Account
    spent: Amounts
    limit: Amounts | None
    sentence: str
    tightest: tuple[Account, Fraction] | None = None
    """The weaker account with the least ε left, and how much, when that is less than what is left here."""

    @property
    def left(self) -> dict[str, Fraction] | None:
        if self.limit is None:
            return None
        return {name: max(most - self.spent[name], Fraction(0)) for name, most in self.limit.items()}

    def to_json(self) -> dict[str, Any]:
        return {
            "family": self.account.family,
            "protects": self.account.protects,
            "model": self.account.model or None,
            "spent": _shown(self.spent),
            "limit": None if self.limit is None else _shown(self.limit),
            "left": None if self.left is None else _shown(self.left),
            "sentence": self.sentence,
        }

    def lines(self) -> list[str]:
        if self.limit is None or self.left is None:
            numbers = ", ".join(f"{name} {amount} spent" for name, amount in _shown(self.spent).items())
            head = f"{self.account}: {numbers}; no limit is declared, so nothing more can be charged"
            return [head, f"  {self.sentence}"]
        left = self.left
        numbers = ", ".join(
            f"{name} {shown(self.spent[name])} of {shown(most)} spent, {shown(left[name])} left"
            for name, most in self.limit.items()
            if name != "delta" or most or self.spent[name]
        )
        lines = [f"{self.account}: {numbers}", f"  {self.sentence}"]
        if self.tightest is not None:
            account, epsilon = self.tightest
            lines.append(f"  A release here is also booked in {account}, where epsilon {shown(epsilon)} is left.")
        return lines


@dataclass(frozen=True, kw_only=True)
class Statement:
    table: str
    neighbours: str
    unit: str
    accounts: tuple[Standing, ...]
    explained: tuple[str, ...]
    """Keys of the records that were explained: no account covers them."""
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "account": self.table,
            "neighbours": self.neighbours,
            "unit": self.unit,
            "accounts": [standing.to_json() for standing in self.accounts],
            "explained": list(self.explained),
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        head = f"Table '{self.table}': one {self.unit} is protected, neighbours are {self.neighbours}."
        accounts = [line for standing in self.accounts for line in ("", *standing.lines())]
        return [head, *accounts, *(line for note in self.notes for line in ("", note))]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One event of the history."""

    event: Event
    text: str

    @property
    def kind(self) -> str:
        return self.event.kind

    def to_json(self) -> dict[str, Any]:
        return {
            "entry": self.event.entry,
            "at": self.event.at,
            "kind": self.event.kind,
            "text": self.text,
            "content": self.event.content,
        }

    def line(self) -> str:
        return f"{self.event.entry}  {self.event.at}  {self.text}"


def of(books: Books, declaration: Declaration) -> Statement:
    """Where every account stands that is declared or was used."""
    standings = [_standing(account, books, declaration) for account in _accounts(books, declaration)]
    asked_for = [charge.record for charge in books.charges.values() if charge.account.protects == BUT_ASKED]
    explained = sorted({"(not named)" if record is None else record for record in asked_for})
    return Statement(
        table=declaration.id,
        neighbours=declaration.neighbours,
        unit=declaration.unit,
        accounts=tuple(standings),
        explained=tuple(explained),
        notes=tuple(_unrecorded(books, declaration) + _notes(books, explained)),
    )


def _standing(account: Account, books: Books, declaration: Declaration) -> Standing:
    spent, most = books.spent(account), limit(account, declaration)
    standing = Standing(account=account, spent=spent, limit=most, sentence=_bounds(account, spent))
    if most is None or account.family != "dp":
        return standing
    left = []
    for weaker in covered(account, declaration.models)[1:]:
        bound = limit(weaker, declaration)
        if bound is not None:
            left.append((weaker, max(bound["epsilon"] - books.spent(weaker)["epsilon"], Fraction(0))))
    tightest = min(left, key=lambda each: each[1], default=None)
    here = most["epsilon"] - spent["epsilon"]
    return replace(standing, tightest=tightest) if tightest is not None and tightest[1] < here else standing


def history(events: Iterable[Event], books: Books) -> list[Line]:
    return [Line(event=event, text=_told(event, books)) for event in events]


def _accounts(books: Books, declaration: Declaration) -> list[Account]:
    account = partial(account_of, declaration)
    declared = [account("dp", EVERY_ROW)] if "dp" in declaration.budgets else []
    if "output-constrained-dp" in declaration.budgets:
        declared.append(account("output-constrained-dp", BUT_ASKED))
    declared += [account("sensitive-privacy", SENSITIVE_ROWS, model) for model in declaration.models]
    if "plain-k-anonymity" in declaration.budgets:
        published = replace(
            account("plain-k-anonymity", PlainKAnonymity.protects), neighbours=PlainKAnonymity.neighbours
        )
        declared.append(published)
    return sorted(
        {*declared, *books.totals}, key=lambda each: (_ORDER.index(each.family), len(each.protects), each.model)
    )


_ORDER = ("dp", "output-constrained-dp", "sensitive-privacy", "plain-k-anonymity", "local-dp", "metric-privacy")


def _bounds(account: Account, spent: Mapping[str, Fraction]) -> str:
    """What the number of an account says about everything booked in it."""
    if account.family == "plain-k-anonymity":
        return "Tables published; this number bounds no inference, and several of them can undo each other."
    change = _CHANGED.get(account.neighbours)
    if change is None:
        return (
            f"Compared with {account.neighbours}, what was sent is at most {factor(spent['epsilon'])} times as likely."
        )
    delta = f", plus {shown(spent['delta'])}" if spent["delta"] else ""
    times = f"become more than {factor(spent['epsilon'])} times as likely{delta} when"
    match account.family, account.protects:
        case "dp", protects if protects == EVERY_ROW:
            return f"The dp answers that protect every row cannot together {times} any one row {change}."
        case "dp", _:
            return f"All dp answers cannot together {times} any one row that was never explained {change}."
        case "output-constrained-dp", _:
            return (
                f"All dp and output-constrained answers cannot together {times} any one row that was never explained "
                f"{change}, provided that the condition of every output-constrained answer holds for that change."
            )
        case _:
            return (
                f"All dp answers and those of this model cannot together {times} any one row that this model protects "
                f"and that was never explained {change}."
            )


def _unrecorded(books: Books, declaration: Declaration) -> list[str]:
    if limits_of(declaration) == books.limits:
        return []
    return [
        (
            "The limits above are the declaration's and differ from the recorded ones: nothing can be charged until "
            "`wallflower ledger init DECL` has recorded them."
        )
    ]


def _notes(books: Books, explained: list[str]) -> list[str]:
    notes = []
    if explained:
        notes.append(
            f"No account covers the explained record{'s' if len(explained) > 1 else ''} {', '.join(explained)}: the numbers "
            "above bound what is given away about all other rows."
        )
    conditions = sorted({charge.condition for charge in books.charges.values()} - {"always"})
    if conditions:
        notes.append(f"Conditions that must all hold, for each record explained under them: {'; '.join(conditions)}.")
    waiting = books.unanswered()
    if waiting:
        entries = ", ".join(str(charge.entry) for charge in waiting)
        notes.append(
            f"Charged without an answer (interrupted, or still running), so nothing was shown; the cost stays spent: entry {entries}."
        )
    if books.charges:
        notes.append(_together(books))
    return notes


def _together(books: Books) -> str:
    """What all releases promise at once: no more than the weakest family that was used."""
    families = {account.family for account in books.totals}
    weakest = max(families, key=_ORDER.index)
    if weakest == "plain-k-anonymity":
        return (
            "All releases together promise only what the weakest of them promises: a table was published under "
            "plain-k-anonymity, which bounds no inference, so no number here bounds everything that was released."
        )
    sums = {
        name: sum((total.get(name, Fraction(0)) for total in books.totals.values()), Fraction(0))
        for name in ("epsilon", "delta")
    }
    numbers = ", ".join(f"{name} = {amount}" for name, amount in _shown(sums).items())
    if families == {"dp"}:
        whom = BUT_ASKED if any(account.protects == BUT_ASKED for account in books.totals) else EVERY_ROW
        whom = whom.replace("the asked-for one", "the explained ones")
        return f"All releases together are differentially private with {numbers}, for {whom}."
    return (
        f"All releases together promise only what the weakest family promises (used: {', '.join(sorted(families))}): a "
        f"row that every account above covers, under every condition, loses at most {numbers} in all; no number here "
        "bounds everything that was released for any other row."
    )


def _told(event: Event, books: Books) -> str:
    content = event.content
    if event.kind == "limits":
        limits = [f"[budget.{name}] {_listed(amounts)}" for name, amounts in content["budgets"].items()]
        models = [
            f"[identify.{name}] epsilon {shown(Fraction(model['epsilon']))}"
            for name, model in content["models"].items()
        ]
        return f"limits set: {'; '.join(limits + models) or 'none'}"
    if event.kind == "answer":
        return f"answer to entry {content['charge']} recorded"
    charge = books.charges[event.entry]
    answered = "" if event.entry in books.answers else "; no answer was recorded, so none was shown"
    what = content["query"].get("command", "a question")
    record = "" if charge.record is None else f" about record {charge.record}"
    costs = ", ".join(f"{name} {amount}" for name, amount in _shown(charge.amounts).items())
    return f"{what}{record} charged {costs} to {charge.account} (request {charge.request_id}){answered}"


def _listed(amounts: Mapping[str, str]) -> str:
    named = [name for name in ("epsilon", "delta", "publications") if name in amounts]
    return ", ".join(f"{name} {shown(Fraction(amounts[name]))}" for name in named)


def _shown(amounts: Amounts) -> dict[str, str]:
    return {name: shown(amount) for name, amount in amounts.items() if name != "delta" or amount}
