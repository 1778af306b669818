"""What a question would cost and leave, account by account, said before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from wallflower.errors import BudgetError, LedgerError
from wallflower.ledger.admission import OWNER, Debit, Shares
from wallflower.ledger.book import Ledger
from wallflower.ledger.hidden_charges import Unseen
from wallflower.privacy.accounts import bookings, limited, named
from wallflower.privacy.guarantee import Guarantee
from wallflower.privacy.limits import shown_amounts
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown


@dataclass(frozen=True, kw_only=True)
class Preview:
    """Every account that a question would debit, with it included; or why it would be refused."""

    debited: tuple[Debit, ...]
    unit: str = "row"
    notes: tuple[str, ...] = ()

    def to_json(self) -> list[dict[str, Any]]:
        return [debit.to_json() for debit in self.debited]

    def lines(self) -> list[str]:
        found = []
        for debit in self.debited:
            if debit.limit is None:
                found.append(f"{named(debit.account, self.unit)}: counted, and not limited")
                continue
            left, most = debit.limit.left(debit.spent), {**debit.limit.amounts}
            if debit.limit.rho is not None:
                most["rho"] = debit.limit.rho
            names = debit.limit.named(debit.spent)
            numbers = ", ".join(f"{name} {shown(left[name])} of {shown(most[name])} left" for name in names)
            found.append(f"{named(debit.account, self.unit)}: {numbers}")
        return found


def costs(guarantee: Guarantee, declaration: Declaration) -> tuple[dict[str, Any], ...]:
    """Every account that a promise would be booked in and its cost there; none where it cannot be booked."""
    try:
        booked = bookings(guarantee, declaration)
    except BudgetError:
        return ()
    found = []
    for booking in booked:
        most = limited(booking.account, declaration)
        amounts = {name: amount for name, amount in booking.amounts.items() if name != "rho" or (most and most.rho)}
        found.append({"account": booking.account.code, "cost": shown_amounts(amounts)})
    return tuple(found)


def preview(
    declaration: Declaration,
    guarantee: Guarantee,
    query: Any,
    *,
    asker: str = OWNER,
    shares: Shares | None = None,
    unseen: Unseen | None = None,
) -> Preview:
    """What `query` would leave in every account, from the ledger as it is now, or as it may be seen now."""
    try:
        ledger = Ledger.open(declaration, unseen=unseen)
        debited = ledger.preview(guarantee, declaration=declaration, query=query, asker=asker, shares=shares)
    except (BudgetError, LedgerError) as error:
        return Preview(debited=(), notes=(f"It would be refused now: {error}",))
    return Preview(debited=debited, unit=declaration.unit, notes=_binds(debited, guarantee))


def _binds(debited: tuple[Debit, ...], guarantee: Guarantee) -> tuple[str, ...]:
    """Say so where an account that adds up epsilons would run out before the concentrated one of the promise does."""
    own = debited[0].limit
    epsilon, rho = guarantee.amounts.get("epsilon"), guarantee.amounts.get("rho")
    if own is None or own.rho is None or not epsilon or not rho:
        return ()
    left = own.left(debited[0].spent)
    more = max(left["rho"] / rho, left["epsilon"] / epsilon)
    for debit in debited[1:]:
        if debit.limit is None or debit.limit.rho is not None or "epsilon" not in debit.limit.amounts:
            continue
        fits: Fraction = debit.limit.left(debit.spent)["epsilon"] / epsilon
        if int(fits) < int(more):
            note = (
                f"{named(debit.account, guarantee.unit)} adds up epsilons, and is empty after {int(fits)} more such releases; "
                f"{named(debited[0].account, guarantee.unit)} would take {int(more)}."
            )
            return (note,)
    return ()
