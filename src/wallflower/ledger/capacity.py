"""How many more questions like one still fit: by the scarcest account, and by the asker's own share of each."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from wallflower.ledger.preview import costs
from wallflower.privacy.account import Account
from wallflower.privacy.accounts import kind_of, spent_in
from wallflower.privacy.guarantee import Guarantee
from wallflower.schema.declaration import Declaration


def still_fit(
    guarantee: Guarantee,
    declaration: Declaration,
    standing: Mapping[str, Any],
    *,
    spent: str,
    shares: Mapping[str, Fraction],
) -> int | None:
    """From what the ledger shows of itself, by arithmetic alone; `spent`: whose. None: nothing limits it."""
    accounts = {each["account"]: each for each in standing["accounts"]}
    booked_in = costs(guarantee, declaration)
    found: list[int] = []
    for booked in booked_in:
        account = accounts.get(booked["account"])
        if account is None or not account["limit"]:
            continue
        fits = [
            _times(account["limit"][name], account["spent"].get(name, "0"), cost)
            for name, cost in booked["cost"].items()
            if name in account["limit"] and Fraction(cost) > 0
        ]
        # An account with ρ is empty only when both ε and ρ are.
        found += [max(fits) if "rho" in account["limit"] else min(fits)] if fits else []
    own = {
        Account.of(code): {name: Fraction(amount) for name, amount in amounts.items()}
        for code, amounts in standing["askers"].get(spent, {}).items()
    }
    for place, booked in enumerate(booked_in):
        account, cost = Account.of(booked["account"]), str(booked["cost"].get("epsilon", "0"))
        if Fraction(cost) <= 0:
            continue
        most = shares.get(account.code, shares.get(kind_of(account).budget))
        if most is not None:
            found.append(_times(most, spent_in(account, own)["epsilon"], cost))
        if not place and account.model and account.kind in shares:  # a share of a family is of all its models together
            used = sum((each["epsilon"] for model, each in own.items() if model.kind == account.kind), Fraction(0))
            found.append(_times(shares[account.kind], used, cost))
    return min(found, default=None)


def _times(most: object, spent: object, cost: str) -> int:
    """
    >>> _times("1", "0.25", "0.1")
    7
    """
    left = Fraction(str(most)) - Fraction(str(spent))
    return max(0, int(left / Fraction(cost)))
