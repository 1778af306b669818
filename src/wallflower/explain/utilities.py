"""What makes one valid context better than another: a whole number per context, with its sensitivity declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wallflower.explain.asked import Asked
from wallflower.explain.cube import over_contexts, total_in


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


class Scores(Protocol):
    """Scores of all contexts, or of a few."""

    def every(self) -> NDArray[np.int64]: ...

    def some(self, indices: NDArray[np.int64], /) -> NDArray[np.int64]: ...


@dataclass(frozen=True)
class Population:
    """How many rows a context has."""

    asked: Asked

    def every(self) -> NDArray[np.int64]:
        return self.asked.population

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.asked.some_population(indices)


@dataclass(frozen=True)
class Overlap:
    """How many rows a context shares with a public one."""

    asked: Asked
    start: tuple[tuple[int, ...], ...]

    @property
    def _counts(self) -> NDArray[np.int64]:
        shared = np.zeros_like(self.asked.counts)
        inside = np.ix_(*self.start)
        shared[inside] = self.asked.counts[inside]
        return shared

    def every(self) -> NDArray[np.int64]:
        return over_contexts(self._counts, self.asked.space.own)

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return total_in(self._counts.ravel(), self.asked.space.cells, self.asked.space.patterns(indices))


@dataclass(frozen=True)
class OfOnesOwn:
    """Hands the counts of each context to a user's own utility; an exception counts as score 0."""

    asked: Asked
    utility: Utility

    def every(self) -> NDArray[np.int64]:
        return self.some(np.arange(self.asked.space.count))

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([self._ask(int(index)) for index in indices], dtype=np.int64)

    def _ask(self, index: int) -> int:
        counts = self.asked.counts[np.ix_(*self.asked.space.chosen(index))]
        try:
            return int(self.utility.score(counts))
        except Exception:  # noqa: BLE001 - no release fails because of a row
            return 0
