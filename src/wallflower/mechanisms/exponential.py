"""The exponential mechanism on integer scores, drawn exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.mechanisms.checks import ADD_REMOVE, at_least_one, positive_fraction
from wallflower.noise.entropy import Entropy
from wallflower.noise.selection import choose_level, select
from wallflower.privacy.guarantees import EVERY_ROW, ZCDP, PureDP


@dataclass(frozen=True, kw_only=True)
class Exponential:
    """Select a candidate with probability proportional to e^(exponent·score).

    Guarantee
        Inputs        integer scores of a public list of candidates, each moved by at most `distance` by one neighbouring change
        Bound         PureDP(exponent·distance) if monotone and add-remove, else PureDP(2·exponent·distance)
        Numerics      exact: integers and fractions only
        Proof         exponential.md

    >>> Exponential(exponent=Fraction(1, 5), monotone=True).guarantee(distance=1, neighbours="add-remove").epsilon
    Fraction(1, 5)
    >>> Exponential(exponent=Fraction(1, 5), monotone=True).guarantee(distance=1, neighbours="replace-one").epsilon
    Fraction(2, 5)
    """

    exponent: Fraction
    """The factor in front of the score; the loss is derived from it, never the other way round."""
    monotone: bool
    """True only if one added row moves no two scores in opposite directions. On the caller."""

    def __post_init__(self) -> None:
        positive_fraction(self, "exponent", self.exponent)

    def _bounded_range(self, distance: int, neighbours: str) -> Fraction:
        at_least_one(self, "distance", distance)
        one_direction = self.monotone and neighbours == ADD_REMOVE
        return (1 if one_direction else 2) * self.exponent * distance

    def guarantee(self, *, distance: int, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        loss = self._bounded_range(distance, neighbours)
        return PureDP(epsilon=loss, rho=loss**2 / 8, neighbours=neighbours, protects=protects)

    def zcdp(self, *, distance: int, neighbours: str, protects: str = EVERY_ROW) -> ZCDP:
        """A bounded range of η is η²/8 in concentrated privacy, an eighth and not a half: worth it where many selections compose."""
        return ZCDP(rho=self._bounded_range(distance, neighbours) ** 2 / 8, neighbours=neighbours, protects=protects)

    def __call__(self, scores: NDArray[np.int64], entropy: Entropy) -> int:
        """The index of the selected candidate."""
        return select(scores, self.exponent, entropy)

    def level(self, counts: Mapping[int, int], entropy: Entropy) -> int:
        """The score of the selected candidate, where `counts` says how many have each score."""
        return choose_level(counts, self.exponent, entropy)

    def log_probabilities(self, scores: Sequence[int]) -> list[float]:
        """The natural logarithm of each candidate's probability."""
        top = max(scores)
        weights = [float(self.exponent * (int(score) - int(top))) for score in scores]
        total = math.log(math.fsum(math.exp(weight) for weight in weights))
        return [weight - total for weight in weights]
