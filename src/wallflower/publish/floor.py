"""How many rows no method could have published: a floor under suppression, for the owner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.checker import Checker, Level
from wallflower.publish.corner_kernels import unhidable
from wallflower.publish.people_kernels import everyone

EXAMINED = 5_000


@dataclass(frozen=True)
class Floor:
    """Of `examined` suppressed rows, evenly spread, `proved` are in no plain group whatever the method."""

    examined: int
    proved: int
    suppressed: int

    @property
    def rows(self) -> int:
        """The floor for the whole table; exact for what was proved when every suppressed row was examined, else scaled."""
        return round(self.proved * self.suppressed / self.examined) if self.examined else 0


def floor(checker: Checker, level: Level, suppressed: NDArray[np.int64]) -> Floor:
    """Only suppressed rows are looked at: a published one is in a plain group.

    Strict: the sign-pattern argument (`kernels.unhidable`). Candidate: quasi-identifiers that are normal with no sensitive value
    of the table. Both: a sensitive value that is an outlier by itself. Attack: nothing is provable.
    """
    step = max(1, -(-len(suppressed) // EXAMINED))
    rows = suppressed[::step]
    quasi = np.ascontiguousarray(checker.places[rows, : checker.quasi])
    proved = np.zeros(len(rows), dtype=np.bool_)
    if level == "attack" or not len(rows):
        return Floor(len(rows), 0, len(suppressed))
    if level == "strict":
        unhidable(checker.blocks, quasi, checker.places.min(axis=0), checker.places.max(axis=0), proved)
    else:
        good = np.zeros(len(checker.values), dtype=np.bool_)
        everyone(checker.blocks, checker.guide, quasi, checker.values, good, proved, False, False)
    proved |= checker.outlying_by_value[rows]
    return Floor(len(rows), int(proved.sum()), len(suppressed))
