"""An integer plus discrete Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from operator import index

from wallflower.errors import DeclarationError
from wallflower.mechanisms.checks import at_least_one, positive_fraction
from wallflower.noise.entropy import Entropy
from wallflower.noise.laplace import discrete_laplace
from wallflower.privacy.guarantees import EVERY_ROW, PureDP


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace:
    """Add noise z with probability proportional to e^(−|z|/scale).

    Guarantee
        Inputs        integers that one neighbouring change moves by at most `distance`
        Bound         PureDP(distance / scale)
        Numerics      exact: integers and fractions only
        Proof         laplace.md

    >>> DiscreteLaplace(scale=Fraction(2)).guarantee(distance=1, neighbours="add-remove").epsilon
    Fraction(1, 2)
    """

    scale: Fraction

    def __post_init__(self) -> None:
        positive_fraction(self, "scale", self.scale)

    def guarantee(self, *, distance: int, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        at_least_one(self, "distance", distance)
        return PureDP(epsilon=distance / self.scale, neighbours=neighbours, protects=protects)

    def __call__(self, value: int, entropy: Entropy) -> int:
        # A fraction would shine through whole noise; an integer of numpy would overflow on large noise.
        return index(value) + discrete_laplace(self.scale, entropy)

    def log_probability(self, noise: int) -> float:
        """The natural logarithm of the probability of drawing exactly this noise."""
        many, one = self.scale.as_integer_ratio()
        return math.log(math.tanh(one / many / 2)) - abs(noise) * one / many

    def reach(self, *, miss: Fraction) -> int:
        """The least t with P(|noise| > t) <= miss, up to float rounding; public, for expected errors and intervals.

        >>> DiscreteLaplace(scale=Fraction(2)).reach(miss=Fraction(1, 20))
        6
        """
        if not 0 < miss < 1:
            raise DeclarationError.of(self, "miss", "between 0 and 1", str(miss))
        # P(|noise| > t) = 2·e^(−(t+1)/scale) / (1 + e^(−1/scale)); the scale may be beyond what a float holds
        rate = 1 / self.scale
        fading = math.exp(-float(rate)) if rate < 700 else 0.0
        nats = math.log(2 / miss) - math.log1p(fading)
        return max(0, math.ceil(self.scale * Fraction(nats)) - 1)
