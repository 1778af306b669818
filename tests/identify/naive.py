"""Slow, obvious twins of the distances and counts, in fractions."""

from __future__ import annotations

from fractions import Fraction


def near(one, other, *, kinds, scales, weights, radius, distance):
    """Whether two values are within the radius, by the formulas of the documentation. kinds: True for a category."""
    if distance == "hamming":
        return sum(w for a, b, w in zip(one, other, weights, strict=True) if a != b) <= radius
    total = Fraction(0)
    for a, b, category, scale, weight in zip(one, other, kinds, scales, weights, strict=True):
        total += weight * (Fraction(a != b) if category else (Fraction(a - b) * scale) ** 2)
    return total <= Fraction(radius) ** 2
