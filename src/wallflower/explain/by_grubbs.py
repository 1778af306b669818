"""Grubbs' test in every context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import Grubbs
from wallflower.detectors.grubbs import LEAST, SCALE_BITS
from wallflower.explain.asked import Asked
from wallflower.explain.cube import over_contexts

CLOSE = 1e-12
"""Relative distance within which a comparison of doubles is repeated in whole numbers."""


class GrubbsValidity:
    """From N, Σz and Σz² of each context. Doubles decide all but the close calls, which are repeated in whole numbers."""

    def __init__(self, asked: Asked, detector: Grubbs) -> None:
        self.asked, self.detector = asked, detector
        self.cells = asked.rows.cells(asked.space.columns, asked.metric, asked.centre)
        self.totals = self.cells.totals.astype(np.int64)
        self.squares = self.cells.squares.astype(np.float64)
        empty = self.cells.counts == 0
        far = np.iinfo(np.int64).max
        self.lowest = np.where(empty, far, self.cells.least - asked.centre)
        self.highest = np.where(empty, -far, self.cells.most - asked.centre)

    def every(self) -> NDArray[np.bool_]:
        own = self.asked.space.own
        sizes = over_contexts(self.cells.counts, own)
        totals, squares = over_contexts(self.totals, own), over_contexts(self.squares, own)
        valid, close = self._compare(sizes, totals, squares)
        if self.detector.argmax:
            lowest, highest = over_contexts(self.lowest, own, np.minimum), over_contexts(self.highest, own, np.maximum)
            # 0 is furthest from a positive mean S/N when nothing is below 0 and N·most ≤ 2S; mirrored for a negative one.
            reach = np.where(totals > 0, highest, -lowest).astype(np.float64) * sizes
            one_sided = np.where(totals > 0, lowest >= 0, highest <= 0)
            bound = 2.0 * np.abs(totals)
            close |= (valid & one_sided) & (np.abs(reach - bound) <= CLOSE * bound)
            valid &= one_sided & (reach <= bound)
        valid[close] = self._exactly(np.flatnonzero(close))
        return valid

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        return self._exactly(indices)

    def _compare(
        self, sizes: NDArray[np.int64], totals: NDArray[np.int64], squares: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        populous = sizes >= max(LEAST, self.asked.least)
        top = int(sizes.max(initial=LEAST))
        if top < 2**22:
            table = np.zeros(top + 1, dtype=np.int64)
            table[LEAST:] = self.detector.critical(np.arange(LEAST, top + 1))
            kappa = table[sizes]
        else:
            kappa = self.detector.critical(np.maximum(sizes, LEAST))
        limit = np.asarray(kappa * 2.0**-SCALE_BITS, dtype=np.float64)
        limit *= squares
        reached = totals.astype(np.float64)
        reached *= reached
        valid = (reached > limit) & populous
        close = (np.abs(reached - limit) <= CLOSE * limit) & populous & (squares > 0)
        return valid, close

    def _exactly(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = np.zeros(len(indices), dtype=np.bool_)
        counts, cells = self.cells.counts.ravel(), self.asked.space.cells
        for place, word in enumerate(self.asked.space.patterns(indices)):
            inside = ((cells & ~word) == 0) & (counts > 0)
            size = int(counts[inside].sum())
            if size < max(LEAST, self.asked.least):
                continue
            total, squares = sum(self.cells.totals.ravel()[inside]), sum(self.cells.squares.ravel()[inside])
            found[place] = self.detector.exceeds(size, total, squares) and (
                not self.detector.argmax
                or self.detector.furthest(
                    size, total, int(self.lowest.ravel()[inside].min()), int(self.highest.ravel()[inside].max())
                )
            )
        return found
