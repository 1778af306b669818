"""What a charge must pass, as functions of the journal alone: recorded limits, every account it is booked in, shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from wallflower.errors import LedgerError, UsageError
from wallflower.ledger.journal import Journal, limits_of
from wallflower.ledger.redeclaration import refuse_unfit
from wallflower.privacy.account import Account
from wallflower.privacy.accounts import Booking, bookings, check, kind_of, limited
from wallflower.privacy.guarantee import Guarantee
from wallflower.privacy.limits import Limit, limit_of, shown_amounts
from wallflower.schema.canonical import question
from wallflower.schema.declaration import Budget, Declaration
from wallflower.schema.exact import shown

OWNER = "owner"
"""Who asks where nobody else is named: the owner at the desk."""

LONGEST_ID = 200
LONGEST_NAME = 100
LONGEST_PURPOSE = 300

Shares = Mapping[str, Budget]
"""One asker's second limits, by the code of an account, or by a kind of accounts that models have."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A request for a charge: who asks what, under which promise, and what else limits them."""

    guarantee: Guarantee
    declaration: Declaration
    query: Any
    """A query, or a question already written down."""
    request_id: str | None = None
    asker: str = OWNER
    purpose: str = ""
    shares: Shares | None = None
    """The asker's shares where a service sets them; then the declaration must not."""
    series: bool = False
    """Whether the answer comes in parts, each recorded before it is shown, all under this one charge."""
    holder: object = None
    """Who will answer it: an interrupt may come before a charge that was made has reached them."""
    at: str | None = None
    """The time to write down, where that must not be the moment of the charge: a service's tick."""

    def __post_init__(self) -> None:
        if self.request_id is not None and not _is_line(self.request_id, LONGEST_ID):
            raise UsageError("a request id is 1 to 200 printable characters.", hint="Leave it out to have one made.")
        if not _is_line(self.asker, LONGEST_NAME) or self.asker != self.asker.strip():
            raise UsageError("an asker is a name of 1 to 100 printable characters.")
        if len(self.purpose) > LONGEST_PURPOSE or (self.purpose and not self.purpose.isprintable()):
            raise UsageError(f"a purpose is one line of at most {LONGEST_PURPOSE} printable characters.")
        if self.shares is not None and self.declaration.askers:
            raise UsageError(
                "this asker's shares are set by the service, and the declaration sets limits in [askers] as well.",
                hint="Keep one of the two: nobody could say which holds.",
            )

    def question(self, like: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return dict(self.query) if isinstance(self.query, Mapping) else question(self.query, like=like)

    def is_question(self, written: Mapping[str, Any]) -> bool:
        """Whether this is what was asked then, perhaps written by an earlier version."""
        return self.question(like=written) == written

    @property
    def own_limits(self) -> Shares:
        return self.declaration.askers.get(self.asker, {}) if self.shares is None else self.shares


def _is_line(said: str, longest: int) -> bool:
    return bool(said.strip()) and said.isprintable() and len(said) <= longest


def checked(journal: Journal, ask: Ask, place: str) -> tuple[Booking, ...]:
    """Every booking of a charge, or the refusal of the first account, or share, that cannot take it."""
    declaration = ask.declaration
    now = limits_of(declaration)
    refuse_unfit(journal, declaration, now, place)
    booked = bookings(ask.guarantee, declaration)
    if now != journal.limits:
        name = "DECL" if declaration.path is None else declaration.path.name
        raise LedgerError(
            f"the limits of '{declaration.id}' differ from the ones in {place}.",
            hint=f"Nothing was charged. Run `wallflower ledger init {name}` to record them.",
        )
    own = booked[0].account
    for booking in booked:
        check(
            booking,
            journal.spent(booking.account),
            limited(booking.account, declaration),
            own=own,
            unit=declaration.unit,
        )
    for booking in booked:
        share = share_of(booking.account, ask.own_limits)
        if share is not None:
            spent = journal.spent(booking.account, asker=ask.asker)
            check(
                booking,
                spent,
                share,
                own=own,
                unit=declaration.unit,
                whose=f"the share of '{ask.asker}' in {booking.account.code}",
            )
    of_models = ask.own_limits.get(own.kind) if own.model else None
    # A share of a family whose every model has an account of its own is of all of them together.
    if of_models is not None:
        spent = _by_models(journal.by_asker.get(ask.asker, {}), own.kind)
        whose = f"the share of '{ask.asker}' in {own.kind}"
        check(booked[0], spent, limit_of(of_models), own=own, unit=declaration.unit, whose=whose)
    return booked


def _by_models(totals: Mapping[Account, Mapping[str, Fraction]], kind: str) -> dict[str, Fraction]:
    """What was charged to the models of a kind, in all."""
    found: dict[str, Fraction] = {}
    for account, amounts in totals.items():
        for name, amount in amounts.items() if account.kind == kind else ():
            found[name] = found.get(name, Fraction(0)) + amount
    return found


def share_of(account: Account, shares: Shares) -> Limit | None:
    """An asker's own limit on an account: by its code, or for `dp-others` by the budget that it shares with `dp`."""
    budget = shares.get(account.code, shares.get(kind_of(account).budget))
    return None if budget is None else limit_of(budget)


@dataclass(frozen=True, kw_only=True)
class Debit:
    """One account that a question is booked in, and where it stands with the charge."""

    account: Account
    spent: Mapping[str, Fraction]
    limit: Limit | None

    def to_json(self) -> dict[str, Any]:
        if self.limit is None:
            return {"account": self.account.code, "spent": shown_amounts(self.spent), "left": None}
        named, left = self.limit.named(self.spent), self.limit.left(self.spent)
        return {
            "account": self.account.code,
            "spent": {name: shown(self.spent.get(name, Fraction(0))) for name in named},
            "left": {name: shown(left[name]) for name in named},
        }


def debits(journal: Journal, booked: tuple[Booking, ...], declaration: Declaration) -> tuple[Debit, ...]:
    """Every account that a charge debits, this charge included."""
    found = []
    for booking in booked:
        before = journal.spent(booking.account)
        spent = {name: amount + booking.amounts.get(name, Fraction(0)) for name, amount in before.items()}
        found.append(Debit(account=booking.account, spent=spent, limit=limited(booking.account, declaration)))
    return tuple(found)


def standing(journal: Journal, ask: Ask) -> tuple[Debit, ...]:
    """Where every account of a charge that was made before stands now."""
    return tuple(
        Debit(
            account=booking.account,
            spent=journal.spent(booking.account),
            limit=limited(booking.account, ask.declaration),
        )
        for booking in bookings(ask.guarantee, ask.declaration)
    )


def binding(debited: tuple[Debit, ...]) -> Debit:
    """The debit of the weakest booked account with the promise's own budget: that one holds all of the family."""
    budget = kind_of(debited[0].account).budget
    same = [each for each in debited if kind_of(each.account).budget == budget and not each.account.model]
    return same[-1] if same else debited[0]
