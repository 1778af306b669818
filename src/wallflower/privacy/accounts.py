"""Which accounts a promise is booked in, how much, and what limits each account. The argument is in `accounts.md`.

A promise is booked in its own account and in every weaker one that it covers, so that the number of an account bounds
everything released that its own notion of privacy can bound:

    dp, every row ──> dp, every row but the asked-for one ──> output-constrained-dp
          └──────────────────────┴──> sensitive-privacy of every declared model

`plain-k-anonymity` counts publications and adds to nothing; `local-dp` and `metric-privacy` belong to streams and stay
in accounts of their own. zCDP has no account: it is converted inside the query that uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from wallflower.errors import BudgetError, NotComposable, nearest_name
from wallflower.privacy.guarantees import BUT_ASKED, EVERY_ROW, SENSITIVE_ROWS, Guarantee
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown

Amounts = Mapping[str, Fraction]

ACCOUNTS: Mapping[str, tuple[str, ...] | None] = {
    "dp": (EVERY_ROW, BUT_ASKED),
    "output-constrained-dp": (BUT_ASKED,),
    "sensitive-privacy": (SENSITIVE_ROWS,),
    "plain-k-anonymity": None,
    "local-dp": None,
    "metric-privacy": None,
}
"""The families that have accounts, and whom each may protect; None: whatever the promise says, nothing else covers it."""

COVERS: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("dp", EVERY_ROW): (("dp", BUT_ASKED), ("output-constrained-dp", BUT_ASKED)),
    ("dp", BUT_ASKED): (("output-constrained-dp", BUT_ASKED),),
}
"""The weaker accounts that a promise is also booked in, transitively closed. The keys cover every model as well."""

BETWEEN_TABLES = frozenset({"dp", "output-constrained-dp", "sensitive-privacy"})
"""Families that compare neighbouring tables: their promises must share the ledger's `neighbours`."""

UNCONDITIONAL = frozenset({"dp", "sensitive-privacy"})
"""Families whose accounts say what they bound without a condition, so no promise with one may be booked there."""


@dataclass(frozen=True, kw_only=True, order=True)
class Account:
    """What is added up together: amounts of two different accounts bound different things."""

    table: str
    family: str
    neighbours: str
    unit: str
    protects: str
    model: str = ""
    """The declared anomaly model, for sensitive-privacy; each has an account of its own."""

    @property
    def where(self) -> str:
        """The part of the declaration that holds the limit."""
        return f"[identify.{self.model}]" if self.model else f"[budget.{self.family}]"

    def __str__(self) -> str:
        if self.model:
            return f"{self.family}, model '{self.model}'"
        return f"{self.family}, {self.protects}" if self.family in BETWEEN_TABLES else self.family


def account_of(declaration: Declaration, family: str, protects: str, model: str = "") -> Account:
    """The account of a declared table for this family and these rows."""
    return Account(
        table=declaration.id,
        family=family,
        neighbours=declaration.neighbours,
        unit=declaration.unit,
        protects=protects,
        model=model,
    )


@dataclass(frozen=True, kw_only=True)
class Booking:
    account: Account
    amounts: Amounts
    """Exact: {"epsilon", "delta"}, or {"publications"}."""


def own_booking(table: str, promise: Mapping[str, Any]) -> Booking:
    """The booking of a promise, given as `Guarantee.to_json()`, in its own account."""
    family, parameters = promise["family"], promise["parameters"]
    if family == "zcdp":
        raise NotComposable(
            "a zCDP promise is not charged as it is: its rho has no limit in a ledger.",
            hint="Convert it inside the query with privacy.accountants.to_approximate and charge that.",
        )
    if family not in ACCOUNTS:
        raise NotComposable(f"no account adds up '{family}' promises.", hint=nearest_name(family, ACCOUNTS))
    allowed = ACCOUNTS[family]
    if allowed is not None and promise["protects"] not in allowed:
        raise NotComposable(
            f"no {family} account protects '{promise['protects']}'.", hint=f"Known here: {'; '.join(allowed)}."
        )
    if family in UNCONDITIONAL and promise["holds_when"] != "always":
        raise NotComposable(
            f"this {family} promise holds only when {promise['holds_when']}, and {family} accounts hold always.",
            hint="State it as a promise of a family whose accounts carry conditions, such as output-constrained-dp.",
        )
    account = Account(
        table=table,
        family=family,
        neighbours=promise["neighbours"],
        unit=promise["unit"],
        protects=promise["protects"],
        model=parameters.get("model", ""),
    )
    if family == "plain-k-anonymity":
        return Booking(account=account, amounts={"publications": Fraction(1)})
    amounts = {"epsilon": Fraction(parameters["epsilon"]), "delta": Fraction(parameters.get("delta", "0"))}
    return Booking(account=account, amounts=amounts)


