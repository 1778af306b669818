"""Checks that several mechanisms share."""

from __future__ import annotations

from fractions import Fraction

from wallflower.errors import DeclarationError

ADD_REMOVE = "add-remove"


def positive_fraction(owner: object, field: str, value: Fraction) -> None:
    if not isinstance(value, Fraction):
        raise DeclarationError.of(owner, field, "an exact Fraction", value)
    if value <= 0:
        raise DeclarationError.of(owner, field, "above 0", str(value))


def at_least_one(owner: object, field: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise DeclarationError.of(owner, field, "a whole number of at least 1", value)
