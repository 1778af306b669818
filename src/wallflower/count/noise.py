"""Which noise a count gets, by public things alone, and what error that means before any row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from wallflower.count.profiles import bound
from wallflower.count.sensitivity import global_sensitivity
from wallflower.mechanisms.inverse_sensitivity import InverseSensitivity
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.mechanisms.lomax import Lomax
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import PureDP
from wallflower.schema.exact import shown

NoiseName = Literal["auto", "lomax", "laplace", "inverse"]
NOISES: tuple[NoiseName, ...] = ("auto", "lomax", "laplace", "inverse")

MISS = Fraction(1, 20)
"""How often an interval, or a stated error, may be missed."""
LONGEST = 20_000
"""No profile is computed further than this, whatever ε asks for; beyond it a profile is its cap, which is always valid."""


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of one count, fixed by public things."""

    epsilon: Fraction
    dimension: int
    k: int
    neighbours: str
    max_rows: int
    """The declared bound, which only `auto` looks at: larger tables have more rows near the threshold."""
    wanted: NoiseName = "auto"

    @property
    def name(self) -> Literal["lomax", "laplace", "inverse"]:
        """`auto` takes Lomax where the deviation it expects is below that of Laplace.

        It expects a smooth bound of (digits of max_rows + 1)/2 times the least there can be: 1.5 times for 50 rows, 3 for
        ten thousand, 4 for a million, which is what made-up tables of one to ten columns had. A guess from public things, never a look.
        """
        if self.wanted != "auto":
            return self.wanted
        lomax = self._lomax.deviation(self.expected_bound)
        return "lomax" if lomax < float(self._laplace.scale) * math.sqrt(2) else "laplace"

    @property
    def expected_bound(self) -> Fraction:
        """The smooth bound that a table of this size is expected to have; see `name`."""
        return min(Fraction(len(str(self.max_rows)) + 1, 2) * self.floor, Fraction(self.cap))

    @property
    def cap(self) -> int:
        return global_sensitivity(self.dimension, self.k, self.neighbours)

    @property
    def guarantee(self) -> PureDP:
        if self.name == "laplace":
            return self._laplace.guarantee(distance=self.cap, neighbours=self.neighbours)
        return self._lomax.guarantee(neighbours=self.neighbours)

    @cached_property
    def floor(self) -> Fraction:
        """The smooth bound of the calmest table there can be."""
        return self._lomax.smooth(Profile(bounds=self._least, cap=self.cap))

    @cached_property
    def horizon(self) -> int:
        """How many bounds of a profile are worth computing; 0 where the noise does not look at the rows."""
        if self.name == "laplace":
            return 0
        if self.name == "lomax":
            return self._lomax.horizon(self.cap, self._least)
        return min(len(self._least), math.ceil(2 / self.epsilon * (math.ceil(math.log(self.cap)) + 12)))

    @property
    def _least(self) -> tuple[int, ...]:
        """U_t of a table in which no row is near the threshold, as far as it can matter."""
        enough = math.ceil((math.log(self.cap) + 2) / self._lomax.beta)
        return tuple(bound(0, t, self.neighbours) for t in range(min(self.cap, enough, LONGEST)))

    @cached_property
    def _lomax(self) -> Lomax:
        return Lomax(epsilon=self.epsilon)

    @cached_property
    def _laplace(self) -> DiscreteLaplace:
        return DiscreteLaplace(scale=self.cap / self.epsilon)

    def mechanism(self) -> dict[str, str]:
        """`name` and the public constants, for a price."""
        if self.name == "laplace":
            return {"name": "discrete-laplace", "scale": shown(self._laplace.scale)}
        if self.name == "lomax":
            return {"name": "lomax", "beta": shown(self._lomax.beta), "tail": "8", "cap": str(self.cap)}
        return {"name": "inverse-sensitivity", "exponent": shown(self.epsilon / 2), "cap": str(self.cap)}

    def margins(self, miss: Fraction = MISS) -> tuple[int, int | None]:
        """±rows that all but `miss` of the answers keep: on the calmest table, and on any table where the cap says so."""
        if self.name == "laplace":
            reach = self._laplace.reach(miss=miss)
            return reach, reach
        if self.name == "lomax":
            return self._lomax.reach(self.floor, miss=miss), self._lomax.reach(self.cap, miss=miss)
        return self._inverse_reach(miss), None

    def _inverse_reach(self, miss: Fraction) -> int:
        """On the calmest table, far from both ends of the range."""
        weights, reach, width = [1.0], [0], 0
        for j in range(1, min(math.ceil(100 / self.epsilon), 5 * LONGEST)):
            step = min(bound(0, j - 1, self.neighbours), self.cap)
            width += step
            weights.append(2 * step * math.exp(-float(self.epsilon) / 2 * j))
            reach.append(width)
        outside = sum(weights) * float(miss)
        tail = 0.0
        for weight, far in zip(reversed(weights), reversed(reach), strict=True):
            tail += weight
            if tail > outside:
                return far
        return 0

    def seen(self, profile: Profile | None) -> dict[str, str]:
        """For the owner alone: how much noise this table gets."""
        if profile is None:
            return {"standard deviation of the noise": f"{float(self._laplace.scale) * math.sqrt(2):.1f}"}
        if self.name == "inverse":
            return {"furthest one row can move the count": str(profile[0])}
        bound = self._lomax.smooth(profile)
        return {
            "furthest one row can move the count": str(profile[0]),
            "smooth bound": f"{float(bound):.2f}",
            "standard deviation of the noise": f"{self._lomax.deviation(bound):.1f}",
        }

    def draw(self, count: int, profile: Profile | None, most: int, entropy: Entropy) -> int:
        """The noisy count in 0 … most; `profile` is None exactly for noise that does not look at the rows."""
        if profile is None:
            noisy = self._laplace(count, entropy)
        elif self.name == "inverse":
            noisy = InverseSensitivity(epsilon=self.epsilon, most=most)(count, profile, entropy)
        else:
            noisy = self._lomax(count, profile, entropy)
        return min(max(noisy, 0), most)
