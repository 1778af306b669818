"""How promises made inside one query add up to the one that is charged. Results are exact or rounded up, never down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeVar

from wallflower.errors import NotComposable, UsageError
from wallflower.privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from wallflower.schema.exact import shown

PLACES = 12
"""A converted ε is rounded up to this many decimal places."""

_ADDED: dict[type[Guarantee], tuple[str, ...]] = {PureDP: ("epsilon",), ApproxDP: ("epsilon", "delta"), ZCDP: ("rho",)}

_Additive = TypeVar("_Additive", PureDP, ApproxDP, ZCDP)


def total(promises: Sequence[_Additive]) -> _Additive:
    """The promise of all answers together (basic composition; rho adds up as epsilon and delta do).

    >>> total([PureDP(epsilon=Fraction("0.1"), neighbours="add-remove")] * 3).parameters
    {'epsilon': '0.3'}
    """
    if not promises:
        raise UsageError("there is no promise to add up.")
    first = promises[0]
    for other in promises[1:]:
        if _kind(other) != _kind(first):
            raise NotComposable(
                f"{_kind(first)} and {_kind(other)} cannot be added: their numbers bound different things."
            )
    sums: dict[str, Any] = {
        name: sum((getattr(each, name) for each in promises), Fraction(0)) for name in _ADDED[type(first)]
    }
    if isinstance(first, PureDP) and any(isinstance(each, PureDP) and each.rho is not None for each in promises):
        sums["rho"] = sum((each.concentrated for each in promises if isinstance(each, PureDP)), Fraction(0))
    conditions = dict.fromkeys(each.holds_when for each in promises if each.holds_when != "always")
    return replace(first, holds_when=", and ".join(conditions) or "always", **sums)


def _kind(promise: Guarantee) -> tuple[str, ...]:
    return (type(promise).__name__, promise.neighbours, promise.unit, promise.protects)


def concentrated(promise: PureDP) -> ZCDP:
    """ε-DP is ε²/2-zCDP (Bun and Steinke 2016, proposition 1.4)."""
    return ZCDP(
        rho=promise.epsilon**2 / 2,
        neighbours=promise.neighbours,
        unit=promise.unit,
        protects=promise.protects,
        holds_when=promise.holds_when,
    )


def to_approximate(promise: ZCDP, *, delta: Fraction, tighter: bool = False) -> ApproxDP:
    """The (ε, δ)-DP that ρ-zCDP implies: ε = ρ + 2·√(ρ·ln(1/δ)), rounded up (Bun and Steinke 2016, proposition 1.3).

    `tighter` also tries the conversion of the dp-accounting package (extra `accounting`) and takes the smaller ε.

    >>> to_approximate(ZCDP(rho=Fraction("0.5"), neighbours="add-remove"), delta=Fraction(1, 10**6)).parameters
    {'epsilon': '5.756521769757', 'delta': '0.000001'}
    """
    if not isinstance(delta, Fraction) or not 0 < delta < 1:
        raise UsageError(f"'delta' must be an exact fraction above 0 and below 1, got {delta!r}.")
    epsilon = _rounded_up(promise.rho + 2 * _root_above(promise.rho * _log_above(1 / delta)))
    if tighter:
        epsilon = min(epsilon, _by_dp_accounting(promise.rho, delta))
    return ApproxDP(
        epsilon=epsilon,
        delta=delta,
        neighbours=promise.neighbours,
        unit=promise.unit,
        protects=promise.protects,
        holds_when=promise.holds_when,
    )


def _log_above(number: Fraction) -> Fraction:
    """At least ln(number), by a hair; `number` is above 1.

    Decimal's ln is correctly rounded, so the next representable number on the right side bounds it.
    """
    precise = Context(prec=40)
    above = Fraction(precise.next_plus(precise.ln(Decimal(number.numerator))))
    if number.denominator == 1:
        return above  # ln 1 is 0; the next number below 0 would have a million digits
    return above - Fraction(precise.next_minus(precise.ln(Decimal(number.denominator))))


def _root_above(number: Fraction) -> Fraction:
    """At least √number, by at most 10^-20."""
    scale = 10**20
    return Fraction(math.isqrt(math.ceil(number * scale**2) - 1) + 1, scale) if number > 0 else Fraction(0)


def _rounded_up(number: Fraction) -> Fraction:
    return Fraction(math.ceil(number * 10**PLACES), 10**PLACES)


def _by_dp_accounting(rho: Fraction, delta: Fraction) -> Fraction:
    """dp-accounting's ε, for numbers no smaller than ours, with room for its floating point."""
    try:
        from dp_accounting import dp_event
        from dp_accounting.rdp import RdpAccountant
    except ImportError:
        raise UsageError(
            "the tighter conversion needs the dp-accounting package.",
            hint="Run `pip install 'wallflower[accounting]'`.",
        ) from None
    accountant = RdpAccountant()
    accountant.compose(dp_event.ZCDpEvent(math.nextafter(float(rho), math.inf), 0.0))
    epsilon = accountant.get_epsilon(math.nextafter(float(delta), 0.0))
    if not math.isfinite(epsilon):
        raise UsageError(f"dp-accounting has no finite epsilon for delta = {shown(delta)}.")
    return _rounded_up(Fraction(epsilon) * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9))
