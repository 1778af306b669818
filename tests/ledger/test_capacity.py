"""How many more questions fit is how many are taken."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.declared import declare, model
from wallflower.errors import BudgetError
from wallflower.ledger import Ledger
from wallflower.ledger.capacity import still_fit
from wallflower.privacy.guarantees import BUT_ASKED, OutputConstrainedDP, PureDP, SensitivePrivacy
from wallflower.schema.declaration import Budget

COUNT = PureDP(epsilon=Fraction("0.1"), neighbours="add-remove")
FULL = PureDP(epsilon=Fraction("0.3"), neighbours="add-remove", protects=BUT_ASKED)
EXPLAIN = OutputConstrainedDP(epsilon=Fraction("0.2"), neighbours="add-remove")
IDENTIFY = SensitivePrivacy(epsilon=Fraction("0.1"), k=3, model="default", neighbours="add-remove")
OTHER = SensitivePrivacy(epsilon=Fraction("0.4"), k=3, model="other", neighbours="add-remove")


@pytest.mark.parametrize(
    ("before", "asked", "shares", "fits"),
    [
        ((), COUNT, {"dp": "1"}, 10),
        ((FULL,), COUNT, {"dp": "1"}, 7),  # one share is of both dp accounts
        ((COUNT,), COUNT, {"dp": "9", "output-constrained-dp": "0.5"}, 4),  # a count is booked there as well
        ((COUNT, FULL), EXPLAIN, {"output-constrained-dp": "1"}, 3),
        ((OTHER,), IDENTIFY, {"sensitive-privacy": "1"}, 6),
        ((COUNT,), IDENTIFY, {}, 29),
    ],
)
def test_as_many_more_fit_as_are_taken(tmp_path, before, asked, shares, fits):
    declared = declare(tmp_path, models={"default": model(), "other": model("other")})
    Ledger.init(declared)
    ledger, limits = Ledger.open(declared), {family: Fraction(most) for family, most in shares.items()}
    named = {
        "declaration": declared,
        "query": {"command": "any", "record": "8"},
        "asker": "lab",
        "shares": {family: Budget(epsilon=most) for family, most in limits.items()} or None,
    }
    for promise in before:
        ledger.charge(promise, **named)
    standing = ledger.show(declared).to_json()
    assert still_fit(asked, declared, standing, spent="lab", shares=limits) == fits
    for _ in range(fits):
        ledger.charge(asked, **named)
    with pytest.raises(BudgetError):
        ledger.charge(asked, **named)
