"""In which contexts does the record stand out? Exact for every detector, for all contexts or for a few."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import LOF, Detector, Distance, Grubbs, Histogram
from wallflower.explain.asked import Asked
from wallflower.explain.by_distance import DistanceValidity
from wallflower.explain.by_grubbs import GrubbsValidity
from wallflower.explain.by_histogram import HistogramValidity
from wallflower.explain.by_lof import LOFValidity
from wallflower.progress import report

BUILT_IN = (Grubbs, LOF, Histogram, Distance)
"""Detectors that decide all contexts at once."""


class Validity(Protocol):
    """Which contexts are valid: at least `least` rows, and the record stands out in them."""

    def every(self) -> NDArray[np.bool_]:
        """One answer for each index."""
        ...

    def some(self, indices: NDArray[np.int64], /) -> NDArray[np.bool_]: ...


def validity(asked: Asked, detector: Detector) -> Validity:
    """The fast way to decide `detector`, or the slow one for a user's own."""
    if isinstance(detector, Grubbs):
        return GrubbsValidity(asked, detector)
    if isinstance(detector, LOF):
        return LOFValidity(asked, detector)
    if isinstance(detector, Histogram):
        return HistogramValidity(asked, detector)
    if isinstance(detector, Distance):
        return DistanceValidity(asked, detector)
    return SlowValidity(asked, detector)


class SlowValidity:
    """Hands the filtered, sorted values of each context to a user's own detector."""

    def __init__(self, asked: Asked, detector: Detector) -> None:
        self.asked, self.detector = asked, detector
        order = np.argsort(asked.shifted, kind="stable")
        self.values = asked.shifted[order] + asked.centre
        self.words = asked.space.cells[asked.codes[order]]

    def every(self) -> NDArray[np.bool_]:
        return self.some(np.arange(self.asked.space.count))

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        valid = np.zeros(len(indices), dtype=np.bool_)
        for place, word in enumerate(self.asked.space.patterns(indices)):
            values = self.values[(self.words & ~word) == 0]
            if len(values) >= self.asked.least:
                valid[place] = self._ask(values)
            if place % 256 == 255:
                report("contexts", place + 1, len(indices))
        return valid

    def _ask(self, values: NDArray[np.int64]) -> bool:
        try:
            return bool(self.detector.stands_out(values, self.asked.centre, step=self.asked.step))
        except Exception:  # noqa: BLE001 - whatever a row makes a user's code do, a release does not fail because of a row
            return False
