"""A private upper bound of a smooth scale: a noisy rung of a ladder whose steps are what the scale may change by."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from wallflower.errors import DeclarationError
from wallflower.mechanisms.checks import positive_fraction
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.entropy import Entropy
from wallflower.noise.lomax import TAIL
from wallflower.privacy.guarantees import EVERY_ROW, PureDP

_BITS = 64
_ONE = 1 << _BITS
MOST_RUNGS = 50_000
"""A longer ladder is refused: it comes from an epsilon at which no interval is narrow."""
_RARE = 45.0  # e^−45 is below 2^−64


@dataclass(frozen=True, kw_only=True)
class NoisyScale:
    """E_Ĵ with Ĵ = J + discrete Laplace noise, where J is the first rung of a ladder E_0 < E_1 < … that is not below the scale.

    Guarantee
        Inputs        a scale of at most `cap` that changes by a factor of at most e^beta between neighbours
        Bound         PureDP(epsilon)
        Numerics      exact: integers and fractions only
        Proof         noisy_scale.md

    >>> ladder = NoisyScale(floor=Fraction(3), cap=60, beta=Fraction(1, 8), epsilon=Fraction(1, 2))
    >>> ladder.rung(Fraction(3)), ladder.rung(Fraction(7, 2)), ladder.last, ladder.beyond
    (0, 2, 24, 6)
    """

    floor: Fraction
    """The first rung: scales below it are not told apart."""
    cap: int
    """No scale is above it."""
    beta: Fraction
    epsilon: Fraction

    def __post_init__(self) -> None:
        for name in ("floor", "beta", "epsilon"):
            positive_fraction(self, name, getattr(self, name))
        if self.cap < 1:
            raise DeclarationError.of(self, "cap", "at least 1", self.cap)
        climb = math.log(max(1, math.ceil(self.cap / self.floor)) + 1)
        if climb > MOST_RUNGS * self.beta or self.beyond > MOST_RUNGS:
            raise DeclarationError.of(
                self, "epsilon", f"large enough for a ladder of {MOST_RUNGS} rungs", str(float(self.epsilon))
            )

    @property
    def beyond(self) -> int:
        """So many rungs the ladder goes on above the cap: noise that goes further is cut off there."""
        return math.ceil(3 / self.epsilon)

    @property
    def last(self) -> int:
        """J*, the rung of the cap: no table has a higher one."""
        return len(self.rungs) - 1 - self.beyond

    @cached_property
    def step(self) -> Fraction:
        """An upper bound of e^β, a few units of 2^−64 above it."""
        precision = _BITS + 2 * math.ceil(self.beta)
        low, _ = exp_bounds(self.beta, precision)
        return Fraction(-(-(_ONE << precision) // low), _ONE)

    @cached_property
    def rungs(self) -> tuple[int, ...]:
        """E_j in units of floor·2^−64: each is at least e^β times the one before, because it is rounded upwards."""
        top = math.ceil(self.cap / self.floor * _ONE)
        up, unit = self.step.numerator, self.step.denominator
        found, more = [_ONE], self.beyond
        while found[-1] < top or more > 0:
            more -= found[-1] >= top
            found.append(-(-found[-1] * up // unit))
        return tuple(found)

    def scale(self, rung: int) -> Fraction:
        return self.floor * Fraction(self.rungs[rung], _ONE)

    def rung(self, bound: Fraction) -> int:
        """J: the first rung that is not below `bound`."""
        return bisect_left(self.rungs, math.ceil(bound / self.floor * _ONE))

    def guarantee(self, *, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        return PureDP(epsilon=self.epsilon, neighbours=neighbours, protects=protects)

    def __call__(self, bound: Fraction, entropy: Entropy) -> Fraction:
        """`bound` is private, what comes back is not."""
        return self.scale(self.noisy_rung(self.rung(bound), entropy))

    def noisy_rung(self, rung: int, entropy: Entropy) -> int:
        noisy = DiscreteLaplace(scale=1 / self.epsilon)(rung, entropy)
        return min(max(noisy, 0), len(self.rungs) - 1)

    def chances(self, rung: int) -> list[float]:
        """P(Ĵ = j) for every rung j of the ladder, for prices and audits."""
        fade, top = math.exp(-float(self.epsilon)), len(self.rungs) - 1
        found = [math.tanh(float(self.epsilon) / 2) * fade ** abs(j - rung) for j in range(top + 1)]
        found[0] = fade**rung / (1 + fade)
        found[top] = fade ** (top - rung) / (1 + fade)
        return found

    def stretch(self, *, miss: Fraction) -> Fraction:
        """The least τ, rounded up, for which noise of density (TAIL/2)(1 + |z|)^(−TAIL−1) at a scale of at most E_J is within τ·E_Ĵ but for
        `miss`, whatever J is."""
        if not 0 < miss < 1:
            raise DeclarationError.of(self, "miss", "between 0 and 1", str(miss))
        import numpy as np

        fade = math.exp(-float(self.epsilon))
        far = math.ceil(_RARE / float(self.epsilon))
        noise = np.arange(-far, self.beyond + 1)
        chances = math.tanh(float(self.epsilon) / 2) * np.exp(-float(self.epsilon) * np.abs(noise))
        chances[-1] = fade**self.beyond / (1 + fade)  # all that is cut off above
        # A rung downwards may be a little more than e^β: rungs and the step are rounded upwards by a few units of 2^−64.
        climb = noise * np.where(noise < 0, float(self.beta) + 2.0**-58, float(self.beta))

        def missed(tau: float) -> float:
            inside = np.exp(-TAIL * np.logaddexp(0.0, math.log(tau) + climb))
            return float(chances @ inside) + math.exp(-_RARE)  # noise below −far is counted as a miss

        low, high = 1e-9, 1.0
        while missed(high) > miss:
            high *= 2
            if high > 1e15:  # a rung is so high that the noise of the rung decides how wide the interval is
                raise DeclarationError.of(self, "epsilon", "large enough beside beta", str(float(self.epsilon)))
        while high - low > 1e-7 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if missed(middle) <= miss else (middle, high)
        return Fraction(math.ceil(high * 10**6) + 1, 10**6)
