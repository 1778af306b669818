"""LOF as it was decided before: the baseline that the shipped kernels are measured against, and must equal in every context."""

from __future__ import annotations

import numpy as np

from benchmarks.explain.walking_kernels import lof_runs
from wallflower.detectors.lof import TEAMS, _LOFDecider


class Walking(_LOFDecider):
    """By walking outwards from the record's value, context by context."""

    def valid(self, batch):
        words, population, same = batch.words, batch.population, batch.over(self.entries.same)
        first, copy_of = self._with_the_same_rows(batch)
        here = (first[:, None] * batch.run + np.arange(batch.run)).ravel()
        around = np.bitwise_or.reduce(words)
        valid = np.zeros(len(here), dtype=np.bool_)
        lof_runs(
            self.entries.below.within(around),
            self.entries.above.within(around),
            words[here],
            batch.run,
            population[here],
            same[here],
            self.detector.neighbours,
            self.detector.limit,
            self.contexts.least,
            TEAMS,
            valid,
        )
        return valid.reshape(-1, batch.run)[copy_of].ravel()
