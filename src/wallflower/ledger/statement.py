"""What `ledger show` says: where every account stands, what its numbers bound, and for whom they bound nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from wallflower.ledger.journal import Journal, limits_of
from wallflower.privacy.account import CHANGED, Account, Amounts, times_as_likely
from wallflower.privacy.accounts import KINDS, covered, kind_of, limited, named
from wallflower.privacy.dp import DP, OTHERS
from wallflower.privacy.guarantee import factor
from wallflower.privacy.limits import Limit, shown_amounts
from wallflower.privacy.sensitive_privacy import SENSITIVE
from wallflower.schema.declaration import Declaration
from wallflower.schema.display import as_html
from wallflower.schema.exact import shown

LISTED = 100
"""How many records a statement names; of the rest it says how many there are."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One account: its numbers, and the sentence that says what they bound."""

    account: Account
    spent: Amounts
    limit: Limit | None
    sentence: str
    unit: str
    tightest: tuple[Account, Fraction] | None = None
    """The weaker account with the least ε left, and how much, when that is less than what is left here."""

    @property
    def left(self) -> dict[str, Fraction] | None:
        return None if self.limit is None else self.limit.left(self.spent)

    def to_json(self) -> dict[str, Any]:
        limit, left = self.limit, self.left
        return {
            "account": self.account.code,
            "spent": self._named(self.spent),
            "limit": None if limit is None else self._named({**limit.amounts, **_rho(limit)}),
            "left": None if left is None else self._named(left),
            "sentence": self.sentence,
        }

    def _named(self, amounts: Mapping[str, Fraction]) -> dict[str, str]:
        """The amounts that this account counts by; a ρ that nothing limits is kept and not shown."""
        if self.limit is None:
            return {name: text for name, text in shown_amounts(amounts).items() if name != "rho"}
        names = self.limit.named(self.spent)
        return {name: shown(amounts.get(name, Fraction(0))) for name in names}

    def lines(self) -> list[str]:
        title = named(self.account, self.unit)
        if self.limit is None or self.left is None:
            numbers = ", ".join(f"{name} {amount} spent" for name, amount in self._named(self.spent).items())
            return [
                f"{title}: {numbers}; no limit is declared, so nothing more can be charged",
                f"  {self.sentence}",
            ]
        spent, most, left = self.spent, {**self.limit.amounts, **_rho(self.limit)}, self.left
        numbers = ", ".join(
            f"{name} {shown(spent.get(name, Fraction(0)))} of {shown(most[name])} spent, {shown(left[name])} left"
            for name in self.limit.named(self.spent)
        )
        lines = [f"{title}: {numbers}", f"  {self.sentence}"]
        if self.limit.rho is not None:
            lines.append(
                "  A charge is accepted while the sum of epsilon or the sum of rho fits; "
                f"delta {shown(self.limit.conversion)} is kept for that."
            )
        if self.tightest is not None:
            account, epsilon = self.tightest
            lines.append(
                f"  A release here is also booked in {named(account, self.unit)}, where epsilon {shown(epsilon)} is left."
            )
        return lines


