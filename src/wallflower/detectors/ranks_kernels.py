"""Compiled loops behind `detectors.iqr` and `detectors.mad`: values by their rank in many contexts.

Values of all cells lie on one sorted axis. Neighbouring contexts differ in few cells: within a run of them, cells that are in the same contexts are
one part, and each part has running counts along the axis. A context is a union of parts, so how many of its rows lie up to a place of the
axis is a sum over its parts, and a rank is found by bisection.
"""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]
"""Or of 32 bits where that is enough."""


@kernel
def _varying(contexts: Words) -> np.uint64:
    """The bits in which some of these contexts differ."""
    around, common = np.uint64(0), ~np.uint64(0)
    for word in contexts:
        around |= word
        common &= word
    return around & ~common


@kernel
def _parts(words: Words, around: np.uint64, varying: np.uint64, keys: Words, part_of: Ints) -> int:
    """The part of each entry (−1: in no context of the run), and the bits each part needs; returns how many parts there are."""
    n = 0
    for entry in range(len(words)):
        part_of[entry] = -1
        if words[entry] & ~around:
            continue
        key = words[entry] & varying
        part = 0
        while part < n and keys[part] != key:
            part += 1
        if part == n:
            keys[n] = key
            n += 1
        part_of[entry] = part
    return n


@kernel
def _run_up(places: Ints, copies: Ints, part_of: Ints, running: Counts) -> None:
    """running[part, p]: rows of the part at places before p."""
    running[:, :] = 0
    for entry in range(len(places)):
        if part_of[entry] >= 0:
            running[part_of[entry], places[entry] + 1] += copies[entry]
    for part in range(running.shape[0]):
        for place in range(running.shape[1] - 1):
            running[part, place + 1] += running[part, place]


@kernel
def _up_to(running: Counts, held: Ints, n: int, place: int) -> int:
    """Rows of the held parts at places before `place`."""
    found = 0
    for i in range(n):
        found += running[held[i], place]
    return found


@kernel
def _ranked(running: Counts, held: Ints, n: int, rank: int) -> int:
    """The place of the value with `rank` smaller-or-earlier ones before it."""
    low, high = 0, running.shape[1] - 2
    while low < high:
        middle = (low + high) // 2
        if _up_to(running, held, n, middle + 1) > rank:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _quantile(axis: Ints, running: Counts, held: Ints, n: int, quarters: int) -> int:
    """Four times the value `quarters`/4 of a step along the ranks, straight lines between ranks."""
    rank, rest = quarters // 4, quarters % 4
    value = axis[_ranked(running, held, n, rank)]
    if rest == 0:
        return 4 * int(value)
    after = axis[_ranked(running, held, n, rank + 1)]
    return (4 - rest) * int(value) + rest * int(after)


@kernel
def _near(axis: Ints, running: Counts, held: Ints, n: int, twice: int, within: int) -> int:
    """Rows with |2z − twice| ≤ within."""
    low, high = 0, len(axis)
    while low < high:
        middle = (low + high) // 2
        if 2 * axis[middle] < twice - within:
            low = middle + 1
        else:
            high = middle
    first, high = low, len(axis)
    while low < high:
        middle = (low + high) // 2
        if 2 * axis[middle] <= twice + within:
            low = middle + 1
        else:
            high = middle
    return _up_to(running, held, n, low) - _up_to(running, held, n, first)


@kernel
def _deviation(axis: Ints, running: Counts, held: Ints, n: int, twice: int, rank: int) -> int:
    """The value of |2z − twice| with `rank` smaller-or-earlier ones before it."""
    low, high = 0, 2 * (axis[-1] - axis[0]) + 2
    while low < high:
        middle = (low + high) // 2
        if _near(axis, running, held, n, twice, middle) > rank:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _fenced(axis: Ints, running: Counts, held: Ints, n: int, rows: int, top: int, bottom: int) -> bool:
    """Whether 0 lies beyond a fence top/bottom of the range between the quartiles away from them."""
    first = _quantile(axis, running, held, n, rows - 1)
    third = _quantile(axis, running, held, n, 3 * (rows - 1))
    reach = top * (third - first)
    return bottom * third + reach < 0 or bottom * first - reach > 0


@kernel
def _deviant(axis: Ints, running: Counts, held: Ints, n: int, rows: int, top: int, bottom: int) -> bool:
    """Whether bottom·|0 − median| exceeds top·(median of distances from the median)."""
    low = _ranked(running, held, n, (rows - 1) // 2)
    high = low if rows % 2 else _ranked(running, held, n, rows // 2)
    twice = int(axis[low]) + int(axis[high])
    spread = _deviation(axis, running, held, n, twice, (rows - 1) // 2)
    after = spread if rows % 2 else _deviation(axis, running, held, n, twice, rows // 2)
    return 2 * bottom * abs(twice) > top * (spread + after)


@kernel(parallel=True)
def ranked_runs(
    axis: Ints,
    places: Ints,
    copies: Ints,
    words: Words,
    contexts: Words,
    run: int,
    population: Ints,
    least: int,
    top: int,
    bottom: int,
    fences: bool,  # noqa: FBT001 - numba has no keyword arguments
    teams: int,
    counts: Counts,
    valid: Flags,
) -> None:
    """Decide contexts, `run` neighbouring ones at a time: by fences, or by deviation from the median. `counts` gives a type."""
    for team in prange(teams):
        keys, held = (
            np.empty(run, np.uint64),
            np.empty(run, np.int64),
        )  # a run tells no more parts apart than it has contexts
        part_of = np.empty(len(words), np.int64)
        running = np.empty((1, len(axis) + 1), counts.dtype)
        for begin in range(team * run, len(contexts), teams * run):
            end = min(begin + run, len(contexts))
            around = np.uint64(0)
            for here in range(begin, end):
                around |= contexts[here]
            parts = _parts(words, around, _varying(contexts[begin:end]), keys, part_of)
            if parts > running.shape[0]:
                running = np.empty((parts, len(axis) + 1), counts.dtype)
            _run_up(places, copies, part_of, running)
            for here in range(begin, end):
                valid[here] = False
                if population[here] < least or population[here] < 1:
                    continue
                n = 0
                for part in range(parts):
                    if not keys[part] & ~contexts[here]:
                        held[n] = part
                        n += 1
                if fences:
                    valid[here] = _fenced(axis, running, held, n, population[here], top, bottom)
                else:
                    valid[here] = _deviant(axis, running, held, n, population[here], top, bottom)
