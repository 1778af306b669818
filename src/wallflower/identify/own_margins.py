"""Margins of the caller's own, checked before they are used.

A margin is any frozen dataclass with `margin(copies, within, *, beta, k)` on integer arrays; copies and within come capped at a
public number, and what it returns is capped again where more than β rows are within. It is then a function of finitely many
pairs. It is asked for all of them once, before anything is charged; the condition of `margins.md` is checked on the table
of what it said, and an answer looks its margin up in that table. The function itself never meets a private count: whatever it would
do with an array of one, or the second time it is asked, does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError
from wallflower.identify.margins import Ints, anomalous, capped

MOST_COUNT = 10_000
"""The largest cap on counts for which all pairs are kept: 100 MB."""
LONGEST = 4_096
"""Beyond this a margin of the caller's own is not told apart; a public constant keeps the check short."""
_LARGEST = 2**16 - 1  # what the table can hold; the least of a margin and a constant is a margin


@runtime_checkable
class OwnMargin(Protocol):
    def margin(self, copies: Ints, within: Ints, /, *, beta: int, k: int) -> Ints: ...

    def __hash__(self) -> int:
        """Frozen: equal margins have one table."""
        ...


@dataclass(frozen=True, eq=False)
class MarginTable:
    """The margin of every pair copies ≤ within ≤ last, row by row of copies; made by `checked_table` alone."""

    values: NDArray[np.uint16]
    last: int

    def __call__(self, copies: Ints, within: Ints, /, *, beta: int, k: int) -> Ints:
        within = np.asarray(within, dtype=np.int64)
        copies = np.asarray(copies, dtype=np.int64)
        rows_before = copies * (self.last + 1) - copies * (copies - 1) // 2
        return np.asarray(self.values[rows_before + within - copies], dtype=np.int64)


@lru_cache(maxsize=8)
def checked_table(margin: OwnMargin, *, beta: int, k: int, most: int, included: bool) -> MarginTable:
    """What `margin`, capped at `most`, says of every pair; raises unless it is at least 1, moves by at most 1 along every step, and
    is 1 at a change of answer.

    The steps are the images, under capping both counts at β + most, of the edges of Γ in `margins.md`. A price makes the table and
    a release finds it again; one that was dropped in between is made, and checked, anew.
    """
    last = beta + most
    if last > MOST_COUNT:
        raise UsageError(
            f"a margin of your own is checked on every pair of counts up to {last}, and {MOST_COUNT} is the most.",
            hint="Use a model with a smaller beta.",
        )
    within = np.arange(last + 1)
    table = np.empty((last + 1) * (last + 2) // 2, dtype=np.uint16)
    filled = 0
    before: Any = None
    for copies in range(last + 1):
        here = within[copies:]
        same = np.full_like(here, copies)
        value = _evaluated(margin, same, here, beta=beta, k=k, most=most)
        answer = anomalous(same, here, beta=beta, included=included)
        _step(value[:-1], value[1:], answer[:-1], answer[1:], at=copies)  # one more row near, of another value
        if before is not None:
            # One more copy: within n becomes n + 1, and stays at the cap. `before` starts at within = copies − 1.
            edge = here >= beta + 1 - k
            _step(before[0][:-1][edge], value[edge], before[1][:-1][edge], answer[edge], at=copies)
            _step(before[0][-1:], value[-1:], before[1][-1:], answer[-1:], at=copies)
        before = (value, answer)
        table[filled : filled + len(value)] = value
        filled += len(value)
    table.flags.writeable = False
    return MarginTable(table, last)


def _evaluated(margin: OwnMargin, copies: Ints, within: Ints, *, beta: int, k: int, most: int) -> Ints:
    try:
        # Copies both ways: the pairs that are checked are not the caller's to write into, and what it said is not its to change.
        value = np.array(np.asarray(margin.margin(copies.copy(), within.copy(), beta=beta, k=k)))
    except Exception as error:
        raise UsageError(f"this margin fails for some pair of counts ({type(error).__name__}).") from error
    if value.shape != within.shape or not np.issubdtype(value.dtype, np.integer):
        raise UsageError("a margin returns one whole number for each pair of counts.")
    if (value < 1).any():
        raise UsageError("a margin is at least 1 for every pair of counts.")
    largest = min(_LARGEST, int(np.iinfo(value.dtype).max))  # what a byte holds is said in bytes
    return capped(np.minimum(value, largest).astype(np.int64), within, beta=beta, most=most)


def _step(one: Ints, other: Ints, answer: Any, other_answer: Any, *, at: int) -> None:
    if (np.abs(one - other) > 1).any():
        raise UsageError(
            f"this margin moves by more than 1 when one row changes (near {at} copies of the asked value).",
            hint="Only a 1-Lipschitz lower bound keeps the promise; wallflower.identify.margins.star is one.",
        )
    changes = answer != other_answer
    if ((one != 1) & changes).any() or ((other != 1) & changes).any():
        raise UsageError(
            f"this margin is above 1 where one row changes the answer (near {at} copies of the asked value).",
            hint="A margin is at most the number of changes that the answer needs to become another one.",
        )
