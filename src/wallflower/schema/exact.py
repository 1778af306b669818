"""Budgets, steps and radii as exact fractions; no float comes in, none goes out."""

from __future__ import annotations

import re
from fractions import Fraction

from wallflower.errors import UsageError, cut

Spelled = Fraction | str | int
"""What a number may come as: exact in every case."""

MOST_EXPONENT = 400
"""Doubles end near 10^308; a larger exponent is a slip, and writing it out would fill the memory."""
MOST_BITS = 2_000
"""Of a numerator or a denominator, however it came in."""


def exact(value: Spelled, *, name: str = "number") -> Fraction:
    """The fraction that a decimal or a quotient spells.

    >>> exact("0.1") * 3 == exact("3/10")
    True
    """
    if isinstance(value, Fraction):
        return _sized(value, name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UsageError(
            f"'{name}' must be a whole number, or a decimal or fraction in quotes, got {quoted(value)}.",
            hint=f'Write {name} = "0.1" or {name} = "1/10": a bare 0.1 is not one tenth in binary.',
        )
    try:
        if isinstance(value, str) and any(abs(int(e)) > MOST_EXPONENT for e in re.findall(r"[eE]([+-]?[\d_]+)", value)):
            raise ValueError  # noqa: TRY301 - the same sentence as for any other misspelling
        number = Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise UsageError(
            f"'{name}' must be a decimal or a fraction, got {quoted(value)}.", hint='For example "0.5" or "1/2".'
        ) from None
    return _sized(number, name)


def _sized(number: Fraction, name: str) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS:
        raise UsageError(f"'{name}' has more than {MOST_BITS} binary digits above or below its line.")
    return number


def quoted(value: object, *, most: int = 60) -> str:
    """The value as it was written, cut where it would fill a screen.

    >>> quoted("9" * 100, most=7)
    "'999999…"
    """
    try:
        text = repr(value) if not isinstance(value, int | Fraction) else shown(Fraction(value))
    except ValueError:  # more digits than Python writes
        text = "a number of thousands of digits"
    return cut(text, most)


MOST_EPSILON = 10_000
"""e^10000 bounds nothing, and exact noise for more would be arithmetic on millions of digits."""
LEAST_EPSILON = Fraction(1, 10**12)
"""Less buys no answer about any table, and its inverse would leave the range of doubles and machine words."""


def positive(value: Spelled, *, name: str) -> Fraction:
    """`exact`, refused unless it is above zero."""
    number = exact(value, name=name)
    if number <= 0:
        raise UsageError(f"'{name}' must be above 0, got {quoted(number)}.")
    if name.endswith("epsilon") and number > MOST_EPSILON:
        raise UsageError(
            f"'{name}' must be at most {MOST_EPSILON}, got {quoted(number)}.",
            hint="An epsilon that large promises nothing.",
        )
    if name.endswith(("epsilon", "failure")) and number < LEAST_EPSILON:
        raise UsageError(
            f"'{name}' must be at least 1e-12, got {quoted(number)}.",
            hint="So little buys no answer about any table." if name.endswith("epsilon") else "",
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
