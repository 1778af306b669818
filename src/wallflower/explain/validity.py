"""In which contexts does the record stand out? Exact for every detector: by its own fast path, or one context at a time."""

from __future__ import annotations

import numpy as np

from wallflower.detectors.base import Detector
from wallflower.detectors.contexts import Batch, Decider, Fast, Flags
from wallflower.explain.record_view import RecordView


def decider(view: RecordView, detector: Detector) -> Decider:
    """The fast way to decide `detector`, or the slow one where it has none."""
    return detector.decider(view) if isinstance(detector, Fast) else SlowDecider(view, detector)


class SlowDecider:
    """Hands the filtered, sorted values of each context to a detector."""

    def __init__(self, view: RecordView, detector: Detector) -> None:
        self.view, self.detector = view, detector
        order = np.argsort(view.shifted, kind="stable")
        self.values = view.shifted[order] + view.centre
        self.words = view.words.ravel()[view.codes[order]]

    def valid(self, batch: Batch) -> Flags:
        found = np.zeros(len(batch.words), dtype=np.bool_)
        for place, word in enumerate(batch.words):
            values = self.values[(self.words & ~word) == 0]
            found[place] = len(values) >= self.view.least and self._ask(values)
        return found

    def _ask(self, values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> bool:
        try:
            return bool(self.detector.stands_out(values, self.view.centre, step=self.view.step))
        except Exception:  # noqa: BLE001 - whatever a row makes a user's code do, a release does not fail because of a row
            return False
