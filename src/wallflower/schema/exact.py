"""Budgets, steps and radii as exact fractions; no float comes in, none goes out."""

from __future__ import annotations

import re
from fractions import Fraction

from wallflower.errors import UsageError

MOST_EXPONENT = 400
"""Doubles end near 10^308; a larger exponent is a slip, and writing it out would fill the memory."""


def exact(value: str | int | Fraction, *, name: str = "number") -> Fraction:
    """The fraction that a decimal or a quotient spells.

    >>> exact("0.1") * 3 == exact("3/10")
    True
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UsageError(
            f"'{name}' must be a whole number, or a decimal or fraction in quotes, got {value!r}.",
            hint=f'Write {name} = "0.1" or {name} = "1/10": a bare 0.1 is not one tenth in binary.',
        )
    try:
        if isinstance(value, str) and any(abs(int(e)) > MOST_EXPONENT for e in re.findall(r"[eE]([+-]?\d+)", value)):
            raise ValueError  # noqa: TRY301 - the same sentence as for any other misspelling
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise UsageError(
            f"'{name}' must be a decimal or a fraction, got {value!r}.", hint='For example "0.5" or "1/2".'
        ) from None


MOST_EPSILON = 10_000
"""e^10000 bounds nothing, and exact noise for more would be arithmetic on millions of digits."""
LEAST_EPSILON = Fraction(1, 10**12)
"""Below this an answer says nothing about any table that fits a machine, and reciprocals outgrow doubles."""


def positive(value: str | int | Fraction, *, name: str) -> Fraction:
    """`exact`, refused unless it is above zero."""
    number = exact(value, name=name)
    if number <= 0:
        raise UsageError(f"'{name}' must be above 0, got {shown(number)}.")
    if name.endswith("epsilon") and number > MOST_EPSILON:
        raise UsageError(
            f"'{name}' must be at most {MOST_EPSILON}, got {shown(number)}.",
            hint="An epsilon that large promises nothing.",
        )
    if name.endswith("epsilon") and number < LEAST_EPSILON:
        raise UsageError(
            f"'{name}' must be at least {shown(LEAST_EPSILON)}, got a smaller one.",
            hint="An answer would be noise alone.",
        )
    return number


def shown(value: Fraction | int) -> str:
    """The shortest exact spelling: a decimal where one exists, else a quotient.

    >>> shown(Fraction(1, 5)), shown(Fraction(1, 3)), shown(Fraction(-5, 2)), shown(Fraction(4))
    ('0.2', '1/3', '-2.5', '4')
    """
    number = Fraction(value)
    rest, places, twos, fives = number.denominator, 0, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 40:
        return f"{number.numerator}/{number.denominator}"
    if places == 0:
        return str(number.numerator)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def brief(value: Fraction) -> str:
    """`shown`, or what is wrong with a number of too many digits to show.

    >>> brief(Fraction("1e-300")), brief(Fraction(1, 4))
    ('a number of 301 digits', '0.25')
    """
    text = shown(value)
    return text if len(text) <= 40 else f"a number of {max(len(part) for part in text.split('/'))} digits"


class Exact:
    """A field of a frozen dataclass that takes a decimal, a quotient or a whole number, and holds a fraction from then on.

    Without a default the field is required; `above_zero` refuses what is not.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Noise:
    ...     scale: Exact = Exact("1/2")
    >>> Noise(scale="0.25"), Noise().scale
    (Noise(scale=Fraction(1, 4)), Fraction(1, 2))
    """

    def __init__(self, default: str | int | Fraction | None = None, *, above_zero: bool = False) -> None:
        self._default = None if default is None else exact(default)
        self._above_zero = above_zero
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Fraction:
        if instance is not None:
            held: Fraction = instance.__dict__[self._name]
            return held
        if self._default is None:
            raise AttributeError(self._name)  # which is how a dataclass learns that there is no default
        return self._default

    def __set__(self, instance: object, value: str | int | Fraction) -> None:
        read = positive if self._above_zero else exact
        instance.__dict__[self._name] = read(value, name=self._name)


class ExactOrNone:
    """As `Exact`, above zero, or None."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Fraction | None:
        held: Fraction | None = None if instance is None else instance.__dict__[self._name]
        return held

    def __set__(self, instance: object, value: str | int | Fraction | None) -> None:
        instance.__dict__[self._name] = None if value is None else positive(value, name=self._name)
