"""How far the number of outliers can move when one row changes, from the number of columns and k alone.

A row is an outlier when fewer than k others lie within r of it. Around one place, consider the rows whose degree crosses
the threshold when a row is put there or taken away, and pick any one of them: at most k of them, itself included, are
within r of it. Pick on among the others. The picked rows are pairwise further than r apart and all within r of the place, so at
most A(d) are picked and at most A(d)·k rows cross. Adding or removing a row moves those, or itself the other way:
A(d)·k. Replacing a row moves the rows around the old place one way, those around the new place the other way, and
itself: A(d)·k + 1.
"""

from __future__ import annotations

import math

_TABLE = (
    *(2, 5, 12, 24, 44, 78, 134, 239, 363, 553, 869, 1356, 2066),
    *(3183, 4866, 7355, 11072, 16572, 24812, 36764, 54584, 82340, 124416, 196559),
)
"""A(1) to A(24). 2, 5 and 12 are exact: two ends of an interval, the pentagon (touching points of a hexagon are neighbours of each other),
the icosahedron. Beyond, upper bounds on the kissing number of spheres, rounded down: 4 Musin, The kissing number in four dimensions, Annals
of Mathematics 168 (2008); 5 to 7 and 14 to 23 Mittelmann and Vallentin, High-accuracy semidefinite programming bounds for kissing numbers,
Experimental Mathematics 19 (2010), Table 1 (s14); 9 to 13 Machado and de Oliveira Filho, Improving the semidefinite programming bound for the
kissing number by exploiting polynomial symmetry, Experimental Mathematics 27 (2018), which are verified in interval arithmetic. 8 and 24
are one below the kissing numbers 240 and 196560 (Odlyzko and Sloane; Levenshtein, 1979), because points here are further than r
apart: `profiles.md`."""


def packing(dimension: int) -> int:
    """At most how many points, pairwise further than r apart, lie within r of a centre.

    Above 24 columns by caps: two such points are seen from the centre at more than 60°, so caps of 30° around their
    directions do not overlap, and each covers at least 2^(1−d) / ((d − 1)·√(2π/(d − 2))) of the sphere.

    >>> packing(2), packing(10), packing(20), packing(30)
    (5, 553, 36764, 7375293342)
    """
    if dimension <= len(_TABLE):
        return _TABLE[dimension - 1]
    scaled = (dimension - 1) * 2 ** (dimension - 1)
    return math.isqrt(scaled**2 * 62832 // (10_000 * (dimension - 2))) + 1  # 62832/10000 is above 2π


def global_sensitivity(dimension: int, k: int, neighbours: str) -> int:
    """The most the count can move between two neighbouring tables.

    >>> global_sensitivity(2, 3, "replace-one"), global_sensitivity(2, 3, "add-remove")
    (16, 15)
    """
    return packing(dimension) * k + (neighbours == "replace-one")


def stream_sensitivity(dimension: int, k: int) -> int:
    """How far one row can move all increases of the count together, in a table that only grows: `daily.md`.

    Each of at most A(d)·k rows near the added one differs during one stretch of time, and so does the added row: they begin and end.

    >>> stream_sensitivity(1, 1), stream_sensitivity(2, 5)
    (6, 52)
    """
    return 2 * packing(dimension) * k + 2
