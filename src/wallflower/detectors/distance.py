"""A value with few others near it (Knorr and Ng 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Written
from wallflower.detectors.contexts import EVERY, Batch, Contexts, Decider, Flags, Ints, Robustness, Scorer
from wallflower.detectors.registry import register
from wallflower.errors import DeclarationError
from wallflower.schema.exact import brief
from wallflower.schema.fields import Exact


@register("distance")
@dataclass(frozen=True, kw_only=True)
class Distance(Written):
    """The value stands out when fewer than `p`·N of the others lie within `radius`; N counts every value, its own included.

    >>> Distance(p="0.2", radius=5).stands_out(np.array([10, 11, 12, 12, 13, 60]), 60, step=Fraction(1))
    True
    """

    per_side: ClassVar[int] = 0  # counts decide; no value is asked for

    p: Exact = Exact()
    """Share of the values, between 0 and 1."""
    radius: Exact = Exact()
    """How near is near, in the metric's own units."""

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise DeclarationError.of(self, "p", "between 0 and 1", brief(self.p))
        if self.radius < 0:
            raise DeclarationError.of(self, "radius", "at least 0", brief(self.radius))

    @property
    def share(self) -> Fraction:
        return self.p

    def largest(self, span: int, rows: int) -> int:
        """A bound on the whole numbers that deciding computes, for values `span` steps apart."""
        return rows * self.share.denominator

    def reach(self, step: Fraction) -> int:
        """The radius in whole steps; no two values are further apart than a machine word can say."""
        return min(int(self.radius / step), EVERY)

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        near = sum(abs(int(y) - value) <= self.reach(step) for y in values) - 1
        return self.margin(len(values), near) > 0

    def margin(self, size: int, near: int) -> int:
        """p·N − (others within the radius), times the denominator of p; above 0 when the value stands out."""
        return self.share.numerator * size - self.share.denominator * near

    def decider(self, contexts: Contexts) -> Decider:
        reach = self.reach(contexts.step)
        return Margins(contexts, self.share, contexts.between(-reach, reach))

    def robustness(self, least: int) -> Robustness:
        return margin_robustness(self.share, least)

    def scorer(self, contexts: Contexts, cap: int) -> Scorer:
        reach = self.reach(contexts.step)
        return Margins(contexts, self.share, contexts.between(-reach, reach), cap=cap)


def margin_robustness(share: Fraction, least: int) -> Robustness:
    """A row is near the record or it is not, whatever the context: it moves all margins the same way (robust.md)."""
    unit = max(share.numerator, share.denominator - share.numerator)
    return Robustness(unit=unit, replaced=share.denominator, monotone=least <= 1)


class Margins:
    """share·N − (rows near), times the share's denominator, from how many rows each context has and how many of them are near.

    The record itself is near; it counts only where `itself` says so. Scores below −`cap` all count alike.
    """

    def __init__(
        self, contexts: Contexts, share: Fraction, near: Ints, *, itself: bool = False, cap: int = EVERY
    ) -> None:
        self.contexts, self.share, self.near, self._itself, self._cap = contexts, share, near, itself, cap

    def margins(self, batch: Batch) -> Ints:
        rows, near = batch.population, batch.over(self.near) - (0 if self._itself else 1)
        if int(rows.max(initial=0)) * self.share.denominator < EVERY:
            return np.asarray(self.share.numerator * rows - self.share.denominator * near)
        # More rows than are declared: what would leave 64 bits counts as much as fits, and no row moves that by more.
        wide = self.share.numerator * rows.astype(object) - self.share.denominator * near.astype(object)
        return np.asarray(np.clip(wide, -EVERY, EVERY), dtype=np.int64)

    def valid(self, batch: Batch) -> Flags:
        return (self.margins(batch) > 0) & (batch.population >= self.contexts.least)

    def scores(self, batch: Batch) -> Ints:
        """The margin, and a least population as part of it: there is no other test of validity."""
        margins = self.margins(batch)
        if self.contexts.least <= 1:
            return margins
        unit = margin_robustness(self.share, self.contexts.least).unit
        # As many rows short as reach −cap are enough: for all of a huge least population, unit times them would leave 64 bits.
        short = np.clip(batch.population - self.contexts.least + 1, -self._cap // unit, EVERY // unit)
        return np.asarray(np.minimum(margins, unit * short))
