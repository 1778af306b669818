"""Running totals over days from few noisy sums: a tree of stretches of days, one of them closing each day.

With arity b and L levels, day t closes the longest stretch of b^l days, l < L, whose length divides t. Today's total is
the sum of today's stretch, of the one that ended where it began, and so on back to the first day: as many as the digits of
t in base b add up to. A stretch that lies inside a longer one closing on the same day would never be read, so it is never drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

LONGEST = 3_660
"""Ten years of days."""


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Which stretch of days is summed on which day.

    >>> tree = Tree(horizon=365, arity=20, levels=2)
    >>> tree.length(20), tree.length(21), list(tree.path(42))
    (20, 1, [42, 41, 40, 20])
    """

    horizon: int
    arity: int
    levels: int
    """How many lengths of stretches there are, single days included: a row is in one stretch of each at most."""

    @classmethod
    def best(cls, horizon: int) -> Tree:
        """The tree with the least mean square error over all days of the horizon; from that number alone.

        >>> Tree.best(365)
        Tree(horizon=365, arity=20, levels=2)
        """
        return _best(horizon)

    def length(self, day: int) -> int:
        """How many days the stretch that closes on `day` has; days are counted from 1."""
        length = 1
        for _ in range(self.levels - 1):
            if day % (length * self.arity):
                break
            length *= self.arity
        return length

    def path(self, day: int) -> Iterator[int]:
        """The days whose stretches add up to everything until `day`, the latest first."""
        while day > 0:
            yield day
            day -= self.length(day)

    def terms(self, day: int) -> int:
        """How many stretches add up to everything until `day`: its digits in base `arity`, added up."""
        total = 0
        for _ in range(self.levels - 1):
            day, digit = divmod(day, self.arity)
            total += digit
        return total + day

    @property
    def mean_terms(self) -> Fraction:
        left, total = np.arange(1, self.horizon + 1), 0
        for _ in range(self.levels - 1):
            left, digits = np.divmod(left, self.arity)
            total += int(digits.sum())
        return Fraction(total + int(left.sum()), self.horizon)

    def totals(self, sums: Sequence[int]) -> list[int]:
        """The running total of every day, from the sum of the stretch that closes on each."""
        found = [0]
        for day, stretch in enumerate(sums, start=1):
            found.append(found[day - self.length(day)] + stretch)
        return found[1:]


@lru_cache(maxsize=64)
def _best(horizon: int) -> Tree:
    trees = [Tree(horizon=horizon, arity=2, levels=1)]
    levels = 2
    while 2 ** (levels - 1) <= horizon:
        # Past the arity at which one more level is enough, a larger one only makes the lowest level longer.
        most = min(2 * math.ceil(horizon ** (1 / levels)) + 1, horizon)
        trees += [
            Tree(horizon=horizon, arity=arity, levels=levels)
            for arity in range(2, most + 1)
            if arity ** (levels - 1) <= horizon
        ]
        levels += 1
    return min(trees, key=lambda tree: (tree.levels**2 * tree.mean_terms, tree.levels, -tree.arity))


@lru_cache(maxsize=4096)
def reach_of_sum(terms: int, miss: Fraction) -> float:
    """The x with P(|Z₁ + … + Z_n| > x) = miss, for Laplace variables of scale 1.

    The density of the sum is e^(−|x|) times a polynomial with positive coefficients, so P(sum > x) is a mixture of the tails of
    gamma variables of shapes 1 to n: of shape j + 1 with weight (2n − 2 − j)!·2^j / ((n − 1)!·(n − 1 − j)!·2^(2n − 1)).

    >>> round(reach_of_sum(1, Fraction(1, 20)), 4)  # ln 20
    2.9957
    """
    last = terms - 1
    weights = [
        float(
            Fraction(
                math.factorial(2 * last - j) * 2**j, math.factorial(last) * math.factorial(last - j) * 2 ** (2 * last)
            )
        )
        for j in range(terms)
    ]

    def tail(x: float) -> float:
        power, gamma, total = math.exp(-x), 0.0, 0.0
        for j, weight in enumerate(weights):
            gamma += power
            power *= x / (j + 1)
            total += weight * gamma
        return total

    low, high = 0.0, 8.0 * math.sqrt(terms) + 40.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > miss else (low, middle)
    return high
