"""How many rows no method could have published: a floor under suppression, for the owner."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.checker import Checker
from wallflower.publish.corner_kernels import unhidable
from wallflower.publish.levels import counts_possible_values
from wallflower.publish.people_kernels import everyone, someone
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
    abnormal: Whole = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Levels matching: rows whose value would make an outlier of everyone in the table, whoever held it."""
    forced: int = 0
    """Levels matching: rows that stand out with every value; each of them could hold one abnormal line."""
    alone: Whole = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Those of `proved` whose value alone is the reason: levels matching, everyone would be an outlier with it, and nobody is forced; other
    levels, it is an outlier by itself."""

    @property
    def rows(self) -> int:
        """The floor for the whole table; exact for what was proved when every suppressed row was examined, else scaled."""
        proved = round(len(self.proved) * self.suppressed / self.examined) if self.examined else 0
        return proved + max(0, len(self.abnormal) - self.forced)

    @property
    def named(self) -> Whole:
        """Rows that are certainly among them."""
        return self.proved if self.forced else np.union1d(self.proved, self.abnormal)


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
    by_value = checker.outlying_by_value[rows]
    return Floor(len(rows), rows[proved | by_value], len(suppressed), alone=rows[by_value])


def _peeled(checker: Checker, suppressed: Whole, least: int) -> Floor:
    """Rows that leave when the whole table is peeled; where that is too large, those who fit fewer than `least` values at all.

    Beside them (E): a line that is normal with nobody can only be handed to someone who is forced, one line each. Where nobody
    is forced no group can hold such a line, and the others are peeled without them.
    """
    worlds, everyone_ = Worlds(checker), np.arange(len(checker.places))
    forced, abnormal = int(worlds.forced.sum()), _abnormal(checker)
    if len(checker.places) * len(checker.values) <= MOST_PAIRS:
        among = ~np.isin(everyone_, abnormal) if not forced else None
        gone = np.flatnonzero(~worlds.members(everyone_).peeled(least, among))
    else:
        quasi = np.ascontiguousarray(checker.places[suppressed, : checker.quasi])
        fits = worlds.outlying_with(quasi, checker.values) == checker.outlying[suppressed][:, None]
        gone = suppressed[fits.sum(axis=1) < least]
    alone = abnormal[:0] if forced else abnormal
    return Floor(len(suppressed), gone, len(suppressed), np.setdiff1d(abnormal, gone), forced, alone)


def _abnormal(checker: Checker) -> Whole:
    """Rows whose value would make an outlier of everyone in the table."""
    good = np.zeros(len(checker.values), dtype=np.bool_)
    if len(checker.places):
        people = np.unique(checker.places[:, : checker.quasi], axis=0)
        someone(checker.blocks, checker.guide, np.ascontiguousarray(people), checker.values, good)
    return np.flatnonzero(~good[checker.ranks])
