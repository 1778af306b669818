"""What a detector's fast path may ask of the rows around one record, and what it gives back.

A context is a group of rows that all contexts' record is in; there may be a billion of them, and they overlap. Rows lie in cells; a context holds a
cell whole or not at all. A cell and a context each have a word: the cell is in the context when its word has no bit that the context's
lacks. `explain` implements this; a detector sees nothing else of it, so the two can be read apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]


class Side(NamedTuple):
    """Distinct values per cell on one side of the record's: distance, how many rows hold it, the cell's word; nearest first."""

    gaps: Ints
    copies: Ints
    words: Words

    def within(self, word: np.uint64) -> Side:
        """Those in cells of the context with this word."""
        kept = (self.words & ~word) == 0
        return Side(self.gaps[kept], self.copies[kept], self.words[kept])


@dataclass(frozen=True)
class Entries:
    """Values below and above the record's, and how many rows of each cell hold the record's own."""

    below: Side
    above: Side
    same: Ints


class Batch(Protocol):
    """Some contexts that are decided together; neighbouring ones share most of their cells."""

    @property
    def words(self) -> Words: ...

    @property
    def run(self) -> int:
        """So many neighbouring contexts differ in a few cells, and the last of them holds all the others' cells; it divides their number."""
        ...

    @property
    def levels(self) -> tuple[int, ...]:
        """Of the digits in which the contexts of a run differ, lowest first. The lowest bits of a word are those of its lowest digits: one less than the digit
        has levels, of which a context has the lowest ones and a cell at most one."""
        ...

    @property
    def population(self) -> Ints:
        """Rows of each context."""
        ...

    def over(self, cells: NDArray[Any], combine: np.ufunc = np.add) -> NDArray[Any]:
        """`combine` of a statistic over the cells of each context."""
        ...

    @property
    def last_levels(self) -> tuple[int, ...]:
        """Of the digits that `over_all_but_last` leaves to the caller, lowest first; none where contexts are few."""
        ...

    def over_all_but_last(self, cells: NDArray[Any], combine: np.ufunc = np.add) -> NDArray[Any]:
        """`combine` over cells for each choice of the higher digits, apart for each step of the digits `last_levels`: first what every
        context holds, then a column for each step of each digit. A level of a digit holds its steps up to there."""
        ...

    def index(self, place: int) -> int:
        """The index of one context among all."""
        ...

    def state(self, place: int) -> tuple[int, int, int]:
        """Rows, Σz and Σz² of one context in whole numbers."""
        ...


class Contexts(Protocol):
    """The rows around one record: statistics of z = metric − the record's own, per cell."""

    @property
    def step(self) -> Fraction: ...

    @property
    def centre(self) -> int:
        """The record's metric, in steps."""
        ...

    @property
    def reach(self) -> tuple[int, int]:
        """How far below and above the record's a value can be: public bounds."""
        ...

    @property
    def least(self) -> int:
        """Public least population of a valid context."""
        ...

    @property
    def words(self) -> Words:
        """The word of each cell."""
        ...

    @property
    def counts(self) -> Ints: ...

    @property
    def totals(self) -> Ints | None:
        """Σz per cell in machine words; None when a sum of cells could outgrow one."""
        ...

    @property
    def squares(self) -> NDArray[np.float64]:
        """Σz² per cell, rounded."""
        ...

    @property
    def lowest(self) -> Ints:
        """Least z per cell; huge where the cell is empty."""
        ...

    @property
    def highest(self) -> Ints: ...

    def between(self, first: int, last: int) -> Ints:
        """Rows of each cell with first ≤ z ≤ last."""
        ...

    def entries(self, per_side: int) -> Entries:
        """The `per_side` nearest distinct values of each cell on each side."""
        ...


def values_asked(detector: object) -> int:
    """How many nearest values a side of each cell a fast path asks for: all of them where the detector does not say."""
    return int(getattr(detector, "per_side", EVERY))


class Decider(Protocol):
    """Says in which contexts the record stands out."""

    def valid(self, batch: Batch, /) -> Flags: ...


class Scorer(Protocol):
    """Says how far each context is from not being valid."""

    def scores(self, batch: Batch, /) -> Ints: ...


@runtime_checkable
class Fast(Protocol):
    """A detector with a fast path: all contexts at once instead of one by one."""

    def decider(self, contexts: Contexts, /) -> Decider: ...


@dataclass(frozen=True, kw_only=True)
class Robustness:
    """How far rows move a detector's distance to flipping: what full differential privacy needs to know before any row."""

    unit: int
    """The most that one added or removed row moves a score."""
    replaced: int
    """The most that one replaced row does."""
    monotone: bool
    """Whether one added row never moves two scores in opposite directions."""


@runtime_checkable
class Robust(Protocol):
    """A detector whose distance to flipping is known: a score that no row moves far, above 0 only where the record stands out."""

    def robustness(self, least: int, /) -> Robustness:
        """Refuses settings for which there is no such score."""
        ...

    def scorer(self, contexts: Contexts, cap: int, /) -> Scorer: ...


LARGEST = np.iinfo(np.int64).max
EVERY = 2**62
"""More distinct values than a cell can hold."""
