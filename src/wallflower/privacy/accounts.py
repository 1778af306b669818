"""Which accounts a promise is booked in, how much, and what an account refuses. The argument is in `accounts.md`.

A promise is booked in its own account and in every weaker one that it covers, so that the number of an account bounds
everything released that its own notion of privacy can bound:

    dp, every row ──> dp, every row but the asked-for one ──> output-constrained-dp
          └──────────────────────┴──> sensitive-privacy of every declared model

`plain-k-anonymity` counts publications and adds to nothing; `local-dp` and `metric-privacy` belong to streams and stay
in accounts of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from wallflower.errors import BudgetError, NotComposable, nearest_name
from wallflower.privacy.account import Account, Amounts, Kind
from wallflower.privacy.dp import DP, OTHERS
from wallflower.privacy.guarantee import Guarantee, worded
from wallflower.privacy.limits import Limit, limit
from wallflower.privacy.local_dp import LOCAL
from wallflower.privacy.metric_privacy import METRIC
from wallflower.privacy.output_constrained_dp import OUTPUT_CONSTRAINED_DP
from wallflower.privacy.plain_k_anonymity import PLAIN
from wallflower.privacy.sensitive_privacy import SENSITIVE
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown

KINDS: Mapping[str, Kind] = {
    kind.code: kind for kind in (DP, OTHERS, OUTPUT_CONSTRAINED_DP, SENSITIVE, PLAIN, LOCAL, METRIC)
}
"""Every kind of account by its code."""


@dataclass(frozen=True, kw_only=True)
class Booking:
    account: Account
    amounts: Amounts
    """Exact: {"epsilon", "delta", "rho"}, or {"publications"}."""


def kind_of(account: Account) -> Kind:
    if account.kind not in KINDS:
        raise NotComposable(f"no account adds up '{account.kind}' promises.", hint=nearest_name(account.kind, KINDS))
    return KINDS[account.kind]


def named(account: Account, unit: str) -> str:
    """The account in words: what it adds up is about rows, or about people."""
    words = worded(kind_of(account).words, unit)
    return f"{words}, model '{account.model}'" if account.model else words


def where(account: Account) -> str:
    """The part of the declaration that holds its limit."""
    return f"[identify.{account.model}]" if account.model else f"[budget.{kind_of(account).budget}]"


def covered(account: Account, models: Iterable[str]) -> tuple[Account, ...]:
    """`account` and every weaker one: whatever is spent in it is spent in each of these."""
    weaker: list[Account] = [account]
    for code in kind_of(account).covers:
        if code == SENSITIVE.code:
            weaker += [Account(code, model) for model in models]
        else:
            weaker.append(Account(code))
    return tuple(weaker)


def spent_in(account: Account, totals: Mapping[Account, Amounts]) -> dict[str, Fraction]:
    """Everything booked in `account`: its own charges and those of every stronger one. `totals` is by own account alone."""
    models = [account.model] if account.model else []
    spent = dict.fromkeys(kind_of(account).adds, Fraction(0))
    for own, total in totals.items():
        if account in covered(own, models):
            for name, amount in total.items():
                spent[name] += amount
    return spent


def bookings(guarantee: Guarantee, declaration: Declaration) -> tuple[Booking, ...]:
    """Every account that a promise is booked in, its own first, and how much; refused where it cannot be added."""
    own = guarantee.account
    _refuse_conditional(own, guarantee)
    _refuse_other_adjacency(own, guarantee, declaration)
    _refuse_undeclared(own, guarantee, declaration)
    amounts = guarantee.amounts
    return tuple(Booking(account=account, amounts=amounts) for account in covered(own, declaration.models))


def limited(account: Account, declaration: Declaration) -> Limit | None:
    return limit(account, declaration, budget=kind_of(account).budget)


def check(booking: Booking, spent: Amounts, most: Limit | None, *, own: Account, unit: str, whose: str = "") -> None:
    """Refuse a booking that would take its account over its limit; `own` is the account the promise was made in.

    `whose`: an asker's share of the account, in words; empty for the account itself.
    """
    if most is None:
        return  # nobody has promised this notion a bound; what is spent is recorded and counts if it is declared later
    account, place = booking.account, whose or where(booking.account)
    why = (
        ""
        if account == own
        else f" A release in {named(own, unit)} is booked there as well, because its promise covers that one."
    )
    delta = booking.amounts.get("delta", Fraction(0))
    if delta > 0 and most.amounts["delta"] == 0:
        message = f"this release has delta = {shown(delta)}, and {place} promises without any delta.{why}"
        if account == own:
            raise BudgetError(message, hint=f'Write delta = "1e-6", or what you can accept, in {place}.')
        raise NotComposable(message, hint=_without_delta(account, place))
    total = {name: spent.get(name, Fraction(0)) + more for name, more in booking.amounts.items()}
    name = most.refuses(total)
    if name is None:
        return
    more, limit_ = booking.amounts[name], most.amounts[name]
    left = shown(most.left(spent)[name])
    both = ""
    if name == "epsilon" and most.rho is not None:
        rho = shown(most.left(spent)["rho"])
        both = f"; its rho of {shown(booking.amounts['rho'])} does not fit either, with {rho} of {shown(most.rho)} left"
    raise BudgetError(
        f"this release costs {name} = {shown(more)}, and {left} of {shown(limit_)} is left in {place}{both}.{why}",
        hint=_smaller(account, place),
    )


def _smaller(account: Account, place: str) -> str:
    raised = f"the owner may raise the limit in {place} and run `wallflower ledger init DECL`"
    if kind_of(account).counts_publications:
        return f"Two publications of the same rows can undo each other; {raised} to accept that."
    return f"Ask with a smaller epsilon, or {raised}."


def _without_delta(account: Account, place: str) -> str:
    if account.model:
        return f"Choose a mechanism without delta, or remove {place} from the declaration."
    return f"Choose a mechanism without delta, or declare a delta in {place}."


def _refuse_conditional(account: Account, guarantee: Guarantee) -> None:
    if not kind_of(account).conditional and guarantee.holds_when != "always":
        raise NotComposable(
            f"this {guarantee.family} promise holds only when {guarantee.holds_when}, and {guarantee.family} accounts "
            "hold always.",
            hint="State it as a promise of a family whose accounts carry conditions, such as output-constrained-dp.",
        )


def _refuse_other_adjacency(account: Account, guarantee: Guarantee, declaration: Declaration) -> None:
    if guarantee.unit != declaration.unit and not kind_of(account).counts_publications:
        raise NotComposable(
            f"this promise is about one {guarantee.unit}, and the ledger of '{declaration.id}' adds up promises about one "
            f"{declaration.unit}: a sum of the two would bound neither.",
            hint="Keep it in a ledger of its own.",
        )
    if kind_of(account).between_tables and guarantee.neighbours != declaration.neighbours:
        raise NotComposable(
            f"this promise is for '{guarantee.neighbours}' neighbours, and the ledger of '{declaration.id}' adds up "
            f"promises for '{declaration.neighbours}': the same epsilon means different things there.",
            hint=f"Price the query for '{declaration.neighbours}'.",
        )


def _refuse_undeclared(account: Account, guarantee: Guarantee, declaration: Declaration) -> None:
    if limited(account, declaration) is None:
        if account.model or account.kind == SENSITIVE.code:
            raise BudgetError(
                f"model '{account.model}' is not declared, so nothing limits what its answers give away.",
                hint=f"Add {where(account)} to the declaration. {nearest_name(account.model, declaration.models)}",
            )
        missing = "publications = 1" if kind_of(account).counts_publications else 'epsilon = "1"'
        raise BudgetError(
            f"table '{declaration.id}' has no budget for {kind_of(account).budget}.",
            hint=f"Add {where(account)} with a limit such as {missing} to the declaration, "
            "then run `wallflower ledger init DECL`.",
        )
    k = guarantee.parameters.get("k")
    if account.model and k != str(declaration.models[account.model].k):
        raise NotComposable(
            f"this promise has k = {k}, and {where(account)} is an account for k = {declaration.models[account.model].k}.",
            hint="Ask with the declared k, or declare a second model.",
        )
