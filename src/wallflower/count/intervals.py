"""An interval for a Lomax count that is as narrow as its own table allows, bought with some budget of its own.

The noise of a Lomax count is the smooth bound S of its table times something known; S is private, so that the free interval is drawn for
the largest S there could be. Here a noisy upper rung of S is released too (`mechanisms.noisy_scale`), and the interval is drawn for that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from wallflower.count.noise import MISS, Noise
from wallflower.errors import DeclarationError, UsageError
from wallflower.mechanisms.lomax import Lomax
from wallflower.mechanisms.noisy_scale import NoisyScale
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import PureDP
from wallflower.schema.exact import shown
from wallflower.schema.fields import MaybeEpsilon

SHARE = Fraction(2, 5)
"""`auto` buys the interval with this share of the count's ε: two sevenths of the whole, near the best split at every number of columns, k and
ε that was tried."""


class IntervalEpsilon(MaybeEpsilon):
    """A field that also takes "auto": that share of the field `epsilon`, which comes before it."""

    def __set__(self, instance: object, value: str | int | Fraction | None) -> None:
        super().__set__(instance, SHARE * instance.__dict__["epsilon"] if value == "auto" else value)


@dataclass(frozen=True, kw_only=True)
class NarrowInterval:
    """The interval of one Lomax count, fixed by public things but for one draw."""

    noise: Noise
    epsilon: Fraction
    """What the interval costs, beside the count."""

    def __post_init__(self) -> None:
        if self.noise.name != "lomax":
            free = "has an interval of its own, for nothing" if self.noise.name == "laplace" else "has no interval"
            raise UsageError(
                f"an interval is bought for lomax noise only; this question gets {self.noise.name}, which {free}.",
                hint="Leave the interval's epsilon out, or ask for lomax noise.",
            )
        try:
            _ = self.stretch
        except DeclarationError:
            raise UsageError(
                f"no interval can be bought at an epsilon of {shown(self.epsilon)} beside {shown(self.noise.epsilon)}: it would be "
                "wider than the free one.",
                hint="Give both more, or leave the interval's epsilon out.",
            ) from None

    @cached_property
    def lomax(self) -> Lomax:
        return Lomax(epsilon=self.noise.epsilon)

    @cached_property
    def scale(self) -> NoisyScale:
        return NoisyScale(floor=self.noise.floor, cap=self.noise.cap, beta=self.lomax.beta, epsilon=self.epsilon)

    @cached_property
    def stretch(self) -> Fraction:
        return self.scale.stretch(miss=MISS)

    @property
    def guarantee(self) -> PureDP:
        """Of the interval alone; the count's own comes on top."""
        promise = self.scale.guarantee(neighbours=self.noise.neighbours)
        return promise if self.noise.rows is None else promise.about("person")

    def reach(self, scale: Fraction) -> int:
        """Half the interval's width where the released scale is this: the noise is within it, 19 times out of 20."""
        return max(0, math.ceil(self.stretch * scale / self.lomax.sigma - Fraction(1, 2)))

    def draw(self, profile: Profile, entropy: Entropy) -> int:
        """`profile` is that of one row, as the count's noise takes it."""
        return self.reach(self.scale(self.lomax.smooth(self.noise.of_unit(profile)), entropy))

    def typical(self, bound: Fraction) -> int:
        """The mean of `reach` on a table with this smooth bound, where no interval is wider than the range of answers."""
        unit = self.stretch * self.noise.floor / self.lomax.sigma
        base = math.log(unit.numerator) - math.log(unit.denominator) - 64 * math.log(2)
        widest = math.log(self.noise.max_rows)
        chances = self.scale.chances(self.scale.rung(bound))
        # By logarithms: at a large epsilon the upper rungs are beyond what a double holds.
        reaches = (math.exp(min(base + math.log(rung), widest)) for rung in self.scale.rungs)
        mean = math.fsum(chance * reach for chance, reach in zip(chances, reaches, strict=True))
        return min(math.ceil(mean), self.noise.max_rows)

    @cached_property
    def expected(self) -> tuple[int, int]:
        """±rows on the calmest table, and where the smooth bound is what `auto` expects of so many rows."""
        return self.typical(self.noise.floor), self.typical(self.noise.expected_bound)

    @cached_property
    def otherwise(self) -> int:
        """The narrowest interval that the whole budget would buy without this: Laplace's, or Lomax's own, which is for the worst table."""
        whole = self.noise.epsilon + self.epsilon
        return min(
            reach
            for name in ("laplace", "lomax")
            if (reach := replace(self.noise, epsilon=whole, wanted=name).margins()[1]) is not None
        )

    @property
    def worth_it(self) -> bool:
        """A public rule: narrower, where the table is what `auto` expects, than anything else for the same budget."""
        return self.expected[1] < self.otherwise

    def mechanism(self) -> dict[str, str]:
        return {
            "interval": "noisy-scale",
            "interval_scale": shown(1 / self.epsilon),
            "interval_rungs": str(len(self.scale.rungs)),
            "interval_stretch": shown(self.stretch),
        }

    def advice(self) -> str:
        best, usual = self.expected
        said = (
            f"The interval costs {shown(self.epsilon)}: about ±{best} rows on the calmest table, ±{usual} where the table is what its size "
            f"suggests; the same budget without it would give ±{self.otherwise} on every table."
        )
        return said if self.worth_it else f"{said} It is not worth its price here."


def advised(noise: Noise) -> str | None:
    """The sentence a price adds where an interval would be worth buying and was not asked for."""
    if noise.name != "lomax":
        return None
    try:
        interval = NarrowInterval(noise=noise, epsilon=SHARE * noise.epsilon)
    except UsageError:
        return None
    if not interval.worth_it:
        return None
    return (
        f"A narrow interval can be bought: with an interval epsilon of {shown(interval.epsilon)} it is about ±{interval.expected[1]} rows where the "
        f"table is what its size suggests, instead of ±{noise.margins()[1]}."
    )
