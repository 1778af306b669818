"""Deviation from the median in units of the median deviation (Iglewicz and Hoaglin 1993)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Written
from wallflower.detectors.contexts import EVERY, Contexts, Decider, Robustness, Scorer
from wallflower.detectors.ranks import SHIFTS, RankDecider, RankScorer
from wallflower.detectors.registry import register
from wallflower.errors import DeclarationError
from wallflower.schema.exact import brief
from wallflower.schema.fields import Exact

NORMAL = Fraction(6745, 10_000)
"""Of a normal distribution half lies within this many standard deviations of the median: the published constant."""
MOST_THRESHOLD = 10**6


@register("mad")
@dataclass(frozen=True, kw_only=True)
class MAD(Written):
    """The value stands out when its modified z-score, 0.6745·|value − median|/MAD, exceeds `threshold`.

    MAD is the median of the distances from the median; a median of an even number is the mean of the middle two. Twice and four times these are
    whole numbers, and the quotient is compared as a product, so every comparison is exact. Where MAD is 0, any value but the median stands out.

    >>> MAD().stands_out(np.array([1, 2, 2, 3, 3, 4, 19]), 19, step=Fraction(1))
    True
    """

    per_side: ClassVar[int] = EVERY  # ranks decide, and every value has one

    threshold: Exact = Exact("3.5")
    """3.5 is the published rule."""

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= MOST_THRESHOLD:
            raise DeclarationError.of(self, "threshold", f"above 0 and at most {MOST_THRESHOLD}", brief(self.threshold))

    @property
    def _ratio(self) -> Fraction:
        return self.threshold / NORMAL

    def largest(self, span: int, rows: int) -> int:
        """A bound on the whole numbers that deciding computes, for values `span` steps apart."""
        return max(8 * span * (self._ratio.numerator + self._ratio.denominator), rows)

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        twice = twice_median([int(y) for y in values])
        spread = twice_median(sorted(abs(2 * int(y) - twice) for y in values))  # four times MAD
        return 2 * abs(2 * value - twice) > self._ratio * spread

    def decider(self, contexts: Contexts) -> Decider:
        return RankDecider(contexts, top=self._ratio.numerator, bottom=self._ratio.denominator, fences=False)

    def robustness(self, least: int) -> Robustness:
        return SHIFTS

    def scorer(self, contexts: Contexts, cap: int) -> Scorer:
        return RankScorer(contexts, cap, top=self._ratio.numerator, bottom=self._ratio.denominator, fences=False)


def twice_median(ascending: list[int]) -> int:
    return ascending[(len(ascending) - 1) // 2] + ascending[len(ascending) // 2]
