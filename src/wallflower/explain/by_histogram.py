"""Histogram bars in every context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import Histogram
from wallflower.detectors.histogram import bar
from wallflower.explain.asked import Asked, Entries, Side, extremes, inside, slices
from wallflower.explain.cube import over_contexts, total_in
from wallflower.progress import report

ALL = 2**62
"""More distinct values than a cell can hold."""


class HistogramValidity:
    """From N, least and largest value of each context, then the rows in the record's own bar, counted until they are too many."""

    def __init__(self, asked: Asked, detector: Histogram) -> None:
        self.asked, self.detector = asked, detector
        self.entries = Entries(asked, ALL)
        self.lowest, self.highest = extremes(asked)

    def every(self) -> NDArray[np.bool_]:
        space = self.asked.space
        lowest = over_contexts(self.lowest, space.own, np.minimum)
        highest = over_contexts(self.highest, space.own, np.maximum)
        same = over_contexts(self.entries.same, space.own)
        highs, middles, lows = slices(space)
        rest = (middles[:, None] | lows[None, :]).ravel()
        every_low = np.bitwise_or.reduce(rest)
        valid = np.zeros(space.count, dtype=np.bool_)
        for place, word in enumerate(highs):
            here = slice(place * len(rest), (place + 1) * len(rest))
            valid[here] = self._decide(
                rest | word,
                sizes=self.asked.population[here],
                lowest=lowest[here],
                highest=highest[here],
                same=same[here],
                below=inside(self.entries.below, word | every_low),
                above=inside(self.entries.above, word | every_low),
            )
            report("contexts", (place + 1) * len(rest), space.count)
        return valid

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        words, cells = self.asked.space.patterns(indices), self.asked.space.cells
        kept_cells = [(cells & ~word) == 0 for word in words]
        lowest = np.array([self.lowest.ravel()[kept].min() for kept in kept_cells], dtype=np.int64)
        highest = np.array([self.highest.ravel()[kept].max() for kept in kept_cells], dtype=np.int64)
        return self._decide(
            words,
            sizes=self.asked.some_population(indices),
            lowest=lowest,
            highest=highest,
            same=total_in(self.entries.same.ravel(), cells, words),
            below=self.entries.below,
            above=self.entries.above,
        )

    def _decide(
        self,
        words: NDArray[np.uint64],
        *,
        sizes: NDArray[np.int64],
        lowest: NDArray[np.int64],
        highest: NDArray[np.int64],
        same: NDArray[np.int64],
        below: Side,
        above: Side,
    ) -> NDArray[np.bool_]:
        from wallflower.explain.kernels import bars

        populous = sizes >= max(1, self.asked.least)
        low, high = _bars(np.maximum(sizes, 1), np.where(populous, lowest, 0), np.where(populous, highest, 0))
        share = self.detector.share
        enough = -(-share.numerator * sizes // share.denominator)  # fewer than share·N is fewer than its ceiling
        rare = np.zeros(len(words), dtype=np.bool_)
        bars(below, above, words, -low, high - 1, same, enough, rare)
        return rare & populous


def _bars(
    sizes: NDArray[np.int64], least: NDArray[np.int64], most: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`detectors.histogram.bar` of the value 0 for many contexts; those whose products outgrow 64 bits one by one."""
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
