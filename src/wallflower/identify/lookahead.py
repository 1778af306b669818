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

    def chances(self, copies: int) -> tuple[float, float]:
        """P(no) and P(yes), for prices and audits; the smaller one keeps its digits however small it is."""
        if not self.perturbs(copies):
            yes = float(1 <= copies <= self.beta)
            return 1 - yes, yes
        if 1 <= copies <= self.beta:
            no = self._above(copies) + self._above(self.beta + 1 - copies)
            return no, 1 - no
        yes = abs(self._above(max(copies - self.beta, 1)) - self._above(copies or self.beta + 1))
        return 1 - yes, yes

    def _above(self, least: int) -> float:
        """P(Z >= least) = P(Z <= -least) for the noise Z, least at least 1."""
        q = math.exp(-self.epsilon)
        return q**least / (1 + q)