def covered(account: Account, models: Iterable[str]) -> tuple[Account, ...]:
    """`account` and every weaker one: whatever is spent in it is spent in each of these."""

    def weaker(family: str, protects: str, model: str = "") -> Account:
        return Account(
            table=account.table,
            family=family,
            neighbours=account.neighbours,
            unit=account.unit,
            protects=protects,
            model=model,
        )

    kind = (account.family, account.protects)
    if kind not in COVERS:
        return (account,)
    plain = tuple(weaker(family, protects) for family, protects in COVERS[kind])
    return (account, *plain, *(weaker("sensitive-privacy", SENSITIVE_ROWS, model) for model in models))


def bookings(guarantee: Guarantee, declaration: Declaration) -> tuple[Booking, ...]:
    """Every account that a promise is booked in, its own first, and how much; refused where it cannot be added."""
    own = own_booking(declaration.id, guarantee.to_json())
    _refuse_other_adjacency(own.account, declaration)
    _refuse_undeclared(own.account, guarantee, declaration)
    accounts = covered(own.account, declaration.models)
    return tuple(Booking(account=account, amounts=own.amounts) for account in accounts)


def limit(account: Account, declaration: Declaration) -> Amounts | None:
    """The most that `account` may hold; None when its family, or its model, is not declared."""
    if account.family == "sensitive-privacy":
        model = declaration.models.get(account.model)
        return None if model is None else {"epsilon": model.epsilon, "delta": Fraction(0)}
    budget = declaration.budgets.get(account.family)
    if budget is None:
        return None
    if account.family == "plain-k-anonymity":
        return None if budget.publications is None else {"publications": Fraction(budget.publications)}
    return None if budget.epsilon is None else {"epsilon": budget.epsilon, "delta": budget.delta}


def check(booking: Booking, spent: Amounts, declaration: Declaration, *, own: Account) -> None:
    """Refuse a booking that would take its account over its limit; `own` is the account the promise was made in."""
    most = limit(booking.account, declaration)
    if most is None:
        return  # nobody has promised this notion a bound; what is spent is recorded and counts if it is declared later
    account, delta = booking.account, booking.amounts.get("delta", Fraction(0))
    why = "" if account == own else f" A release in {own} is booked there as well, because its promise covers that one."
    if delta > 0 and most["delta"] == 0:
        message = f"this release has delta = {shown(delta)}, and {account.where} promises without any delta.{why}"
        if account == own:
            raise BudgetError(message, hint=f'Write delta = "1e-6", or what you can accept, in {account.where}.')
        raise NotComposable(message, hint=_without_delta(account))
    for name, limit_ in most.items():
        before, more = spent.get(name, Fraction(0)), booking.amounts.get(name, Fraction(0))
        if before + more > limit_:
            left = shown(max(limit_ - before, Fraction(0)))
            raise BudgetError(
                f"this release costs {name} = {shown(more)}, and {left} of {shown(limit_)} is left in {account.where} "
                f"of '{account.table}'.{why}",
                hint=_smaller(account),
            )


def _smaller(account: Account) -> str:
    raised = f"the owner may raise the limit in {account.where} and run `wallflower ledger init DECL`"
    if account.family == "plain-k-anonymity":
        return f"Two publications of the same rows can undo each other; {raised} to accept that."
    return f"Ask with a smaller epsilon, or {raised}."


def _without_delta(account: Account) -> str:
    if account.model:
        return f"Choose a mechanism without delta, or remove {account.where} from the declaration."
    return f"Choose a mechanism without delta, or declare a delta in {account.where}."


def _refuse_other_adjacency(account: Account, declaration: Declaration) -> None:
    if account.unit != declaration.unit:
        raise NotComposable(
            f"this promise is about one {account.unit}, and the ledger of '{declaration.id}' adds up promises about one "
            f"{declaration.unit}: a sum of the two would bound neither.",
            hint="Keep it in a ledger of its own.",
        )
    if account.family in BETWEEN_TABLES and account.neighbours != declaration.neighbours:
        raise NotComposable(
            f"this promise is for '{account.neighbours}' neighbours, and the ledger of '{declaration.id}' adds up "
            f"promises for '{declaration.neighbours}': the same epsilon means different things there.",
            hint=f"Price the query for '{declaration.neighbours}'.",
        )


def _refuse_undeclared(account: Account, guarantee: Guarantee, declaration: Declaration) -> None:
    if limit(account, declaration) is None:
        if account.model or account.family == "sensitive-privacy":
            raise BudgetError(
                f"model '{account.model}' is not declared, so nothing limits what its answers give away.",
                hint=f"Add {account.where} to the declaration. {nearest_name(account.model, declaration.models)}",
            )
        missing = "publications = 1" if account.family == "plain-k-anonymity" else 'epsilon = "1"'
        raise BudgetError(
            f"table '{declaration.id}' has no budget for {account.family}.",
            hint=f"Add {account.where} with a limit such as {missing} to the declaration, "
            "then run `wallflower ledger init DECL`.",
        )
    k = guarantee.parameters.get("k")
    if account.model and k != str(declaration.models[account.model].k):
        raise NotComposable(
            f"this promise has k = {k}, and {account.where} is an account for k = {declaration.models[account.model].k}.",
            hint="Ask with the declared k, or declare a second model.",
        )
