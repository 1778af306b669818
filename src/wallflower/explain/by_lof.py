"""Local outlier factors in every context."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import LOF
from wallflower.explain.asked import Asked, Entries, inside, slices
from wallflower.explain.cube import over_contexts, total_in
from wallflower.progress import report

TEAMS = 4 * (os.cpu_count() or 1)
"""Pieces of parallel work; more than cores, so that a slow piece holds nobody up."""


class LOFValidity:
    """By walking outwards from the record's value, in slices of contexts that share most of their cells."""

    def __init__(self, asked: Asked, detector: LOF) -> None:
        self.asked, self.detector = asked, detector
        self.entries = Entries(asked, 2 * detector.neighbours)

    def every(self) -> NDArray[np.bool_]:
        from wallflower.explain.kernels import lof_slices

        asked = self.asked
        same = over_contexts(self.entries.same, asked.space.own)
        highs, middles, lows = slices(asked.space)
        every_low = np.bitwise_or.reduce(lows) | np.bitwise_or.reduce(middles)
        valid = np.zeros(asked.space.count, dtype=np.bool_)
        width = len(middles) * len(lows)
        for place, word in enumerate(highs):
            here = slice(place * width, (place + 1) * width)
            lof_slices(
                inside(self.entries.below, word | every_low),
                inside(self.entries.above, word | every_low),
                middles | word,
                lows,
                asked.population[here],
                same[here],
                self.detector.neighbours,
                self.detector.limit,
                asked.least,
                TEAMS,
                valid[here],
            )
            report("contexts", (place + 1) * width, asked.space.count)
        return valid

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        from wallflower.explain.kernels import lof_some

        words = self.asked.space.patterns(indices)
        valid = np.zeros(len(indices), dtype=np.bool_)
        same = total_in(self.entries.same.ravel(), self.asked.space.cells, words)
        lof_some(
            self.entries.below,
            self.entries.above,
            words,
            self.asked.some_population(indices),
            same,
            self.detector.neighbours,
            self.detector.limit,
            self.asked.least,
            valid,
        )
        return valid
