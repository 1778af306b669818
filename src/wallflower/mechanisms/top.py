"""The h best of many scored candidates, drawn one after the other without replacement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.mechanisms.checks import at_least_one, positive_fraction
from wallflower.noise.entropy import Entropy
from wallflower.noise.selection import select_many
from wallflower.privacy.guarantees import EVERY_ROW, PureDP


@dataclass(frozen=True, kw_only=True)
class TopH:
    """Select h candidates, each with probability proportional to e^(exponent·score) among those left.

    Guarantee
        Inputs        integer scores of a public list of candidates, each moved by at most `distance` by one neighbouring change
        Bound         PureDP(2·h·exponent·distance)
        Numerics      exact: integers and fractions only
        Proof         top.md

    >>> TopH(h=3, exponent=Fraction(1, 12)).guarantee(distance=1, neighbours="replace-one").epsilon
    Fraction(1, 2)
    """

    h: int
    """Public, and at most the public number of candidates."""
    exponent: Fraction
    """The factor in front of the score."""

    def __post_init__(self) -> None:
        at_least_one(self, "h", self.h)
        positive_fraction(self, "exponent", self.exponent)

    def guarantee(self, *, distance: int, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        at_least_one(self, "distance", distance)
        once = 2 * self.exponent * distance
        return PureDP(epsilon=self.h * once, rho=self.h * once**2 / 8, neighbours=neighbours, protects=protects)

    def __call__(self, scores: NDArray[np.int64], entropy: Entropy) -> list[int]:
        """The indices in the order drawn, best chance first; the order is covered by the guarantee."""
        return select_many(scores, self.h, self.exponent, entropy)

    def log_probability(self, scores: Sequence[int], answer: Sequence[int]) -> float:
        """The natural logarithm of the probability of exactly these indices in this order."""
        left = set(range(len(scores)))
        total = 0.0
        for index in answer:
            top = max(scores[i] for i in left)
            weights = {i: float(self.exponent * (int(scores[i]) - int(top))) for i in left}
            total += weights[index] - math.log(math.fsum(math.exp(weight) for weight in weights.values()))
            left.remove(index)
        return total
