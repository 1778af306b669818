"""How many more questions like one still fit: by the scarcest account, and by the asker's own share."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from wallflower.ledger.preview import costs
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
    found: list[int] = []
    for booked in costs(guarantee, declaration):
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
    epsilon = guarantee.parameters.get("epsilon")
    for family, most in shares.items():
        if epsilon is not None and family == guarantee.family and Fraction(str(epsilon)) > 0:
            own = standing["askers"].get(spent, {})
            used = sum(
                (
                    Fraction(amounts.get("epsilon", "0"))
                    for code, amounts in own.items()
                    if code.partition("/")[0] == family
                ),
                Fraction(0),
            )
            found.append(_times(most, used, str(epsilon)))
    return min(found, default=None)


def _times(most: object, spent: object, cost: str) -> int:
    """
    >>> _times("1", "0.25", "0.1")
    7
    """
    left = Fraction(str(most)) - Fraction(str(spent))
    return max(0, int(left / Fraction(cost)))
