"""The ρ that (ε, δ) allows, for accounts that add up concentrated losses. The argument is in `concentrated.md`.

Everything here is exact or rounded to the safe side, and the same on every machine: logarithms are enclosed by
`decimal`, which rounds correctly everywhere, and no binary floating point is used.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from wallflower.errors import UsageError

PLACES = 12
"""A limit on ρ is rounded down to this many decimal places."""

_PRECISE = Context(prec=40)
_SEARCH = Context(prec=28)


@lru_cache(maxsize=64)
def largest_rho(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """The largest ρ for which ρ-zCDP is (ε, δ)-DP by one rational order, rounded down, and that order.

    >>> largest_rho(Fraction(4), Fraction(1, 10**6))
    (Fraction(15553247747, 50000000000), Fraction(7006, 977))
    """
    if not 0 < delta < 1 or epsilon <= 0:
        raise UsageError("a concentrated account needs an epsilon above 0 and a delta between 0 and 1.")
    order = _best_order(epsilon, delta)
    return max(rho_by_order(epsilon, delta, order), Fraction(0)), order


def rho_by_order(epsilon: Fraction, delta: Fraction, order: Fraction) -> Fraction:
    """At most the ρ at which ρ-zCDP is still (ε, δ)-DP, by the Rényi divergence of this one order above 1.

    ρ = (ε + (ln δ + ln(α − 1) − α·ln(1 − 1/α))/(α − 1))/α, with every logarithm enclosed from below or above.
    """
    if order <= 1:
        raise UsageError("the order of a Rényi divergence is above 1 here.")
    inner = log_below(delta) + log_below(order - 1) - order * log_above(1 - 1 / order)
    rho = (epsilon + inner / (order - 1)) / order
    return Fraction(math.floor(rho * 10**PLACES), 10**PLACES)


def log_above(number: Fraction) -> Fraction:
    """At least ln(number), by a hair."""
    return _whole_log(number.numerator, above=True) - _whole_log(number.denominator, above=False)


def log_below(number: Fraction) -> Fraction:
    """At most ln(number), by a hair."""
    return _whole_log(number.numerator, above=False) - _whole_log(number.denominator, above=True)


def _whole_log(number: int, *, above: bool) -> Fraction:
    """ln of a whole number of at least 1; `decimal` rounds it correctly, so its neighbours enclose it."""
    if number == 1:
        return Fraction(0)  # exactly; the next number beside 0 would have a million digits
    near = _PRECISE.ln(Decimal(number))
    return Fraction(_PRECISE.next_plus(near) if above else _PRECISE.next_minus(near))


def _best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """An order near the best one; any other would only make the limit smaller.

    The ρ of an order has one peak; its place is found on the logarithm of α − 1 by thirds.
    """
    loss, chance = _decimal(epsilon), _SEARCH.ln(_decimal(delta))
    low, high = Decimal(-12), Decimal(16)
    for _ in range(80):
        third = _SEARCH.divide(high - low, Decimal(3))
        left, right = _SEARCH.add(low, third), _SEARCH.subtract(high, third)
        if _roughly(loss, chance, left) < _roughly(loss, chance, right):
            low = left
        else:
            high = right
    above_one = Fraction(_SEARCH.exp(low))
    return 1 + (above_one.limit_denominator(1000) or Fraction(1, 1000))


def _roughly(epsilon: Decimal, log_delta: Decimal, log_above_one: Decimal) -> Decimal:
    """ρ by the order 1 + e^t, to the precision of the search."""
    more = _SEARCH.exp(log_above_one)
    order = _SEARCH.add(more, Decimal(1))
    left = _SEARCH.multiply(order, _SEARCH.subtract(log_above_one, _SEARCH.ln(order)))
    inner = _SEARCH.divide(log_delta + log_above_one - left, more)
    return _SEARCH.divide(_SEARCH.add(epsilon, inner), order)


def _decimal(number: Fraction) -> Decimal:
    return _SEARCH.divide(Decimal(number.numerator), Decimal(number.denominator))