def _rho(limit: Limit) -> dict[str, Fraction]:
    return {} if limit.rho is None else {"rho": limit.rho}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Where every account of a table stands."""

    table: str
    neighbours: str
    unit: str
    accounts: tuple[Standing, ...]
    explained: tuple[str, ...]
    """Keys of the records that were explained, at most `LISTED` of them: no account covers them."""
    explained_count: int
    askers: Mapping[str, Mapping[str, Mapping[str, str]]]
    """What each asker has spent, by the account that their own releases were made in."""
    entries: int
    head: str
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "account": self.table,
            "neighbours": self.neighbours,
            "unit": self.unit,
            "accounts": [standing.to_json() for standing in self.accounts],
            "explained": list(self.explained),
            "explained_count": self.explained_count,
            "askers": {asker: dict(spent) for asker, spent in self.askers.items()},
            "entries": self.entries,
            "head": f"sha256:{self.head}",
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        unit = self.unit.partition(":")[0]
        head = f"Table '{self.table}': one {unit} is protected, neighbours are {self.neighbours}."
        accounts = [line for standing in self.accounts for line in ("", *standing.lines())]
        askers = [
            f"{asker}: {', '.join(f'{_pairs(amounts)} in {code}' for code, amounts in spent.items())}"
            for asker, spent in self.askers.items()
        ]
        by_asker = ["", "Spent by asker, in the accounts of their own releases:", *(f"  {line}" for line in askers)]
        return [
            head,
            *accounts,
            *(by_asker if len(self.askers) > 1 else []),
            *(line for note in self.notes for line in ("", note)),
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython calls it so
        printer.text("…" if cycle else str(self))

    def _repr_html_(self) -> str:
        rows = [
            (named(standing.account, standing.unit), f"{_numbers(standing)}. {standing.sentence}")
            for standing in self.accounts
        ]
        notes = [("note", note) for note in self.notes]
        return as_html([*rows, *notes], title=self.lines()[0])


def _numbers(standing: Standing) -> str:
    shown_here = standing.to_json()
    if shown_here["left"] is None:
        return ", ".join(f"{name} {amount} spent, no limit" for name, amount in shown_here["spent"].items())
    return ", ".join(
        f"{name} {shown_here['spent'][name]} of {most} spent, {shown_here['left'][name]} left"
        for name, most in shown_here["limit"].items()
    )


def _pairs(amounts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in amounts.items())


def of(
    journal: Journal, declaration: Declaration, *, explained: tuple[list[str], int], conditions: list[str]
) -> Statement:
    """Where every account stands that is declared or was used."""
    standings = [_standing(account, journal, declaration) for account in _accounts(journal, declaration)]
    return Statement(
        table=declaration.id,
        neighbours=declaration.neighbours,
        unit=str(declaration.unit),
        accounts=tuple(standings),
        explained=tuple(explained[0]),
        explained_count=explained[1],
        askers={
            asker: {
                account.code: {name: text for name, text in shown_amounts(total).items() if name != "rho"}
                for account, total in totals.items()
            }
            for asker, totals in sorted(journal.by_asker.items())
        },
        entries=journal.entry,
        head=journal.head,
        notes=tuple(_unrecorded(journal, declaration) + _notes(journal, declaration, explained, conditions)),
    )


def _standing(account: Account, journal: Journal, declaration: Declaration) -> Standing:
    spent, most = journal.spent(account), limited(account, declaration)
    sentence = _bounds(account, spent, most, declaration)
    standing = Standing(account=account, spent=spent, limit=most, sentence=sentence, unit=declaration.unit)
    if most is None or kind_of(account).budget != DP.budget:
        return standing
    left = []
    for weaker in covered(account, declaration.models)[1:]:
        bound = limited(weaker, declaration)
        if bound is not None and kind_of(weaker).budget != DP.budget:
            left.append((weaker, bound.left(journal.spent(weaker))["epsilon"]))
    tightest = min(left, key=lambda each: each[1], default=None)
    here = most.left(spent)["epsilon"]
    return replace(standing, tightest=tightest) if tightest is not None and tightest[1] < here else standing


def _accounts(journal: Journal, declaration: Declaration) -> list[Account]:
    strongest = {kind.budget: kind.code for kind in sorted(KINDS.values(), key=lambda kind: kind.order, reverse=True)}
    declared = [Account(code) for budget, code in strongest.items() if budget in declaration.budgets]
    declared += [Account(SENSITIVE.code, model) for model in declaration.models]
    return sorted({*declared, *journal.totals}, key=lambda each: (kind_of(each).order, each.model))


def _bounds(account: Account, spent: Mapping[str, Fraction], most: Limit | None, declaration: Declaration) -> str:
    """What the number of an account says about everything booked in it."""
    epsilon, delta = spent.get("epsilon", Fraction(0)), spent.get("delta", Fraction(0))
    if most is not None and _holds_beyond_sums(most, spent):
        epsilon, delta = _whole(most)
    plus = f", plus {shown(delta)}" if delta else ""
    change = CHANGED.get(declaration.neighbours, "changes")
    return kind_of(account).bounds(times_as_likely(factor(epsilon), plus), str(declaration.unit), change)


def _holds_beyond_sums(most: Limit, spent: Mapping[str, Fraction]) -> bool:
    """Whether ε adds up to more than the limit, and the limit is proved all the same: ρ and δ are within it.

    No smaller number that follows the answers is proved then. A limit that was lowered, or first declared, below what had been spent
    before bounds none of that: there the sums do.
    """
    return most.rho is not None and spent["epsilon"] > most.amounts["epsilon"] and most.refuses(spent) is None


def _whole(most: Limit) -> tuple[Fraction, Fraction]:
    """The ε and δ that a limit promises, what turning ρ into ε costs included."""
    return most.amounts["epsilon"], most.amounts["delta"] + most.conversion


def _unrecorded(journal: Journal, declaration: Declaration) -> list[str]:
    if limits_of(declaration) == journal.limits:
        return []
    return [
        (
            "The limits above are the declaration's and differ from the recorded ones: nothing can be charged until "
            "`wallflower ledger init DECL` has recorded them."
        )
    ]


def _notes(
    journal: Journal, declaration: Declaration, explained: tuple[list[str], int], conditions: list[str]
) -> list[str]:
    notes = []
    records, count = explained
    if records:
        more = f" and {count - len(records)} more" if count > len(records) else ""
        notes.append(
            f"No account covers the explained record{'s' if count > 1 else ''} {', '.join(records)}{more}: the numbers "
            f"above bound what is given away about all other {'rows' if declaration.unit == 'row' else 'people'}."
        )
    if conditions:
        notes.append(f"Conditions that must all hold, for each record explained under them: {'; '.join(conditions)}.")
    waiting = journal.charges - journal.replies
    if waiting:
        listed = journal.waiting[-waiting:]
        more = f" and {waiting - len(listed)} earlier" if waiting > len(listed) else ""
        entries = ", ".join(map(str, listed))
        notes.append(
            "Charged without an answer (interrupted, or still running), so nothing was shown; the cost stays spent: "
            f"entry {entries}{more}."
        )
    if journal.charges:
        notes.append(_together(journal, declaration))
    return notes


def _together(journal: Journal, declaration: Declaration) -> str:
    """What all releases promise at once: no more than the weakest family that was used."""
    kinds = sorted({account.kind for account in journal.totals}, key=lambda code: KINDS[code].order)
    reasons = [KINDS[code].no_sum for code in kinds if KINDS[code].no_sum]
    if reasons:
        return (
            f"All releases together promise only what the weakest of them promises: {'; '.join(reasons)}, so no number here "
            "bounds everything that was released."
        )
    sums = {
        name: sum((total.get(name, Fraction(0)) for total in journal.totals.values()), Fraction(0))
        for name in ("epsilon", "delta")
    }
    numbers = ", ".join(f"{name} = {amount}" for name, amount in shown_amounts(sums).items())
    unit = declaration.unit
    if set(kinds) <= {DP.code, OTHERS.code}:
        whom = f"every {unit} but the explained ones" if OTHERS.code in kinds else f"every {unit}"
        most = limited(Account(DP.code), declaration)
        within = ""
        if most is not None and _holds_beyond_sums(most, journal.spent(Account(OTHERS.code))):
            epsilon, delta = _whole(most)
            numbers = f"epsilon = {shown(epsilon)}, delta = {shown(delta)}"
            within = " (the limit, which concentrated accounting keeps)"
        return f"All releases together are differentially private with {numbers}{within}, for {whom}."
    families = sorted({SENSITIVE.code if code == SENSITIVE.code else KINDS[code].budget for code in kinds})
    return (
        f"All releases together promise only what the weakest family promises (used: {', '.join(families)}): a "
        f"{unit} that every account above covers, under every condition, loses at most {numbers} in all; no number here "
        f"bounds everything that was released for any other {unit}."
    )
