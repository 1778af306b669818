"""What limits an account: a sum of ε and δ, a number of publications, or, by the owner's choice, a sum of ρ beside ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from wallflower.privacy.account import Account, Amounts
from wallflower.privacy.concentrated import largest_rho
from wallflower.schema.declaration import Budget, Declaration
from wallflower.schema.exact import shown

ZERO = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Limit:
    """The most that an account may hold.

    With `rho`, an account may pass its ε as long as Σρ stays within it: everything together is then still
    (ε, δ + conversion)-DP (`concentrated.md`).
    """

    amounts: Amounts
    """Exact: {"epsilon", "delta"}, or {"publications"}; δ is what releases that have one may add up to."""
    rho: Fraction | None = None
    order: Fraction | None = None
    """The order of the Rényi divergence by which `rho` was found."""
    conversion: Fraction = ZERO
    """The δ that turning ρ back into ε costs, kept apart from the δ of releases."""

    def refuses(self, total: Amounts) -> str | None:
        """The first amount that `total`, the new charge included, takes over the limit; None where it fits."""
        for name, most in self.amounts.items():
            if total.get(name, ZERO) > most and not (name == "epsilon" and self._fits_rho(total)):
                return name
        return None

    def _fits_rho(self, total: Amounts) -> bool:
        return self.rho is not None and total.get("rho", ZERO) <= self.rho

    def left(self, spent: Amounts) -> dict[str, Fraction]:
        """What each number still allows; an account with `rho` is empty only when both ε and ρ are."""
        numbers = dict(self.amounts) | ({} if self.rho is None else {"rho": self.rho})
        return {name: max(most - spent.get(name, ZERO), ZERO) for name, most in numbers.items()}

    def named(self, spent: Amounts) -> list[str]:
        """The amounts worth showing: δ only where there is one."""
        names = [*self.amounts, *(["rho"] if self.rho is not None else [])]
        return [name for name in names if name != "delta" or self.amounts[name] or spent.get(name)]


def limit_of(budget: Budget) -> Limit | None:
    """What a [budget.FAMILY] allows; None when it names no limit."""
    if budget.publications is not None:
        return Limit(amounts={"publications": Fraction(budget.publications)})
    if budget.epsilon is None:
        return None
    if budget.accounting != "zcdp":
        return Limit(amounts={"epsilon": budget.epsilon, "delta": budget.delta})
    conversion = budget.delta / 2  # fixed beforehand: a split that followed the answers would not be proved
    rho, order = largest_rho(budget.epsilon, conversion)
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta - conversion}
    return Limit(amounts=amounts, rho=rho, order=order, conversion=conversion)


def limit(account: Account, declaration: Declaration, *, budget: str) -> Limit | None:
    """The most that `account` may hold; None when its family, or its model, is not declared."""
    if account.model:
        model = declaration.models.get(account.model)
        return None if model is None else Limit(amounts={"epsilon": model.epsilon, "delta": ZERO})
    written = declaration.budgets.get(budget)
    return None if written is None else limit_of(written)


def written_limit(budget: Budget) -> dict[str, str]:
    """A budget as a ledger's event keeps it."""
    found = limit_of(budget)
    if found is None:
        return {}
    for amount in (budget.epsilon, budget.delta, budget.publications):
        refuse_float(amount)
    kept = {name: shown(amount) for name, amount in found.amounts.items() if name != "delta" or amount}
    if found.rho is not None and found.order is not None:
        kept |= {
            "accounting": "zcdp",
            "conversion_delta": shown(found.conversion),
            "rho": shown(found.rho),
            "order": shown(found.order),
        }
    return kept


def shown_amounts(amounts: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: shown(amount) for name, amount in amounts.items() if name not in {"delta", "rho"} or amount}


def refuse_float(amount: object) -> None:
    if amount is not None and not isinstance(amount, int | Fraction):
        message = f"a limit or a model is written in exact numbers, not as a {type(amount).__name__}"
        raise TypeError(message)
