"""The correction server of the 2017 paper (Figure 2, steps 3 and 5). Only the `paper` protocol has one.

It knows messages and nothing else of `stream`. There is no differential privacy towards it: a difference below −s proves
a radius above s, and together with the analyst it can compute every radius. tests/stream/test_attacks.py does.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wallflower.stream.messages import Candidates, Corrected, Differences, Message, Presumed, Receipt, Threshold, Window


@dataclass
class _OpenWindow:
    """What has been heard about one window so far."""

    differences: NDArray[np.float64] | None = None
    presumed: NDArray[np.bool_] | None = None
    candidates: Candidates | None = None


@dataclass
class Corrector:
    """Holds the differences of open windows and answers the analyst; a window is forgotten at its receipt."""

    stream: bytes
    outlier_width: float
    """w_O, the width of the outlier layer in scaled units."""
    most_open: int = 4096
    """When more windows are open the oldest is forgotten; the sensor sends it again."""
    dropped: Counter[str] = field(default_factory=Counter)
    _open: OrderedDict[tuple[str, str, int], _OpenWindow] = field(default_factory=OrderedDict)

    def receive(self, message: Message) -> list[Message]:
        if message.window.stream != self.stream:
            self.dropped["foreign"] += 1
            return []
        key = message.window.key
        if isinstance(message, Receipt):
            self._open.pop(key, None)
            return []
        state = self._open.setdefault(key, _OpenWindow())
        while len(self._open) > self.most_open:
            self._open.popitem(last=False)
        if isinstance(message, Differences):
            state.differences = message.differences
        elif isinstance(message, Presumed):
            state.presumed, state.candidates = message.outliers, None
        elif isinstance(message, Candidates):
            state.candidates = message
        else:
            self.dropped["foreign"] += 1
            return []
        return self._answer(message.window, state)

    def _answer(self, window: Window, state: _OpenWindow) -> list[Message]:
        differences, presumed = state.differences, state.presumed
        if differences is None or presumed is None:
            return []
        candidates = state.candidates
        if len(differences) != len(presumed) or (candidates and len(candidates.second) != len(presumed)):
            self.dropped["foreign"] += 1
            return []
        if not presumed.any():
            return [_nothing(window, presumed)]
        true_positives, inner = split(differences, presumed)
        outer = inner + self.outlier_width
        if candidates is None:
            return [Threshold(window=window, inner=inner, outer=outer)]
        first, second, third = false_negatives(differences, presumed, candidates, inner, outer)
        return [Corrected(window=window, true_positives=true_positives, first=first, second=second, third=third)]


def split(differences: NDArray[np.float64], presumed: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], float]:
    """TP, the presumed outliers below the widest gap of d_diff (the first, if several are as wide), and d_TP.

    One presumed outlier is a true positive; at least one is needed.
    """
    places = np.flatnonzero(presumed)
    values = differences[places]
    ordered = np.sort(values)
    last = ordered[int(np.argmax(np.diff(ordered)))] if len(ordered) > 1 else ordered[-1]
    true_positives = np.zeros(len(presumed), dtype=np.bool_)
    true_positives[places[values <= last]] = True
    return true_positives, float(ordered[0])


def false_negatives(
    differences: NDArray[np.float64], presumed: NDArray[np.bool_], candidates: Candidates, inner: float, outer: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """FN_L1, FN_L2 and FN_L3; they overlap when d_TP is below zero, and the output is their union."""
    first = ~presumed & (differences < 0)
    second = candidates.second & (differences >= 0) & (differences <= inner)
    third = candidates.third & (differences >= inner) & (differences <= outer)
    return first, second, third


def _nothing(window: Window, presumed: NDArray[np.bool_]) -> Corrected:
    none = np.zeros(len(presumed), dtype=np.bool_)
    return Corrected(window=window, true_positives=none, first=none, second=none, third=none)
