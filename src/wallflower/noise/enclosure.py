"""Integers on both sides of 2^bits·e^(−x): what lets a comparison with e^(−x) be exact."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache


@lru_cache(maxsize=256)
def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """(low, high) with low <= 2**bits * exp(-x) <= high, for x >= 0; a few units apart.

    >>> exp_bounds(Fraction(1), 10)  # 1024/e = 376.7
    (376, 377)
    """
    if x < 0:
        raise ValueError("exp_bounds(x, bits) needs x of at least 0.")
    if x > bits:
        return 0, 1  # e^(−x) < 2^(−x) < 2^(−bits)
    halvings = max(0, (x.numerator // x.denominator).bit_length() + 1)  # x / 2^halvings is at most 1/2
    guard = bits + 2 * halvings + 4  # each squaring below doubles the error
    low, high = _series(x / (1 << halvings), guard)
    for _ in range(halvings):
        low = low * low >> guard
        high = -(-high * high >> guard)
    extra = guard - bits
    return low >> extra, -(-high >> extra)


def _series(x: Fraction, bits: int) -> tuple[int, int]:
    """Bounds for 0 <= x <= 1/2 by two neighbouring partial sums of the alternating series, which lie on either side."""
    terms = 2
    while terms < bits and _bits_of_term(x, terms) < bits:
        terms += 2
    below_it = _partial_sum(x, terms + 1)
    above_it = _partial_sum(x, terms)
    return (below_it.numerator << bits) // below_it.denominator, -(
        -(above_it.numerator << bits) // above_it.denominator
    )


def _bits_of_term(x: Fraction, k: int) -> int:
    """A b with x^k/k! <= 2^(−b): enough to stop by, no bound rests on it."""
    factorial_bits = sum((i.bit_length() - 1) for i in range(2, k + 1))
    return k * (x.denominator // max(x.numerator, 1)).bit_length() - k + factorial_bits


def _partial_sum(x: Fraction, last: int) -> Fraction:
    """Σ (−x)^k/k! for k = 0..last, by Horner's rule on integers."""
    numerator, denominator = 1, 1
    for k in range(last, 0, -1):
        scaled = x.denominator * k * denominator
        numerator, denominator = scaled - x.numerator * numerator, scaled
    return Fraction(numerator, denominator)
