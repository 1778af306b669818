"""Local outlier factors in every context."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import LOF
from wallflower.explain.asked import Asked, Entries, inside, slices
from wallflower.explain.cube import over_contexts, total_in
from wallflower.progress import report

BLOCK = 1024
"""Slices decided together: they share one list of entries, and waking threads pays."""
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
        highs, middles, lows = slices(asked.space)
        same = over_contexts(self.entries.same, asked.space.own).reshape(-1, len(lows))
        population = asked.population.reshape(-1, len(lows))
        first, copy_of = _with_the_same_rows(asked, len(lows))
        valid = np.zeros(population.shape, dtype=np.bool_)
        for begin in range(0, len(first), BLOCK):
            mine = first[begin : begin + BLOCK]
            words = highs[mine // len(middles)] | middles[mine % len(middles)]
            around = np.bitwise_or.reduce(words) | np.bitwise_or.reduce(lows)
            decided = np.zeros(len(mine) * len(lows), dtype=np.bool_)
            lof_slices(
                inside(self.entries.below, around),
                inside(self.entries.above, around),
                words,
                lows,
                population[mine].ravel(),
                same[mine].ravel(),
                self.detector.neighbours,
                self.detector.limit,
                asked.least,
                TEAMS,
                decided,
            )
            valid[mine] = decided.reshape(len(mine), len(lows))
            report("contexts", asked.space.count * min(begin + BLOCK, len(first)) // len(first), asked.space.count)
        return valid[first[copy_of]].ravel()

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


def _with_the_same_rows(asked: Asked, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The slices of `width` contexts that differ in rows, and for each slice its place among them.

    A value with no row in any cell of a slice changes none of its contexts. Real columns are sparse together (few employers
    have every job title), so that many slices are copies.
    """
    words = np.where(asked.counts.ravel() > 0, asked.space.cells, np.uint64(0)).reshape(asked.space.shape)
    used = over_contexts(words, asked.space.own, np.bitwise_or)[width - 1 :: width]  # with every low value in
    _, first, copy_of = np.unique(used, return_index=True, return_inverse=True)
    order = np.argsort(first)  # neighbouring slices share most of their cells
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[copy_of]
