"""Conversions are never too small, and close to what others compute."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.errors import NotComposable, UsageError
from wallflower.privacy import accountants
from wallflower.privacy.accountants import concentrated, to_approximate, total
from wallflower.privacy.guarantees import BUT_ASKED, ZCDP, ApproxDP, PureDP

RHOS = st.fractions(min_value=0, max_value=50, max_denominator=10**6)
DELTAS = st.one_of(
    st.fractions(min_value="1/1000000", max_value="999999/1000000", max_denominator=10**6),
    st.integers(1, 300).map(lambda power: Fraction(1, 10**power)),
)


def rho(value: str, **other: str) -> ZCDP:
    return ZCDP(rho=Fraction(value), neighbours="add-remove", **other)


@settings(deadline=None)
@given(rho_=RHOS, delta=DELTAS)
def test_the_conversion_is_never_below_the_formula_and_never_far_above(rho_, delta):
    epsilon = to_approximate(ZCDP(rho=rho_, neighbours="add-remove"), delta=delta).epsilon
    with mpmath.workdps(60):
        exact_rho = mpmath.mpf(rho_.numerator) / rho_.denominator
        exact = exact_rho + 2 * mpmath.sqrt(exact_rho * mpmath.log(mpmath.mpf(delta.denominator) / delta.numerator))
        ours = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        assert 0 <= ours - exact <= mpmath.mpf(10) ** -11


def test_a_conversion_rounded_down_would_be_noticed():
    """The test above has power: one unit in the last place less is below the formula."""
    epsilon = to_approximate(rho("0.5"), delta=Fraction("1e-6")).epsilon - Fraction(1, 10**12)
    with mpmath.workdps(60):
        exact = mpmath.mpf("0.5") + 2 * mpmath.sqrt(mpmath.mpf("0.5") * mpmath.log(10**6))
        assert mpmath.mpf(epsilon.numerator) / epsilon.denominator < exact


@pytest.mark.parametrize("value", ["0.001", "0.05", "0.5", "3"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-6", "0.01"])
def test_dp_accounting_agrees_and_is_tighter(value, delta):
    dp_accounting = pytest.importorskip("dp_accounting")
    accountant = dp_accounting.rdp.RdpAccountant()
    accountant.compose(dp_accounting.dp_event.ZCDpEvent(float(value)))
    theirs = accountant.get_epsilon(float(delta))
    plain = to_approximate(rho(value), delta=Fraction(delta)).epsilon
    tighter = to_approximate(rho(value), delta=Fraction(delta), tighter=True).epsilon
    assert theirs <= tighter <= plain
    assert float(tighter) - theirs < 1e-8 * (1 + theirs)
    assert theirs < float(plain) < 3 * theirs + 0.1
    assert type(tighter) is Fraction


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), 1e-6, "1e-6"])
def test_delta_is_an_exact_probability(delta):
    with pytest.raises(UsageError, match="'delta' must be an exact fraction"):
        to_approximate(rho("1"), delta=delta)


def test_the_conversion_keeps_whom_it_protects():
    promise = to_approximate(rho("1", protects=BUT_ASKED, holds_when="it rains"), delta=Fraction("1e-6"))
    assert (promise.protects, promise.holds_when, promise.neighbours) == (BUT_ASKED, "it rains", "add-remove")


def test_sums_are_exact_and_join_conditions():
    tenth = PureDP(epsilon=Fraction("0.1"), neighbours="add-remove")
    wet = PureDP(epsilon=Fraction("0.2"), neighbours="add-remove", holds_when="it rains")
    cold = PureDP(epsilon=Fraction("0.3"), neighbours="add-remove", holds_when="it snows")
    assert total([tenth] * 3).epsilon == Fraction("0.3")
    assert total([tenth, wet, cold, wet]).holds_when == "it rains, and it snows"
    both = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-7"), neighbours="add-remove")
    assert total([both, both]).parameters == {"epsilon": "2", "delta": "0.0000002"}
    assert total([concentrated(tenth)] * 4).rho == Fraction("0.02")


@pytest.mark.parametrize(
    "other",
    [
        PureDP(epsilon=Fraction(1), neighbours="replace-one"),
        PureDP(epsilon=Fraction(1), neighbours="add-remove", protects=BUT_ASKED),
        ZCDP(rho=Fraction(1), neighbours="add-remove"),
    ],
)
def test_different_things_are_not_added(other):
    with pytest.raises(NotComposable, match="bound different things"):
        total([PureDP(epsilon=Fraction(1), neighbours="add-remove"), other])


def test_an_empty_sum_is_refused():
    with pytest.raises(UsageError):
        total([])


@pytest.mark.parametrize("other", [{"protects": BUT_ASKED}, {"unit": "person"}, {"neighbours": "replace-one"}])
def test_promises_about_others_are_not_added(other):
    """The sum would be said of whoever the first of them protects."""
    one = PureDP(epsilon=Fraction(1), neighbours="add-remove")
    for pair in ((one, replace(one, **other)), (replace(one, **other), one)):
        with pytest.raises(NotComposable):
            total(pair)


@settings(deadline=None, max_examples=40)
@given(st.fractions(min_value="1/1000", max_value=10**9).filter(lambda number: number > 1))
def test_every_step_of_a_conversion_is_rounded_up(number):
    """By a hair: the last step rounds to twelve places, and would hide a hair on the wrong side nearly always."""
    with mpmath.workdps(80):
        log = mpmath.log(mpmath.mpf(number.numerator)) - mpmath.log(mpmath.mpf(number.denominator))
        above = accountants._log_above(number)
        assert log < mpmath.mpf(above.numerator) / above.denominator < log + mpmath.mpf(10) ** -35
    root = accountants._root_above(number)
    assert number <= root**2
    assert (root - Fraction(1, 10**20)) ** 2 < number


def test_what_another_package_computes_in_doubles_is_asked_and_taken_on_the_safe_side(monkeypatch):
    dp_accounting = pytest.importorskip("dp_accounting")
    asked, kind = [], dp_accounting.rdp.RdpAccountant
    monkeypatch.setattr(kind, "compose", lambda _self, event: asked.append(event.rho))
    monkeypatch.setattr(kind, "get_epsilon", lambda _self, delta: asked.append(delta) or 1.0)
    rho_, delta = Fraction("0.5"), Fraction(1, 2**20)  # doubles hold both exactly
    assert accountants._by_dp_accounting(rho_, delta) >= 1 + Fraction(2, 10**9)
    assert Fraction(asked[0]) > rho_
    assert Fraction(asked[1]) < delta


def test_a_group_loses_as_many_times_epsilon_and_the_square_of_that_in_rho():
    one = PureDP(epsilon=Fraction(1, 2), rho=Fraction(1, 10), neighbours="add-remove")
    three = one.of_group(3)
    assert (three.epsilon, three.rho) == (Fraction(3, 2), Fraction(9, 10))
    assert replace(one, rho=None).of_group(3).concentrated == Fraction(9, 8)
