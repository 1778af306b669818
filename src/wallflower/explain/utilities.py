"""What makes one valid context better than another: a whole number per context, with its sensitivity declared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.contexts import Batch
from wallflower.explain.record_view import RecordView

MOST = 2**62
"""Scores fit a machine word; no two are further apart than twice this."""


@runtime_checkable
class Utility(Protocol):
    """A utility of your own: a frozen dataclass with this method. The promise is only as good as what it declares.

    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class AtMost:
    ...     most: int = 100
    ...     sensitivity: int = 1
    ...     monotone: bool = True
    ...     def score(self, counts, /):
    ...         return min(int(counts.sum()), self.most)
    >>> isinstance(AtMost(), Utility), AtMost().score(np.array([[60, 70]]))
    (True, 100)
    """

    @property
    def sensitivity(self) -> int:
        """The most that adding or removing one row moves the score of any context."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether one added row never moves two scores in opposite directions."""
        ...

    def score(self, counts: NDArray[np.int64], /) -> int:
        """The score of a context, from its rows counted by cell: one axis per column, only the values the context holds."""
        ...


@dataclass(frozen=True)
class Population:
    """How many rows a context has."""

    @staticmethod
    def scores(batch: Batch) -> NDArray[np.int64]:
        return batch.population

    @property
    def cells(self) -> None:
        """What is added up over the cells of a context: their rows."""
        return


@dataclass(frozen=True, eq=False)
class Overlap:
    """How many rows a context shares with a public one."""

    view: RecordView
    start: tuple[tuple[int, ...], ...]
    """Codes of the public context, per column."""

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        return self.view.shared(self.start)

    def scores(self, batch: Batch) -> NDArray[np.int64]:
        found: NDArray[np.int64] = batch.over(self.cells)
        return found


@dataclass(frozen=True, eq=False)
class CustomUtility:
    """Hands the counts of each context to a user's own utility; an exception counts as score 0, a huge score as `MOST` or its negative."""

    view: RecordView
    utility: Utility

    def scores(self, batch: Batch) -> NDArray[np.int64]:
        places = range(len(batch.words))
        return np.array([self._ask(batch.index(place)) for place in places], dtype=np.int64)

    def _ask(self, index: int) -> int:
        try:
            # No row moves a clipped score further than the score itself, nor the other way.
            return min(max(int(self.utility.score(self.view.by_value(index))), -MOST), MOST)
        except Exception:  # noqa: BLE001 - no release fails because of a row
            return 0
