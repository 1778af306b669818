"""How far the number of outliers can move when one row changes, from the dimension and k alone.

A row is an outlier when fewer than k others lie within r of it. Moving one row changes the degree of rows near its old
and its new place. Among the rows near one place whose degree crosses k, pick one: at most k of them are within r of it,
itself included. The picked rows are pairwise further than r apart and all within r of the place, so at most A(d) can be
picked, and A(d)·k rows change, plus the moved row itself: A(d)·k + 1. A(1) = 2, A(2) = 5 and A(3) = 12 are exact
(distances strictly above r: the hexagon's touching points are neighbours); above, the kissing number bounds A(d).
"""

from __future__ import annotations

from wallflower.errors import UsageError

PACKING = {
    1: 2,
    2: 5,
    3: 12,
    4: 24,
    5: 44,
    6: 78,
    7: 134,
    8: 240,
    9: 364,
    10: 554,
    11: 870,
    12: 1357,
    13: 2069,
}
"""Most points pairwise further than r apart within r of a centre. From 4 up: upper bounds on the kissing number
(Mittelmann and Vallentin, 2010)."""


def global_sensitivity(dimension: int, neighbours: int) -> int:
    """The most the count can move when one row is added, removed or replaced.

    >>> global_sensitivity(2, 3)
    16
    """
    if dimension not in PACKING:
        raise UsageError(
            f"no packing bound is known here for {dimension} columns.",
            hint=f"Choose between 1 and {max(PACKING)} columns.",
        )
    return PACKING[dimension] * neighbours + 1
