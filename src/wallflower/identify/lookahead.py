"""The look-ahead mechanism: for models in which a value is near itself alone. The proof is in `lookahead.md`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import Entropy


@dataclass(frozen=True, kw_only=True)
class LookAhead:
    """Perturb the count of a value only where k + 1 more rows could make it normal; elsewhere tell the truth.

    Guarantee
        Inputs        x_i, the number of rows that hold the asked value, in a model with no other value near
        Bound         (epsilon, k)-sensitive privacy; differential privacy when k >= beta
        Assumes       the model's radius holds no other value (checked by the query)
        Numerics      exact: integers and fractions only
        Proof         lookahead.md
    """

    epsilon: Fraction
    beta: int
    k: int

    def perturbs(self, copies: int) -> bool:
        return copies >= self.beta - self.k

    def __call__(self, copies: int, entropy: Entropy) -> bool:
        noisy = DiscreteLaplace(scale=1 / self.epsilon)(copies, entropy) if self.perturbs(copies) else copies
        return 1 <= noisy <= self.beta

    def chance_of_yes(self, copies: int) -> float:
        """P(True), for prices and audits."""
        if not self.perturbs(copies):
            return float(1 <= copies <= self.beta)
        return _above(1 - copies, self.epsilon) - _above(self.beta + 1 - copies, self.epsilon)


def _above(least: int, epsilon: Fraction) -> float:
    """P(Z >= least) for discrete Laplace noise of scale 1/ε."""
    q = math.exp(-epsilon)
    return q**least / (1 + q) if least > 0 else 1 - q ** (1 - least) / (1 + q)
