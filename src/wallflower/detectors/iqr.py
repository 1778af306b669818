"""Tukey's fences: a value far outside the middle half of the others (Tukey 1977)."""

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

MOST_FACTOR = 10**6


@register("iqr")
@dataclass(frozen=True, kw_only=True)
class IQR(Written):
    """The value stands out when it lies more than `factor` times Q3 − Q1 below Q1 or above Q3.

    Quartiles are those of numpy, pandas and spreadsheets: rank (N − 1)/4 and 3(N − 1)/4 counted from 0, straight lines between ranks. Their
    quadruples are whole numbers, so every comparison is exact. Where the middle half is one value, any other value stands out.

    >>> IQR().stands_out(np.array([1, 2, 2, 3, 3, 4, 9]), 9, step=Fraction(1))
    True
    """

    per_side: ClassVar[int] = EVERY  # ranks decide, and every value has one

    factor: Exact = Exact("1.5")
    """Tukey's 1.5; 3 is his "far out"."""

    def __post_init__(self) -> None:
        if not 0 < self.factor <= MOST_FACTOR:
            raise DeclarationError.of(self, "factor", f"above 0 and at most {MOST_FACTOR}", brief(self.factor))

    def largest(self, span: int, rows: int) -> int:
        """A bound on the whole numbers that deciding computes, for values `span` steps apart."""
        return max(4 * span * (self.factor.numerator + self.factor.denominator) * 2, rows)

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        first, third = quarter(values, len(values) - 1), quarter(values, 3 * (len(values) - 1))
        reach = self.factor * (third - first)
        return 4 * value > third + reach or 4 * value < first - reach

    def decider(self, contexts: Contexts) -> Decider:
        return RankDecider(contexts, top=self.factor.numerator, bottom=self.factor.denominator, fences=True)

    def robustness(self, least: int) -> Robustness:
        return SHIFTS

    def scorer(self, contexts: Contexts, cap: int) -> Scorer:
        return RankScorer(contexts, cap, top=self.factor.numerator, bottom=self.factor.denominator, fences=True)


def quarter(values: NDArray[np.int64], quarters: int) -> int:
    """Four times the value at rank `quarters`/4 of ascending values."""
    rank, rest = divmod(quarters, 4)
    after = int(values[rank + 1]) if rest else 0
    return (4 - rest) * int(values[rank]) + rest * after
