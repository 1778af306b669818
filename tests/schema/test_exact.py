"""Exact numbers: what they spell, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from wallflower.errors import UsageError
from wallflower.schema.exact import positive, shown


def test_an_epsilon_that_promises_nothing_is_refused():
    with pytest.raises(UsageError, match="promises nothing"):
        positive("1e20", name="epsilon")
    assert positive("10000", name="epsilon") == 10_000


def test_a_number_of_more_than_forty_places_is_spelt_as_a_quotient():
    """One spelling each: it stands in questions and in prices, and is compared with what a ledger recorded."""
    assert shown(Fraction(3, 10**40)) == "0." + "0" * 39 + "3"
    assert shown(Fraction(3, 10**41)) == f"3/{10**41}"
