"""Which noise a count gets, by public things alone, and what error that means before any row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from wallflower.count.profiles import REPLACE_ONE, of_people
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
    """The declared bound: `auto` looks at it, since larger tables have more rows near the threshold, and what is loaded to count."""
    wanted: NoiseName = "auto"
    rows: int | None = None
    """At most so many rows of a person come or go together, and the promise is about a person; None: it is about a row."""

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

    @cached_property
    def row_cap(self) -> int:
        """The most that one row can move the count."""
        return global_sensitivity(self.dimension, self.k, self.neighbours)

    @property
    def _together(self) -> int:
        return self.rows or 1

    @property
    def cap(self) -> int:
        """The most that all rows of one unit can move the count."""
        return self._together * self.row_cap

    @property
    def guarantee(self) -> PureDP:
        if self.name == "laplace":
            promise = self._laplace.guarantee(distance=self.cap, neighbours=self.neighbours)
        else:
            promise = self._lomax.guarantee(neighbours=self.neighbours)
        return promise if self.rows is None else promise.about("person")

    @cached_property
    def floor(self) -> Fraction:
        """The smooth bound of the calmest table there can be."""
        return self._lomax.smooth(Profile(bounds=self._least, cap=self.cap))

    @cached_property
    def horizon(self) -> int:
        """How many bounds of a row's profile are worth computing, whole people of them; 0 where the noise does not look at the rows."""
        if self.name == "laplace":
            return 0
        if self.name == "lomax":
            return self._together * self._lomax.horizon(self.cap, self._least)
        enough = math.ceil(2 / self.epsilon * (math.ceil(math.log(self.cap)) + 12))
        return self._together * min(len(self._least), enough)

    @property
    def _least(self) -> tuple[int, ...]:
        """The profile of a table in which no row is near the threshold, as far as it can matter."""
        enough = math.ceil((math.log(self.cap) + 2) / self._lomax.beta)
        ends = -(-self.row_cap // self._together), enough, LONGEST // self._together
        return tuple(self._calmest(t) for t in range(min(ends)))

    def _calmest(self, t: int) -> int:
        """How far the count of the calmest table can move with one unit more, t units away."""
        return self._calm_sum((t + 1) * self._together) - self._calm_sum(t * self._together)

    def _calm_sum(self, rows: int) -> int:
        """U_0 + … + U_{rows−1} of that table: U_t is max(1, t), or t + 1 under replace-one, and at most the cap."""
        ahead = 1 if self.neighbours == REPLACE_ONE else 0
        rising = min(rows, self.row_cap - ahead)
        first = 1 if rising and not ahead else 0
        return rising * (rising - 1) // 2 + ahead * rising + first + (rows - rising) * self.row_cap

    def of_unit(self, profile: Profile) -> Profile:
        """What the noise is drawn for, from the profile of one row."""
        return profile if self.rows is None else of_people(profile, self.rows)

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
            before, width = width, self._calm_sum(j * self._together)  # as far as j units move the calmest table
            weights.append(2 * (width - before) * math.exp(-float(self.epsilon) / 2 * j))
            reach.append(width)
        outside = sum(weights) * float(miss)
        tail = 0.0
        for weight, far in zip(reversed(weights), reversed(reach), strict=True):
            tail += weight
            if tail > outside:
                return far
        return 0

    def seen(self, profile: Profile | None) -> dict[str, str]:
        """For the owner alone: how much noise this table gets, from the profile of one row."""
        if profile is None:
            return {"standard deviation of the noise": f"{float(self._laplace.scale) * math.sqrt(2):.1f}"}
        profile = self.of_unit(profile)
        furthest = {f"furthest one {'row' if self.rows is None else 'person'} can move the count": str(profile[0])}
        if self.name == "inverse":
            return furthest
        bound = self._lomax.smooth(profile)
        return {
            **furthest,
            "smooth bound": f"{float(bound):.2f}",
            "standard deviation of the noise": f"{self._lomax.deviation(bound):.1f}",
        }

    def draw(self, count: int, profile: Profile | None, most: int, entropy: Entropy) -> int:
        """The noisy count in 0 … most; `profile` is that of one row, and None exactly for noise that does not look at the rows."""
        if profile is None:
            noisy = self._laplace(count, entropy)
        elif self.name == "inverse":
            noisy = InverseSensitivity(epsilon=self.epsilon, most=most)(count, self.of_unit(profile), entropy)
        else:
            noisy = self._lomax(count, self.of_unit(profile), entropy)
        return min(max(noisy, 0), most)
