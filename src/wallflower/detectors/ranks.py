"""What `iqr` and `mad` share: deciding and scoring all contexts from the ranks of their values."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.contexts import EVERY, Batch, Contexts, Flags, Ints, Robustness

TEAMS = 2 * (os.cpu_count() or 1)
"""Pieces of parallel work, each with running counts of its own."""

SHIFTS = Robustness(unit=1, replaced=2, monotone=False)
"""One row shifts every rank by at most one (../explain/robust.md); of two contexts one may then score more and the other less."""


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
        small = int(self._copies.sum()) < 2**31
        self._counts: NDArray[Any] = np.zeros(0, np.int32 if small else np.int64)

    def valid(self, batch: Batch) -> Flags:
        from wallflower.detectors.ranks_kernels import ranked_runs

        valid = np.zeros(len(batch.words), dtype=np.bool_)
        near = self._near(batch)
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
                self._counts,
                valid,
            )
        return valid

    def _near(self, batch: Batch) -> Flags:
        """Which entries are in some context of the batch."""
        return np.asarray((self._words & ~np.bitwise_or.reduce(batch.words)) == 0)


class RankScorer(RankDecider):
    """How many places ranks may shift before the record no longer stands out; the least population is part of it."""

    def __init__(self, contexts: Contexts, cap: int, *, top: int, bottom: int, fences: bool) -> None:
        super().__init__(contexts, top=top, bottom=bottom, fences=fences)
        self._cap = cap

    def scores(self, batch: Batch) -> Ints:
        from wallflower.detectors.rank_shifts_kernels import shifted_runs

        shifts = np.zeros(len(batch.words), dtype=np.int64)
        near = self._near(batch)
        if near.any():
            shifted_runs(
                self._axis,
                self._places[near],
                self._copies[near],
                self._words[near],
                batch.words,
                batch.run,
                batch.population,
                self.contexts.reach,
                *self._constants,
                self._cap,
                TEAMS,
                self._counts,
                shifts,
            )
        return np.minimum(shifts, np.maximum(batch.population - self.contexts.least + 1, 0))
