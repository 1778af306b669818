"""Whether two rows lie within a radius, decided in integers.

Rows are integers of steps (`schema.domains`), so the declared distance ‖x − y‖ ≤ r, with rational steps, scales,
weights and radius, is one integer inequality Σ weights[i]·Δ[i]² ≤ limit. Nothing is rounded: two rows exactly r apart
are within r on every machine, which the packing constants of a sensitivity rest on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Ball:
    """All Δ with Σ weights[i]·Δ[i]² ≤ limit."""

    weights: tuple[int, ...]
    """One positive integer a column."""
    limit: int

    @classmethod
    def of(cls, squares: Sequence[Fraction], bound: Fraction) -> Ball:
        """The ball Σ squares[i]·Δ[i]² ≤ bound, in the smallest integers that decide the same.

        >>> Ball.of([Fraction(1, 4), Fraction(1, 9)], Fraction(2))
        Ball(weights=(9, 4), limit=72)
        """
        common = math.lcm(*(square.denominator for square in squares))
        whole = [int(square * common) for square in squares]
        limit = math.floor(bound * common)
        divisor = math.gcd(*whole)
        return cls(weights=tuple(weight // divisor for weight in whole), limit=limit // divisor)

    def __contains__(self, delta: Sequence[int]) -> bool:
        return sum(weight * int(gap) ** 2 for weight, gap in zip(self.weights, delta, strict=True)) <= self.limit

    @property
    def twice(self) -> Ball:
        """The ball of twice the radius: holds the difference of any two rows that share a row within the radius."""
        return Ball(weights=self.weights, limit=4 * self.limit)

    def reach(self, column: int) -> int:
        """The largest |Δ| in this column that the ball allows.

        >>> Ball.of([Fraction(1)], Fraction(10)).reach(0)
        3
        """
        return math.isqrt(self.limit // self.weights[column])


def normalised_ball(*, steps: Sequence[Fraction], scales: Sequence[Fraction], radius: Fraction) -> Ball:
    """The ball of the root mean square distance √(Σ((x_i − y_i)/scale_i)² / d) ≤ radius, for Δ in steps.

    >>> normalised_ball(steps=[Fraction(1, 2)] * 2, scales=[Fraction(1)] * 2, radius=Fraction(3))
    Ball(weights=(1, 1), limit=72)
    """
    squares = [(step / scale) ** 2 for step, scale in zip(steps, scales, strict=True)]
    return Ball.of(squares, radius**2 * len(squares))
