"""Valid contexts and their scores, as the searches see them: decided when first asked for, and once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.explain.asked import Asked
from wallflower.explain.utilities import Scores
from wallflower.explain.validity import Validity


class Landscape:
    """The graph of contexts around one record."""

    def __init__(self, asked: Asked, validity: Validity, scores: Scores) -> None:
        self.asked, self._validity, self._scores = asked, validity, scores
        self._known: dict[int, bool] = {}
        self._scored: dict[int, int] = {}

    @property
    def count(self) -> int:
        return self.asked.space.count

    def connected(self, index: int) -> list[int]:
        return self.asked.space.connected(index)

    def valid(self, indices: Sequence[int]) -> list[bool]:
        new = sorted({int(index) for index in indices} - self._known.keys())
        if new:
            decided = self._validity.some(np.array(new, dtype=np.int64))
            self._known.update(zip(new, decided.tolist(), strict=True))
        return [self._known[int(index)] for index in indices]

    def scores(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        asked = indices.tolist()
        new = sorted(set(asked) - self._scored.keys())
        if new:
            found = self._scores.some(np.array(new, dtype=np.int64))
            self._scored.update(zip(new, found.tolist(), strict=True))
        return np.array([self._scored[index] for index in asked], dtype=np.int64)

    @cached_property
    def every_valid(self) -> NDArray[np.int64]:
        """All valid contexts, ascending."""
        return np.flatnonzero(self._validity.every())

    @cached_property
    def every_score(self) -> NDArray[np.int64]:
        return self._scores.every()
