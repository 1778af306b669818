"""Grubbs' test in every context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import Grubbs
from wallflower.detectors.grubbs import LEAST, SCALE_BITS
from wallflower.explain.asked import Asked, extremes
from wallflower.explain.cube import over_contexts

CLOSE = 1e-12
"""Relative distance within which a comparison of doubles is repeated in whole numbers."""


class GrubbsValidity:
    """From N, Σz and Σz² of each context. Doubles decide all but the close calls, which are repeated in whole numbers."""

    def __init__(self, asked: Asked, detector: Grubbs) -> None:
        self.asked, self.detector = asked, detector
        self.cells = asked.cells
        self.squares = self.cells.squares.astype(np.float64)
        self.lowest, self.highest = extremes(asked)

    def every(self) -> NDArray[np.bool_]:
        own = self.asked.space.own
        if self.asked.totals is None:
            return self._exactly(np.arange(self.asked.space.count))
        sizes = self.asked.population
        totals, squares = over_contexts(self.asked.totals, own), over_contexts(self.squares, own)
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
        return np.array([self._one(int(index)) for index in indices], dtype=np.bool_)

    def _one(self, index: int) -> bool:
        size, total, squares = self.asked.state(index)
        if size < self.asked.least or not self.detector.exceeds(size, total, squares):
            return False
        if not self.detector.argmax:
            return True
        inside = (self.asked.space.cells & ~self.asked.space.patterns(np.array([index]))[0]) == 0
        lowest, highest = self.lowest.ravel()[inside].min(), self.highest.ravel()[inside].max()
        return self.detector.furthest(size, total, int(lowest), int(highest))
