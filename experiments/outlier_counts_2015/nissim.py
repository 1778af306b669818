"""Valid mechanisms of the literature that the paper builds on, for comparison: they need a δ and much more noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from wallflower.mechanisms.laplace import DiscreteLaplace


def smooth(bounds, beta: float) -> float:
    return max(math.exp(-beta * t) * bound for t, bound in enumerate(bounds))


def gaussian(bounds, epsilon: float, delta: float) -> float:
    """Standard deviation by Theorem 2 (Nissim, Raskhodnikova and Smith): S/α, α = ε/(5√(2 ln 2/δ)), β = ε/(4(1 + ln 2/δ))."""
    beta = epsilon / (4 * (1 + math.log(2 / delta)))
    return smooth(bounds, beta) * 5 * math.sqrt(2 * math.log(2 / delta)) / epsilon


@dataclass(frozen=True, kw_only=True)
class ProposeTestRelease:
    """Release q + discrete Laplace on a public bound, if the table is far from any that could move by more; else nothing.

    γ = min{t: U_t > bound} moves by at most one between neighbours. (ε₁ + ε₂, δ)-differentially private: if either of
    two neighbours has γ ≥ 1 the change is within the bound; if both have γ = 0, both release with probability at most δ.
    """

    bound: int
    test: Fraction
    """ε₁, for the test."""
    release: Fraction
    """ε₂, for the count."""
    delta: Fraction

    @property
    def threshold(self) -> float:
        """1 + ln(1/2δ)/ε₁. Without the 1 it is right for continuous noise only: discrete noise passes up to 1.9 δ."""
        return 1 + math.log(1 / (2 * float(self.delta))) / float(self.test)

    def gamma(self, bounds) -> int:
        return next((t for t, bound in enumerate(bounds) if bound > self.bound), len(bounds))

    def release_probability(self, gamma: int, threshold: float | None = None) -> float:
        """P(γ + Z > threshold) for discrete Laplace Z of scale 1/ε₁."""
        least = math.floor((self.threshold if threshold is None else threshold) - gamma) + 1
        q = math.exp(-float(self.test))
        if least >= 1:
            return q**least / (1 + q)
        return 1 - q ** (1 - least) / (1 + q)

    def deviation(self) -> float:
        return float(DiscreteLaplace(scale=self.bound / self.release).scale) * math.sqrt(2)
