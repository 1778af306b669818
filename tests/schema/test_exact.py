"""Exact numbers: what they spell, and what is refused."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from wallflower.errors import UsageError
from wallflower.publish import PlainTable
from wallflower.schema.domains import Dates, Numbers
from wallflower.schema.exact import exact, positive, shown


def test_an_epsilon_that_promises_nothing_is_refused():
    with pytest.raises(UsageError, match="promises nothing"):
        positive("1e20", name="epsilon")
    assert positive("10000", name="epsilon") == 10_000


def test_a_number_of_more_than_forty_places_is_spelt_as_a_quotient():
    """One spelling each: it stands in questions and in prices, and is compared with what a ledger recorded."""
    assert shown(Fraction(3, 10**40)) == "0." + "0" * 39 + "3"
    assert shown(Fraction(3, 10**41)) == f"3/{10**41}"


@pytest.mark.parametrize("spelt", ["1e4_01", "1e-4_01", "1E+9_999_999_999", "1e-9_999_999_999", "1e1_0_0_0", "1e٤_٠١"])
def test_an_exponent_that_would_fill_the_memory_is_refused_however_its_digits_are_grouped(spelt):
    with pytest.raises(UsageError, match="must be a decimal or a fraction"):
        exact(spelt)
    assert exact("1e4_0") == 10**40


@pytest.mark.parametrize(
    "domain",
    [
        Numbers(lower=Fraction(-1), upper=Fraction(2), step=Fraction(1, 2)),
        Dates(lower=date(2024, 2, 27), upper=date(2024, 3, 3)),
    ],
)
def test_a_domain_has_as_many_values_as_can_be_listed(domain):
    assert domain.size == len({domain.text(number) for number in range(domain.first, domain.last + 1)})


def test_weights_that_nobody_gives_are_none_and_those_given_are_exact():
    asked = {"columns": ("job", "salary"), "out": "x.csv", "k": 3, "p": "0.9", "d": "0.5"}
    assert PlainTable(**asked).weights == PlainTable(**asked, weights=None).weights == {}
    assert PlainTable(**asked, weights={"job": "0.1"}).weights == {"job": Fraction(1, 10)}
