"""What proofs assume of scores and bounds, looked for on given pairs of neighbours. Each function returns the violations it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

Table = TypeVar("Table")
Number = int | Fraction | float


@dataclass(frozen=True, kw_only=True)
class Violation:
    """Where an assumption of a proof fails.

    >>> Violation(first=(1,), second=(), what="5 and 0 are more than 1 apart").what
    '5 and 0 are more than 1 apart'
    """

    first: object
    second: object
    what: str


def lipschitz_violations(
    score: Callable[[Table], Number], pairs: Iterable[tuple[Table, Table]], *, distance: Number = 1
) -> list[Violation]:
    """Neighbours whose scores are further apart than `distance`.

    >>> lipschitz_violations(len, [((), (7,))])
    []
    >>> lipschitz_violations(sum, [((), (7,))])[0].what
    '0 and 7 are more than 1 apart'
    """
    found = []
    for first, second in pairs:
        one, other = score(first), score(second)
        if not -distance <= one - other <= distance:
            found.append(
                Violation(first=first, second=second, what=f"{one} and {other} are more than {distance} apart")
            )
    return found


def one_direction_violations(
    scores: Callable[[Table], Sequence[Number]], pairs: Iterable[tuple[Table, Table]], *, distance: Number = 1
) -> list[Violation]:
    """Neighbours between which two scores move in opposite directions, or one by more than `distance`: not monotone.

    >>> one_direction_violations(lambda table: (len(table), -len(table)), [((), (7,))])[0].what
    'scores move by -1 to 1'
    """
    found = []
    for first, second in pairs:
        moves = [after - before for before, after in zip(scores(first), scores(second), strict=True)]
        up = all(0 <= move <= distance for move in moves)
        down = all(-distance <= move <= 0 for move in moves)
        if not (up or down):
            what = f"scores move by {min(moves)} to {max(moves)}"
            found.append(Violation(first=first, second=second, what=what))
    return found


def growth_violations(
    functional: Callable[[Table], Number], pairs: Iterable[tuple[Table, Table]], *, distance: Number = 1
) -> list[Violation]:
    """Pairs (table, table with one row more) on which the functional shrinks or grows by more than `distance`.

    >>> growth_violations(lambda table: len(set(table)), [((7,), (7, 7))])
    []
    """
    found = []
    for smaller, larger in pairs:
        one, other = functional(smaller), functional(larger)
        if not 0 <= other - one <= distance:
            found.append(Violation(first=smaller, second=larger, what=f"one more row takes {one} to {other}"))
    return found


def smoothness_violations(
    value: Callable[[Table], Number],
    bound: Callable[[Table, int], Number],
    pairs: Iterable[tuple[Table, Table]],
    *,
    steps: int,
) -> list[Violation]:
    """Where U_t = bound(table, t) fails to bound the change of `value` (t = 0) or to satisfy U_t(X) <= U_{t+1}(X') up to `steps`.

    >>> smoothness_violations(len, lambda table, t: t + 1, [((), (7,))], steps=3)
    []
    """
    found = []
    for pair in pairs:
        for first, second in (pair, pair[::-1]):
            change, allowed = value(first) - value(second), bound(first, 0)
            if not -allowed <= change <= allowed:
                found.append(
                    Violation(first=first, second=second, what=f"the value moves by {change}, U_0 is {allowed}")
                )
            for t in range(steps):
                here, there = bound(first, t), bound(second, t + 1)
                if here > there:
                    what = f"U_{t} = {here} here, U_{t + 1} = {there} there"
                    found.append(Violation(first=first, second=second, what=what))
    return found
