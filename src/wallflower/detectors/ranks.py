"""What `iqr` and `mad` share: deciding all contexts from the ranks of their values."""

from __future__ import annotations

import os

import numpy as np

from wallflower.detectors.contexts import EVERY, Batch, Contexts, Flags

TEAMS = 2 * (os.cpu_count() or 1)
"""Pieces of parallel work, each with running counts of its own."""


class RankDecider:
    """By bisection on running counts. `top` and `bottom` are whole numbers: the detector's constant as a quotient."""

    def __init__(self, contexts: Contexts, *, top: int, bottom: int, fences: bool) -> None:
        self.contexts, self._constants = contexts, (top, bottom, fences)
        entries = contexts.entries(EVERY)
        cells = np.flatnonzero(entries.same.ravel())
        values = np.concatenate([-entries.below.gaps, np.zeros(len(cells), np.int64), entries.above.gaps])
        self._copies = np.concatenate([entries.below.copies, entries.same.ravel()[cells], entries.above.copies])
        self._words = np.concatenate([entries.below.words, contexts.words.ravel()[cells], entries.above.words])
        self._axis, self._places = np.unique(values, return_inverse=True)

    def valid(self, batch: Batch) -> Flags:
        from wallflower.detectors.ranks_kernels import ranked_runs

        valid = np.zeros(len(batch.words), dtype=np.bool_)
        near = (self._words & ~np.bitwise_or.reduce(batch.words)) == 0
        small = int(self._copies.sum()) < 2**31
        if near.any():
            ranked_runs(
                self._axis,
                self._places[near],
                self._copies[near],
                self._words[near],
                batch.words,
                batch.run,
                batch.population,
                self.contexts.least,
                *self._constants,
                TEAMS,
                np.zeros(0, np.int32 if small else np.int64),
                valid,
            )
        return valid
