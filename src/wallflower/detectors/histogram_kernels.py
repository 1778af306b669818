"""Compiled loops behind `detectors.histogram`: the bar of the record in each context, and the rows in it, counted until they are too many."""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Side = tuple[Ints, Ints, Words]


@kernel
def _within(side: Side, size: int, outside: np.uint64, limit: int, enough: int) -> int:
    """Rows of a context at distance 1 to `limit` on one side, counted up to `enough`."""
    found = 0
    for entry in range(size):
        if side[0][entry] > limit or found >= enough:
            break
        if not side[2][entry] & outside:
            found += side[1][entry]
    return found


RARE, FULL, OPEN, WIDE = 1, 0, 2, 3
"""What is known of a context: its bar is rare, it is not, its rows must be counted, or its edges need more than 64 bits."""
LARGEST = 2**60
"""No number of rows, and no product that an edge needs, is larger; three of them fit 64 bits."""


@kernel
def _edges(size: int, least: int, most: int) -> tuple[int, int]:
    """`detectors.histogram.bar` of the value 0; products fit 64 bits."""
    width = most - least
    if width == 0:
        return least, least + 1
    bins = int(np.ceil(np.sqrt(size)))
    if bins * bins < size:
        bins += 1
    elif (bins - 1) * (bins - 1) >= size:
        bins -= 1
    place = min(bins - 1, -least * bins // width)
    low = least - (-place * width // bins)
    return low, most + 1 if place == bins - 1 else least - (-(place + 1) * width // bins)


@kernel
def _bounds(gaps: Ints, sums: Ints, first: int, place: int, reach: int) -> tuple[int, int]:
    """At least and at most so many rows within a reach on one side, from those within a few distances: sums[first], sums[first + 1], …"""
    if reach < 1:
        return 0, 0
    if len(gaps) == 0:
        return 0, LARGEST
    rung = 0
    for gap in gaps:
        rung += 1 if gap <= reach else 0
    least = 0 if rung == 0 else sums[first + rung - 1, place]
    if rung == len(gaps) or (rung > 0 and gaps[rung - 1] == reach):
        return least, least  # exactly at a distance, or beyond the last, within which all rows lie
    return least, sums[first + rung, place]


@kernel
def _added_up(sums: Ints, low: Ints, high: Ints, levels: Ints, cells: Ints, least: Ints, most: Ints) -> None:
    """Statistics of the contexts of a run from those of the steps of its digits: each is the one a level below and one step more."""
    sums[:, 0], low[0], high[0] = cells[0], least[0], most[0]
    step, size = 1, 1
    for level in levels:
        for begin in range(size, level * size, size):
            for statistic in range(len(sums)):
                more = cells[step, statistic]
                into, before = sums[statistic, begin : begin + size], sums[statistic, begin - size : begin]
                for here in range(size):
                    into[here] = before[here] + more
            for here in range(begin, begin + size):
                low[here], high[here] = min(low[here - size], least[step]), max(high[here - size], most[step])
            step += 1
        size *= level


@kernel(error_model="numpy")
def _judge(
    sums: Ints, place: int, lowest: int, highest: int, below: Ints, above: Ints, share: tuple[int, int], bar: Ints
) -> int:
    """What a few distances tell of one context; `bar` gets its reaches below and above, and how many rows are too many.

    Its statistics are its rows, those at the record's own value, and those within each distance below and above.
    """
    size, same = sums[0, place], sums[1, place]
    enough = (share[0] * size + share[1] - 1) // share[1]  # fewer than share·N is fewer than its ceiling
    if same >= enough:
        return FULL
    bar[2] = enough
    if float(highest - lowest) * (np.sqrt(size) + 3) > LARGEST:
        return WIDE
    low, high = _edges(size, lowest, highest)
    bar[0], bar[1] = -low, high - 1
    fewest, most = _bounds(below, sums, 2, place, -low)
    fewest_above, most_above = _bounds(above, sums, 2 + len(below), place, high - 1)
    if same + most + most_above < enough:
        return RARE
    return OPEN if same + fewest + fewest_above < enough else FULL


@kernel(parallel=True, error_model="numpy")
def judged(
    cells: Ints,
    lowest: Ints,
    highest: Ints,
    levels: Ints,
    below: Ints,
    above: Ints,
    share: tuple[int, int],
    least: int,
    teams: int,
    known: NDArray[np.int8],
    bars: Ints,
) -> None:
    """Judge all contexts, run by run: `cells` holds the rows of each run's steps (statistics as in `_judge`), `bars` what the open contexts need."""
    run = 1
    for level in levels:
        run *= level
    for team in prange(teams):
        sums = np.empty(
            (cells.shape[2], run + 8), np.int64
        )  # a power of two apart, all statistics of a context would share a cache line's place
        low, high = np.empty(run, np.int64), np.empty(run, np.int64)
        for r in range(team, len(cells), teams):
            _added_up(sums, low, high, levels, cells[r], lowest[r], highest[r])
            for place in range(run):
                here = r * run + place
                known[here] = FULL
                if sums[0, place] >= least:
                    known[here] = _judge(sums, place, low[place], high[place], below, above, share, bars[here])


@kernel(parallel=True)
def bars(
    below: Side,
    above: Side,
    words: Words,
    reach_below: Ints,
    reach_above: Ints,
    same: Ints,
    enough: Ints,
    rare: NDArray[np.bool_],
) -> None:
    """Whether each context has fewer than `enough` rows within the reaches of its bar, its own copies included."""
    for here in prange(len(words)):
        outside = ~words[here]
        found = same[here]
        if found < enough[here]:
            found += _within(below, len(below[0]), outside, reach_below[here], enough[here] - found)
        if found < enough[here]:
            found += _within(above, len(above[0]), outside, reach_above[here], enough[here] - found)
        rare[here] = found < enough[here]
