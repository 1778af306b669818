"""A bit, told with a known chance of being the wrong one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from wallflower.mechanisms.checks import at_least_one, positive_fraction
from wallflower.noise.coins import bernoulli_exp, logistic
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import EVERY_ROW, PureDP


@dataclass(frozen=True, kw_only=True)
class FadingResponse:
    """Flip a bit with probability e^(−ε(margin−1))/(1 + e^ε): the further from changing, the more surely it is told.

    `margin` is a whole number of at least 1, a private function of the rows: 1 says that one change may flip the bit.

    Guarantee
        Inputs        (bit, margin) whose place on the line, +(margin − ½) for True and −(margin − ½) for False, one neighbouring
                      change moves by at most `distance`
        Bound         PureDP(distance·epsilon)
        Numerics      exact: integers and fractions only
        Proof         logistic.md

    >>> FadingResponse(epsilon=Fraction(1)).guarantee(distance=1, neighbours="add-remove").epsilon
    Fraction(1, 1)
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        positive_fraction(self, "epsilon", self.epsilon)

    def guarantee(self, *, distance: int, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        at_least_one(self, "distance", distance)
        return PureDP(epsilon=distance * self.epsilon, neighbours=neighbours, protects=protects)

    def __call__(self, bit: bool, margin: int, entropy: Entropy) -> bool:  # noqa: FBT001 - the input is the bit
        if margin < 1:
            raise ValueError("a margin is at least 1.")
        # Two independent coins, because the probability is a product: exact down to flips too rare ever to be seen.
        return bool(bit) != (bernoulli_exp(self.epsilon * (margin - 1), entropy) and logistic(self.epsilon, entropy))

    def log_flip(self, margin: int) -> float:
        """The natural logarithm of the probability of telling the wrong bit."""
        many, one = self.epsilon.as_integer_ratio()
        return -(many * margin / one) - math.log1p(math.exp(-many / one))
