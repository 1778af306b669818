"""Margins of the caller's own, checked before they are used.

A margin is any frozen dataclass with `margin(copies, within, *, beta, k)` on integer arrays; copies and within come capped at a
public number, and what it returns is capped again where more than β rows are within. It is then a function of finitely many
pairs, so that the condition of `margins.md` can be checked on every one of them: the check is the proof.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from wallflower.errors import UsageError
from wallflower.identify.margins import Ints, Margin, anomalous, capped

MOST_PAIRS = 20_000
"""The largest cap on counts for which all pairs are looked at."""
LONGEST = 4_096
"""Beyond this a margin of the caller's own is not told apart; a public constant keeps the check short."""


@runtime_checkable
class OwnMargin(Protocol):
    def margin(self, copies: Ints, within: Ints, /, *, beta: int, k: int) -> Ints: ...


def refuse_unless_lipschitz(margin: Margin, *, beta: int, k: int, most: int, included: bool = False) -> None:
    """Raise unless `margin`, capped at `most`, is at least 1, moves by at most 1 along every step, and is 1 at a change of answer.

    The steps are the images, under capping both counts at β + most, of the edges of Γ in `margins.md`.
    """
    last = beta + most
    if last > MOST_PAIRS:
        raise UsageError(
            f"a margin of your own is checked on every pair of counts up to {last}, and {MOST_PAIRS} is the most.",
            hint="Use a model with a smaller beta.",
        )
    within = np.arange(last + 1)
    before: Any = None
    for copies in range(last + 1):
        here = within[copies:]
        same = np.full_like(here, copies)
        value = _evaluated(margin, same, here, beta=beta, k=k, most=most)
        answer = anomalous(same, here, beta=beta, included=included)
        _step(value[:-1], value[1:], answer[:-1], answer[1:], at=copies)  # one more row near, of another value
        if before is not None:
            # One more copy: within n becomes n + 1, and stays at the cap. `before` starts at within = copies − 1.
            total = here
            edge = total >= beta + 1 - k
            _step(before[0][:-1][edge], value[edge], before[1][:-1][edge], answer[edge], at=copies)
            _step(before[0][-1:], value[-1:], before[1][-1:], answer[-1:], at=copies)
        before = (value, answer)


def _evaluated(margin: Margin, copies: Ints, within: Ints, *, beta: int, k: int, most: int) -> Ints:
    try:
        value = np.asarray(margin(copies, within, beta=beta, k=k))
    except Exception as error:
        raise UsageError(f"this margin fails for some pair of counts ({type(error).__name__}).") from error
    if value.shape != within.shape or not np.issubdtype(value.dtype, np.integer):
        raise UsageError("a margin returns one whole number for each pair of counts.")
    if (value < 1).any():
        raise UsageError("a margin is at least 1 for every pair of counts.")
    return capped(value.astype(np.int64), within, beta=beta, most=most)


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
