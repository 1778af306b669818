"""Valid contexts and their scores, as the searches see them: decided when first asked for, and once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.contexts import Decider, Scorer
from wallflower.explain.batches import Block
from wallflower.explain.gpu.device_choice import Every
from wallflower.explain.record_view import RecordView
from wallflower.progress import report

FEW = 64
"""So many contexts of a block are decided on their own."""


class Landscape:
    """The graph of contexts around one record."""

    def __init__(self, view: RecordView, decider: Decider, scorer: Scorer, every: Every | None = None) -> None:
        """`every`: a device that decides all contexts at once, where there is one."""
        self.view, self._decider, self._scorer, self.every = view, decider, scorer, every
        self._known: dict[int, bool] = {}
        self._scored: dict[int, int] = {}

    @property
    def count(self) -> int:
        return self.view.space.count

    def connected(self, index: int) -> list[int]:
        return self.view.space.connected(index)

    def valid(self, indices: Sequence[int]) -> list[bool]:
        new = sorted({int(index) for index in indices} - self._known.keys())
        if new:
            decided = self._decider.valid(self.view.few(np.array(new, dtype=np.int64)))
            self._known.update(zip(new, decided.tolist(), strict=True))
        return [self._known[int(index)] for index in indices]

    def scores(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        asked = indices.tolist()
        new = sorted(set(asked) - self._scored.keys())
        if new:
            found = self._scorer.scores(self.view.few(np.array(new, dtype=np.int64)))
            self._scored.update(zip(new, found.tolist(), strict=True))
        return np.array([self._scored[index] for index in asked], dtype=np.int64)

    def block_scores(self, block: Block) -> NDArray[np.int64]:
        return self._scorer.scores(block)

    def valid_places(self, block: Block, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of these places of a block whose contexts are valid. A few are decided one by one."""
        if len(places) <= FEW:
            return places[self._decider.valid(self.view.few(block.begin + places))]
        return places[self._decider.valid(block)[places]]

    @cached_property
    def every_valid(self) -> NDArray[np.int64]:
        """All valid contexts, ascending."""
        flags = None if self.every is None else self.every.flags()
        if flags is not None:
            return np.flatnonzero(flags)
        found = []
        for block in self.view.blocks():
            found.append(np.flatnonzero(self._decider.valid(block)) + block.begin)
            report("contexts", block.begin + block.size, self.count)
        return np.concatenate(found)

    @cached_property
    def every_score(self) -> NDArray[np.int64]:
        return np.concatenate([self._scorer.scores(block) for block in self.view.blocks()])
