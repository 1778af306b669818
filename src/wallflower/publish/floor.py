"""How many rows no method could have published: a floor under suppression, for the owner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.checker import Checker
from wallflower.publish.corner_kernels import unhidable
from wallflower.publish.levels import counts_possible_values
from wallflower.publish.people_kernels import everyone
from wallflower.publish.worlds import Worlds

Whole = NDArray[np.int64]
EXAMINED = 5_000
MOST_PAIRS = 50_000_000
"""Pairs of a row and a value up to which the whole table is peeled as one group."""


@dataclass(frozen=True)
class Floor:
    """Of `examined` suppressed rows, evenly spread, `proved` are in no plain group whatever the method."""

    examined: int
    proved: Whole
    """Which rows."""
    suppressed: int

    @property
    def rows(self) -> int:
        """The floor for the whole table; exact for what was proved when every suppressed row was examined, else scaled."""
        return round(len(self.proved) * self.suppressed / self.examined) if self.examined else 0


def floor(checker: Checker, level: str, suppressed: Whole, *, least: int = 1) -> Floor:
    """Only suppressed rows are looked at: a published one is in a plain group.

    Matching: the whole table peeled as one group, since more members take no possible value from anyone. Strict: the sign-pattern
    argument (`corner_kernels.unhidable`). Candidate: quasi-identifiers that are normal with no sensitive value of the table. Strict and
    candidate: a sensitive value that is an outlier by itself. Attack: nothing is provable.
    """
    if counts_possible_values(level):
        return _peeled(checker, suppressed, least)
    rows = suppressed[:: max(1, -(-len(suppressed) // EXAMINED))]
    quasi = np.ascontiguousarray(checker.places[rows, : checker.quasi])
    proved = np.zeros(len(rows), dtype=np.bool_)
    if level == "attack" or not len(rows):
        return Floor(len(rows), rows[:0], len(suppressed))
    if level == "strict":
        unhidable(checker.blocks, quasi, checker.places.min(axis=0), checker.places.max(axis=0), proved)
    else:
        good = np.zeros(len(checker.values), dtype=np.bool_)
        everyone(checker.blocks, checker.guide, quasi, checker.values, good, proved, False, False)
    proved |= checker.outlying_by_value[rows]
    return Floor(len(rows), rows[proved], len(suppressed))


def _peeled(checker: Checker, suppressed: Whole, least: int) -> Floor:
    """Rows that leave when the whole table is peeled; where that is too large, those who fit fewer than `least` values at all."""
    worlds = Worlds(checker)
    if len(checker.places) * len(checker.values) <= MOST_PAIRS:
        gone = np.flatnonzero(~worlds.members(np.arange(len(checker.places))).peeled(least))
        return Floor(len(suppressed), gone, len(suppressed))
    flags = checker.outlying[suppressed]
    quasi = np.ascontiguousarray(checker.places[suppressed, : checker.quasi])
    fits = worlds.outlying_with(quasi, checker.values) == flags[:, None]
    return Floor(len(suppressed), suppressed[fits.sum(axis=1) < least], len(suppressed))
