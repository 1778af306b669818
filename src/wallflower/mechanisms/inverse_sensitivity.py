"""An integer of a public range, the likelier the fewer rows would have to change for it to be the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from wallflower.mechanisms.checks import at_least_one, positive_fraction
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.entropy import Entropy
from wallflower.noise.uniform import below
from wallflower.privacy.guarantees import EVERY_ROW, PureDP

_NEGLIGIBLE = 28  # e^−28 is about 10^−12: what all the answers beyond the last level weigh together
_MOST_LEVELS = 100_000  # for an ε so small that the answer says nothing anyway


@dataclass(frozen=True, kw_only=True)
class InverseSensitivity:
    """Select y from 0 … most with probability proportional to e^(−ε/2·changes(y)).

    changes(y) is the least j for which y is within U_0 + … + U_{j−1} of the true value, at most `levels`.

    Guarantee
        Inputs        an integer with the profile of its table
        Bound         PureDP(epsilon)
        Assumes       the profile keeps its two laws; `most` is public
        Numerics      exact: integers and fractions only
        Proof         inverse_sensitivity.md

    >>> InverseSensitivity(epsilon=Fraction(1), most=100).guarantee(neighbours="replace-one").epsilon
    Fraction(1, 1)
    """

    epsilon: Fraction
    most: int

    def __post_init__(self) -> None:
        positive_fraction(self, "epsilon", self.epsilon)
        if self.most:
            at_least_one(self, "most", self.most)

    @property
    def levels(self) -> int:
        """Answers that more changes would be needed for share one level; together they hardly ever come up."""
        return min(_MOST_LEVELS, math.ceil(2 / self.epsilon * (math.ceil(math.log(self.most + 1)) + _NEGLIGIBLE)))

    @property
    def selection(self) -> Exponential:
        return Exponential(exponent=self.epsilon / 2, monotone=False)

    def guarantee(self, *, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        return self.selection.guarantee(distance=1, neighbours=neighbours, protects=protects)

    def __call__(self, value: int, profile: Profile, entropy: Entropy) -> int:
        rings = self.rings(value, profile)
        level = -self.selection.level({-j: sum(map(len, ring)) for j, ring in enumerate(rings)}, entropy)
        lower, upper = rings[level]
        place = below(len(lower) + len(upper), entropy)
        return lower[place] if place < len(lower) else upper[place - len(lower)]

    def rings(self, value: int, profile: Profile) -> list[tuple[range, range]]:
        """For each number of changes the answers below and above the true value that need exactly so many."""
        found = [(range(0), self._within(value, value))]
        reach = 0
        for j in range(1, self.levels + 1):
            further = max(value, self.most) if j == self.levels else reach + profile[j - 1]
            found.append(
                (self._within(value - further, value - reach - 1), self._within(value + reach + 1, value + further))
            )
            reach = further
            if value - reach <= 0 and value + reach >= self.most:
                break
        return found

    def _within(self, low: int, high: int) -> range:
        return range(max(low, 0), min(high, self.most) + 1)

    def probabilities(self, value: int, profile: Profile) -> list[float]:
        """Of each answer 0 … most; for audits of small ranges."""
        weights = [0.0] * (self.most + 1)
        for j, ring in enumerate(self.rings(value, profile)):
            for side in ring:
                for answer in side:
                    weights[answer] = math.exp(-float(self.epsilon) / 2 * j)
        total = math.fsum(weights)
        return [weight / total for weight in weights]
