"""Rows near the record in every context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import Distance
from wallflower.explain.asked import Asked
from wallflower.explain.cube import over_contexts, total_in


class DistanceValidity:
    """From how many rows each context has, and how many of them are near."""

    def __init__(self, asked: Asked, detector: Distance) -> None:
        self.asked, self.detector = asked, detector
        near = asked.codes[np.abs(asked.shifted) <= detector.reach(asked.step)]
        self.near = np.bincount(near, minlength=asked.counts.size).reshape(asked.space.shape)

    def margins(self) -> NDArray[np.int64]:
        """`Distance.margin` of every context."""
        share = self.detector.share
        near = over_contexts(self.near, self.asked.space.own) - 1  # the record itself is near and is not another
        return np.asarray(share.numerator * self.asked.population - share.denominator * near)

    def every(self) -> NDArray[np.bool_]:
        return (self.margins() > 0) & (self.asked.population >= self.asked.least)

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        share = self.detector.share
        sizes = self.asked.some_population(indices)
        near = total_in(self.near.ravel(), self.asked.space.cells, self.asked.space.patterns(indices)) - 1
        return np.asarray((share.numerator * sizes - share.denominator * near > 0) & (sizes >= self.asked.least))
