"""A value in a nearly empty bar of its histogram."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Written
from wallflower.detectors.contexts import EVERY, Batch, Contexts, Decider, Flags, Ints, Robustness, Scorer, Side
from wallflower.detectors.distance import Margins, margin_robustness
from wallflower.detectors.registry import register
from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.exact import brief
from wallflower.schema.fields import Exact, MaybeEpsilon

RUNGS = (0.001, 0.004, 0.016, 0.06, 0.25, 1.0)
"""Of all entries on a side, nearest first: distances at which the rows of every context are counted."""
CHUNK = 2**14
"""Contexts that share one list of entries."""


@register("histogram")
@dataclass(frozen=True, kw_only=True)
class Histogram(Written):
    """⌈√N⌉ equal bins from the least to the largest value; the value stands out when its bin holds less than `rare`·N.

    Bins are closed on the left and open on the right, the last one closed on both sides, as numpy's; edges are compared as
    whole numbers. When all values are equal there is one bin.

    >>> Histogram(rare="0.3").stands_out(np.array([1, 1, 2, 2, 2, 3, 3, 3, 9]), 9, step=Fraction(1))
    True
    """

    rare: Exact = Exact("0.0025")
    """2.5e-3 is the published rule."""
    width: MaybeEpsilon = MaybeEpsilon()
    """Public bins instead: each from one multiple of this to the next, in the metric's own units."""

    def __post_init__(self) -> None:
        if not 0 < self.rare < 1:
            raise DeclarationError.of(self, "rare", "between 0 and 1", brief(self.rare))

    @property
    def share(self) -> Fraction:
        return self.rare

    def largest(self, span: int, rows: int) -> int:
        """A bound on the whole numbers that deciding computes, for values `span` steps apart."""
        return rows * self.share.denominator

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        if len(values) == 0:
            return False
        if self.width is not None:
            low, high = self._public(value, step)
        else:
            low, high = bar(len(values), int(values[0]), int(values[-1]), value)
        inside = sum(low <= int(y) < high for y in values)
        return inside * self.share.denominator < self.share.numerator * len(values)

    def decider(self, contexts: Contexts) -> Decider:
        return _HistogramDecider(self, contexts) if self.width is None else self._margins(contexts)

    def _public(self, value: int, step: Fraction) -> tuple[int, int]:
        """The first number of steps in the public bin of `value`, and the first past it."""
        place = value * step // self._wide
        return math.ceil(place * self._wide / step), math.ceil((place + 1) * self._wide / step)

    @property
    def _wide(self) -> Fraction:
        return self.width or Fraction(1)

    def _margins(self, contexts: Contexts) -> Margins:
        low, high = self._public(contexts.centre, contexts.step)
        low, high = max(low - contexts.centre, -EVERY), min(high - contexts.centre, EVERY)
        return Margins(contexts, self.share, contexts.between(low, high - 1), itself=True)

    def robustness(self, least: int) -> Robustness:
        if self.width is None:
            raise UsageError(
                "guarantee 'full' cannot use histogram with bins that span the rows' own range: one row can move every edge.",
                hint="Give public bins, for example histogram(rare=0.0025, width=5000), or ask for 'output-constrained'.",
            )
        return margin_robustness(self.share, least)

    def scorer(self, contexts: Contexts, cap: int) -> Scorer:
        return self._margins(contexts)


class _HistogramDecider:
    """From N, least and largest value of each context, then the rows in the record's own bar, counted until they are too many."""

    def __init__(self, detector: Histogram, contexts: Contexts) -> None:
        self.detector, self.contexts = detector, contexts
        self.entries = contexts.entries(EVERY)
        self._below, self._above = self._rungs(self.entries.below, -1), self._rungs(self.entries.above, 1)

    def _rungs(self, side: Side, sign: int) -> list[tuple[int, Ints]]:
        """A few distances on one side, and how many rows of each cell lie within them."""
        if not len(side.gaps):
            return []
        found = sorted({int(side.gaps[min(int(len(side.gaps) * share), len(side.gaps) - 1)]) for share in RUNGS})
        ends = [sorted((sign, sign * gap)) for gap in found]
        return [(gap, self.contexts.between(*end)) for gap, end in zip(found, ends, strict=True)]

    def _bounds(self, batch: Batch, rungs: list[tuple[int, Ints]], reach: Ints) -> tuple[Ints, Ints]:
        """At least and at most so many rows of each context within its reach on one side."""
        least, most = np.zeros_like(reach), np.zeros_like(reach)
        beyond = 1
        for gap, cells in rungs:
            rows = batch.over(cells)
            np.copyto(least, rows, where=reach >= gap)
            np.copyto(most, rows, where=reach >= beyond)  # within this rung, or further: a later one then says how many
            beyond = gap + 1
        return least, most

    def valid(self, batch: Batch) -> Flags:
        from wallflower.detectors.histogram_kernels import bars

        sizes, words = batch.population, batch.words
        populous = sizes >= max(1, self.contexts.least)
        lowest = batch.over(self.contexts.lowest, np.minimum)
        highest = batch.over(self.contexts.highest, np.maximum)
        low, high = _bars(np.maximum(sizes, 1), np.where(populous, lowest, 0), np.where(populous, highest, 0))
        share = self.detector.share
        enough = -(-share.numerator * sizes // share.denominator)  # fewer than share·N is fewer than its ceiling
        same = batch.over(self.entries.same)
        rare = np.zeros(len(words), dtype=np.bool_)
        open_ones = np.flatnonzero(populous)
        if batch.run > 1:  # a few distances settle most contexts of a block; few contexts are quicker walked
            lower = self._bounds(batch, self._below, -low)
            upper = self._bounds(batch, self._above, high - 1)
            rare = same + lower[1] + upper[1] < enough
            open_ones = np.flatnonzero(populous & ~rare & (same + lower[0] + upper[0] < enough))
        for begin in range(0, len(open_ones), CHUNK):
            here = open_ones[begin : begin + CHUNK]
            around, found = np.bitwise_or.reduce(words[here]), np.zeros(len(here), dtype=np.bool_)
            below, above = self.entries.below.within(around), self.entries.above.within(around)
            bars(below, above, words[here], -low[here], high[here] - 1, same[here], enough[here], found)
            rare[here] = found
        return rare & populous


def bar(size: int, least: int, most: int, value: int) -> tuple[int, int]:
    """The first whole number in the bin of `value`, and the first one past it."""
    width = most - least
    if width == 0:
        return least, least + 1
    bins = isqrt(size - 1) + 1  # ⌈√size⌉
    place = min(bins - 1, (value - least) * bins // width)
    low = least - (-place * width // bins)
    return low, most + 1 if place == bins - 1 else least - (-(place + 1) * width // bins)


def _bars(
    sizes: NDArray[np.int64], least: NDArray[np.int64], most: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`bar` of the value 0 for many contexts; those whose products outgrow 64 bits one by one."""
    width = most - least
    bins = np.ceil(np.sqrt(sizes)).astype(np.int64)
    bins += np.where(bins * bins < sizes, 1, 0) - np.where((bins - 1) ** 2 >= sizes, 1, 0)
    safe = np.maximum(width, 1)
    place = np.minimum(bins - 1, -least * bins // safe)
    low = least - (-place * width // bins)
    high = np.where(place == bins - 1, most + 1, least - (-(place + 1) * width // bins))
    low, high = np.where(width == 0, least, low), np.where(width == 0, least + 1, high)
    for here in np.flatnonzero(width > 2**62 // (bins + 1)):
        low[here], high[here] = bar(int(sizes[here]), int(least[here]), int(most[here]), 0)
    return low, high
