"""A value in a nearly empty bar of its histogram."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Written
from wallflower.detectors.contexts import EVERY, Batch, Contexts, Decider, Flags, Ints, Robustness, Scorer, Side
from wallflower.detectors.device import DeviceView, ends
from wallflower.detectors.distance import Margins, margin_robustness
from wallflower.detectors.registry import register
from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.exact import brief
from wallflower.schema.fields import Exact, MaybeEpsilon

RUNGS = (0.001, 0.004, 0.016, 0.06, 0.25, 1.0)
"""Of all entries on a side, nearest first: distances at which the rows of every context are counted."""
NOTHING: tuple[Ints, list[Ints]] = (np.zeros(0, dtype=np.int64), [])
TEAMS = 4 * (os.cpu_count() or 1)
"""Pieces of parallel work."""
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

    @property
    def per_side(self) -> int:
        """Counts decide with public bins; else how many values lie in the record's own bar."""
        return EVERY if self.width is None else 0

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
        return _HistogramDecider(self, contexts) if self.width is None else self._margins(contexts, EVERY)

    @property
    def kernel(self) -> str | None:
        return "histogram" if self.width is None else None

    def device_view(self, contexts: Contexts, squares: NDArray[Any]) -> DeviceView:
        entries = contexts.entries(EVERY)
        return DeviceView(
            stats=(entries.same, *ends(contexts)),
            below=entries.below,
            above=entries.above,
            settings=(self.share.numerator, self.share.denominator),
        )

    def _public(self, value: int, step: Fraction) -> tuple[int, int]:
        """The first number of steps in the public bin of `value`, and the first past it."""
        place = value * step // self._wide
        return math.ceil(place * self._wide / step), math.ceil((place + 1) * self._wide / step)

    @property
    def _wide(self) -> Fraction:
        return self.width or Fraction(1)

    def _margins(self, contexts: Contexts, cap: int) -> Margins:
        low, high = self._public(contexts.centre, contexts.step)
        low, high = max(low - contexts.centre, -EVERY), min(high - contexts.centre, EVERY)
        return Margins(contexts, self.share, contexts.between(low, high - 1), itself=True, cap=cap)

    def robustness(self, least: int) -> Robustness:
        if self.width is None:
            raise UsageError(
                "guarantee 'full' cannot use histogram with bins that span the rows' own range: one row can move every edge.",
                hint="Give public bins, for example histogram(rare=0.0025, width=5000), or ask for 'output-constrained'.",
            )
        return margin_robustness(self.share, least)

    def scorer(self, contexts: Contexts, cap: int) -> Scorer:
        return self._margins(contexts, cap)


class _HistogramDecider:
    """From N, least and largest value of each context, then the rows in the record's own bar, counted until they are too many."""

    def __init__(self, detector: Histogram, contexts: Contexts) -> None:
        self.detector, self.contexts = detector, contexts
        self.entries = contexts.entries(EVERY)
        self._below, self._above = self._rungs(self.entries.below, -1), self._rungs(self.entries.above, 1)

    def _rungs(self, side: Side, sign: int) -> tuple[Ints, list[Ints]]:
        """A few distances on one side, and how many rows of each cell lie within them."""
        shares = [min(int(len(side.gaps) * share), len(side.gaps) - 1) for share in RUNGS] if len(side.gaps) else []
        found = sorted({int(side.gaps[place]) for place in shares}) or [1]
        ends = [sorted((sign, sign * gap)) for gap in found]
        return np.array(found, dtype=np.int64), [self.contexts.between(*end) for end in ends]

    def valid(self, batch: Batch) -> Flags:
        from wallflower.detectors.histogram_kernels import OPEN, RARE, WIDE, judged

        # A few distances settle most contexts of a block; few contexts are quicker walked.
        below, above = (self._below, self._above) if batch.run > 1 else (NOTHING, NOTHING)
        counted = [self.contexts.counts, self.entries.same, *below[1], *above[1]]
        size, share = len(batch.population), self.detector.share
        known, bars = np.empty(size, dtype=np.int8), np.empty((size, 3), dtype=np.int64)
        judged(
            np.stack([batch.over_all_but_last(cells) for cells in counted], axis=-1),
            batch.over_all_but_last(self.contexts.lowest, np.minimum),
            batch.over_all_but_last(self.contexts.highest, np.maximum),
            np.array(batch.last_levels, dtype=np.int64),
            below[0],
            above[0],
            (share.numerator, share.denominator),
            max(1, self.contexts.least),
            TEAMS,
            known,
            bars,
        )
        for place in np.flatnonzero(known == WIDE).tolist():
            bars[place, :2], known[place] = self._wide_bar(batch, place), OPEN
        rare: Flags = known == RARE
        unknown = np.flatnonzero(known == OPEN)
        for begin in range(0, len(unknown), CHUNK):
            here = unknown[begin : begin + CHUNK]
            rare[here] = self._counted(batch, here, bars[here])
        return rare

    def _wide_bar(self, batch: Batch, here: int) -> tuple[int, int]:
        """The reaches of a bar whose edges need more than 64 bits."""
        inside = (self.contexts.words & ~batch.words[here]) == 0
        least, most = int(self.contexts.lowest[inside].min()), int(self.contexts.highest[inside].max())
        low, high = bar(int(batch.population[here]), least, most, 0)
        return -low, high - 1

    def _counted(self, batch: Batch, here: NDArray[np.intp], reaches: Ints) -> Flags:
        """Whether fewer rows than are enough lie in each bar, by walking outwards from the record's value."""
        from wallflower.detectors.histogram_kernels import bars

        words, same = batch.words[here], batch.over(self.entries.same)[here]
        around, found = np.bitwise_or.reduce(words), np.zeros(len(words), dtype=np.bool_)
        below, above = self.entries.below.within(around), self.entries.above.within(around)
        bars(below, above, words, reaches[:, 0], reaches[:, 1], same, reaches[:, 2], found)
        return found


def bar(size: int, least: int, most: int, value: int) -> tuple[int, int]:
    """The first whole number in the bin of `value`, and the first one past it."""
    width = most - least
    if width == 0:
        return least, least + 1
    bins = isqrt(size - 1) + 1  # ⌈√size⌉
    place = min(bins - 1, (value - least) * bins // width)
    low = least - (-place * width // bins)
    return low, most + 1 if place == bins - 1 else least - (-(place + 1) * width // bins)
