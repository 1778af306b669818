"""Heavy-tailed noise whose survival function is rational, so that it can be drawn exactly."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from wallflower.noise.entropy import Entropy

TAIL = 8
"""P(|Z| > z) = (1 + z)^(−TAIL). A power of two: the inverse is then three integer square roots."""
_FIRST_BITS = 64


def rounded_lomax(scale: Fraction, entropy: Entropy) -> int:
    """The integer nearest to scale·Z, where Z has density (TAIL/2)·(1 + |z|)^(−TAIL−1), for scale > 0.

    One uniform number is drawn bit by bit until every real number that begins with these bits gives the same answer.
    """
    if scale <= 0:
        raise ValueError("rounded_lomax(scale) needs a scale above 0.")
    negative = entropy.bits(1)
    precision = _FIRST_BITS
    uniform = entropy.bits(precision)
    while True:
        size = _size(uniform + 1, precision, scale)
        if uniform and _size(uniform, precision, scale) == size:
            return -size if negative else size
        uniform = uniform << precision | entropy.bits(precision)
        precision *= 2


def _size(uniform: int, precision: int, scale: Fraction) -> int:
    """The largest m with uniform/2^precision ≤ P(|scale·Z| ≥ m − 1/2); the smaller the uniform, the larger."""
    twice, unit = 2 * scale.numerator, scale.denominator
    # P(|scale·Z| ≥ m − 1/2) = (twice / (twice + (2m − 1)·unit))^8 for m ≥ 1, and 1 for m = 0.
    root = isqrt(isqrt(isqrt((twice**TAIL << precision) // uniform)))
    return max(0, (root - twice + unit) // (2 * unit))
