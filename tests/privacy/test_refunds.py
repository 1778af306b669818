"""No promise costs less than nothing: a negative amount would pay the budget back."""

from __future__ import annotations

from fractions import Fraction

import pytest

from wallflower.errors import DeclarationError
from wallflower.privacy import guarantees

LESS = Fraction(-1, 10**9)
ROWS = {"neighbours": "add-remove"}
HALF = Fraction(1, 2)
PROMISES = [
    (guarantees.PureDP, {"epsilon": LESS, **ROWS}),
    (guarantees.ApproxDP, {"epsilon": LESS, "delta": HALF, **ROWS}),
    (guarantees.ApproxDP, {"epsilon": HALF, "delta": LESS, **ROWS}),
    (guarantees.OutputConstrainedDP, {"epsilon": LESS, **ROWS}),
    (guarantees.SensitivePrivacy, {"epsilon": LESS, "k": 3, "model": "default", **ROWS}),
    (guarantees.ZCDP, {"rho": LESS, **ROWS}),
    (guarantees.LocalDP, {"epsilon": LESS}),
    (guarantees.MetricPrivacy, {"epsilon": LESS}),
    (guarantees.PlainKAnonymity, {"k": 3, "p": LESS, "d": HALF, "level": "candidate"}),
]


@pytest.mark.parametrize(("family", "fields"), PROMISES, ids=lambda one: getattr(one, "__name__", ""))
def test_no_promise_is_negative(family, fields):
    with pytest.raises(DeclarationError, match=r"at least 0|at least zero|above 0"):
        family(**fields)


def test_every_family_is_here():
    families = {kind for name in guarantees.__all__ if isinstance(kind := getattr(guarantees, name), type)} - {
        guarantees.Guarantee
    }
    assert families == {family for family, _ in PROMISES}
