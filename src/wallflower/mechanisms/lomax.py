"""An integer plus Lomax noise on a smooth bound of its sensitivity: pure differential privacy, and small where rows are calm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from wallflower.errors import DeclarationError
from wallflower.mechanisms.checks import positive_fraction
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.entropy import Entropy
from wallflower.noise.lomax import TAIL, rounded_lomax
from wallflower.privacy.guarantees import EVERY_ROW, PureDP

_BITS = 64
_ONE = 1 << _BITS


@dataclass(frozen=True, kw_only=True)
class Lomax:
    """Add round((S/σ)·Z), S the smooth bound of a `Profile`, Z with density 4·(1 + |z|)^−9.

    Guarantee
        Inputs        an integer with the profile of its table
        Bound         PureDP(epsilon)
        Assumes       the profile keeps its two laws
        Numerics      exact: integers and fractions only
        Proof         lomax.md

    >>> noise = Lomax(epsilon=Fraction(1))
    >>> round(float(noise.sigma), 4), noise.guarantee(neighbours="add-remove").epsilon
    (0.1157, Fraction(1, 1))
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        positive_fraction(self, "epsilon", self.epsilon)

    @property
    def beta(self) -> Fraction:
        """How fast the bound may fade with distance: S(X) ≤ e^β·S(X′) between neighbours."""
        return self.epsilon / TAIL

    @cached_property
    def sigma(self) -> Fraction:
        """The largest σ on a fine grid that keeps the loss within ε; rounding can only make it smaller."""
        shift = 40 + (1 / self.epsilon).__ceil__().bit_length()
        # α·ln(1 + σ) ≤ ε and β + α·ln(1 + σ·e^−β) ≤ ε with α = TAIL + 1, solved for σ
        at_rest = self._grown(self.epsilon / (TAIL + 1), shift) - 1
        faded = self._grown(self.beta, shift) * (self._grown((self.epsilon - self.beta) / (TAIL + 1), shift) - 1)
        steps = math.floor(min(at_rest, faded) * (1 << shift))
        if steps < 1:
            raise DeclarationError.of(self, "epsilon", "large enough for the grid of sigma", str(self.epsilon))
        return Fraction(steps, 1 << shift)

    @staticmethod
    def _grown(x: Fraction, shift: int) -> Fraction:
        """A lower bound of e^x, for x ≥ 0, within 2^−shift of itself."""
        precision = shift + 8 + 2 * math.ceil(x)
        return Fraction(1 << precision, exp_bounds(x, precision)[1])

    def fading(self, count: int) -> list[int]:
        """w_0 … w_count in units of 2^−64: w_0 is one, and w_{t+1} ≥ e^−β·w_t because it is rounded upwards."""
        ratio = exp_bounds(self.beta, _BITS)[1]
        weights = [_ONE]
        for _ in range(count):
            weights.append(-(-weights[-1] * ratio >> _BITS))
        return weights

    def smooth(self, profile: Profile) -> Fraction:
        """S = max over t of w_t·U_t."""
        return self._largest([*profile.bounds, profile.cap])

    def _largest(self, bounds: Sequence[int]) -> Fraction:
        weights = self.fading(len(bounds) - 1)
        return Fraction(max(weight * bound for weight, bound in zip(weights, bounds, strict=True)), _ONE)

    def horizon(self, cap: int, least: Sequence[int]) -> int:
        """From which t on a profile may be its cap at no cost, where U_t is known to be at least least[t]."""
        floor = self._largest([min(bound, cap) for bound in least])
        weights = self.fading(len(least))
        for t, weight in enumerate(weights):
            if weight * cap <= floor * _ONE:
                return t
        return len(least)

    def guarantee(self, *, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        return PureDP(epsilon=self.epsilon, neighbours=neighbours, protects=protects)

    def __call__(self, value: int, profile: Profile, entropy: Entropy) -> int:
        return value + rounded_lomax(self.smooth(profile) / self.sigma, entropy)

    def deviation(self, bound: Fraction | int) -> float:
        """Standard deviation of the noise on a smooth bound, before rounding."""
        return float(bound / self.sigma) * math.sqrt(2 / ((TAIL - 1) * (TAIL - 2)))

    def reach(self, bound: Fraction | int, *, miss: Fraction) -> int:
        """The least t with P(|noise| > t) ≤ miss when S is at most `bound`, up to float rounding."""
        if not 0 < miss < 1:
            raise DeclarationError.of(self, "miss", "between 0 and 1", str(miss))
        quantile: float = float(miss) ** (-1 / TAIL) - 1
        return max(0, math.ceil(float(bound / self.sigma) * quantile - 0.5))
