"""Permute-and-flip (McKenna and Sheldon, 2020) on integer scores, drawn exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.mechanisms.checks import ADD_REMOVE, at_least_one, positive_fraction
from wallflower.noise.entropy import Entropy
from wallflower.noise.selection import permute_and_flip
from wallflower.privacy.guarantees import EVERY_ROW, PureDP


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip:
    """Visit candidates in random order; return the first whose coin of probability e^(−exponent·(best − score)) comes up.

    Guarantee
        Inputs        integer scores of a public list of candidates, each moved by at most `distance` by one neighbouring change
        Bound         PureDP(exponent·distance) if monotone and add-remove, else PureDP(2·exponent·distance)
        Numerics      exact: integers and fractions only
        Proof         permute_and_flip.md

    Its expected score is never below that of `Exponential` at the same exponent. It has no bounded range, so there is no `zcdp` here.

    >>> PermuteAndFlip(exponent=Fraction(1, 2), monotone=False).guarantee(distance=1, neighbours="add-remove").epsilon
    Fraction(1, 1)
    """

    exponent: Fraction
    """The factor in front of the score."""
    monotone: bool
    """True only if one added row moves no two scores in opposite directions. On the caller."""

    def __post_init__(self) -> None:
        positive_fraction(self, "exponent", self.exponent)

    def guarantee(self, *, distance: int, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        at_least_one(self, "distance", distance)
        one_direction = self.monotone and neighbours == ADD_REMOVE
        loss = (1 if one_direction else 2) * self.exponent * distance
        return PureDP(epsilon=loss, neighbours=neighbours, protects=protects)

    def __call__(self, scores: NDArray[np.int64], entropy: Entropy) -> int:
        """The index of the selected candidate."""
        return permute_and_flip(scores, self.exponent, entropy)

    def log_probabilities(self, scores: Sequence[int]) -> list[float]:
        """The natural logarithm of each candidate's probability, in time cubic in their number: for audits."""
        top = max(scores)
        weights = [float(self.exponent * (int(score) - int(top))) for score in scores]
        heads = [math.exp(weight) for weight in weights]
        # A candidate is returned if its coin comes up and it is first among those whose coin did.
        return [weight + math.log(_mean_share(heads[:i] + heads[i + 1 :])) for i, weight in enumerate(weights)]


def _mean_share(heads: Sequence[float]) -> float:
    """The mean of 1/(1 + number of coins that come up)."""
    exactly = [1.0]  # exactly[m]: the probability that m came up so far
    for coin in heads:
        exactly = [stay * (1 - coin) + up * coin for stay, up in zip([*exactly, 0.0], [0.0, *exactly], strict=True)]
    return math.fsum(chance / (1 + m) for m, chance in enumerate(exactly))
