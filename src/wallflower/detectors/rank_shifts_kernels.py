"""Compiled loops behind `ranks.RankScorer`: how far ranks may shift before a record no longer stands out.

At shift t every rank that a detector looks at is t places further towards the record's disadvantage; what lies beyond the last row on
either side is the public bound there. Why no row moves the answer by more than one: ../explain/robust.md.
"""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel
from wallflower.detectors.ranks_kernels import _parts, _ranked, _run_up, _up_to, _varying

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Counts = NDArray[np.int64]
"""Or of 32 bits where that is enough."""


@kernel
def _at(axis: Ints, running: Counts, held: Ints, n: int, rows: int, rank: int, low: int, high: int) -> int:
    """The value of this rank; a bound where there is no such row."""
    if rank < 0:
        return -low
    if rank >= rows:
        return high
    return int(axis[_ranked(running, held, n, rank)])


@kernel
def _between(
    axis: Ints, running: Counts, held: Ints, n: int, rows: int, parts: int, ways: int, low: int, high: int
) -> int:
    """`ways` times the value `parts`/`ways` of a step along the ranks, straight lines between ranks."""
    rank, rest = parts // ways, parts % ways
    value = (ways - rest) * _at(axis, running, held, n, rows, rank, low, high)
    return value if rest == 0 else value + rest * _at(axis, running, held, n, rows, rank + 1, low, high)


@kernel
def _fenced_at(
    axis: Ints, running: Counts, held: Ints, n: int, rows: int, low: int, high: int, top: int, bottom: int, shift: int
) -> bool:
    """Whether 0 lies beyond a fence even with the lower quartile `shift` ranks lower and the upper one as many higher."""
    first = _between(axis, running, held, n, rows, rows - 1 - 4 * shift, 4, low, high)
    third = _between(axis, running, held, n, rows, 3 * (rows - 1) + 4 * shift, 4, low, high)
    reach = top * (third - first)
    return bottom * third + reach < 0 or bottom * first - reach > 0


@kernel
def _deviant_at(
    axis: Ints, running: Counts, held: Ints, n: int, rows: int, low: int, high: int, top: int, bottom: int, shift: int
) -> bool:
    """Whether 0 is far from every median that `shift` ranks allow, with `shift` rows more than half of them near all of these."""
    least = _between(axis, running, held, n, rows, rows - 1 - 2 * shift, 2, low, high)
    most = _between(axis, running, held, n, rows, rows - 1 + 2 * shift, 2, low, high)
    gap = max(least, -most)  # twice the distance from 0 to the nearest of them
    if gap <= 0:
        return False
    within = (bottom * gap - 1) // top  # twice the largest deviation that is still small
    first = int(np.searchsorted(axis, -((within - most) // 2), side="left"))  # 2z ≥ most − within
    last = int(np.searchsorted(axis, (least + within) // 2, side="right"))  # 2z ≤ least + within
    if last <= first:
        return False
    near = _up_to(running, held, n, last) - _up_to(running, held, n, first)
    return near >= rows // 2 + 1 + shift


@kernel
def _least_shift(
    axis: Ints,
    running: Counts,
    held: Ints,
    n: int,
    rows: int,
    low: int,
    high: int,
    top: int,
    bottom: int,
    fences: bool,  # noqa: FBT001 - numba has no keyword arguments
    cap: int,
) -> int:
    """The least shift at which 0 does not stand out, at most `cap`."""
    known, enough = -1, min(cap, rows)  # at a shift of all ranks nothing stands out
    while enough - known > 1:
        shift = (known + enough) // 2
        if fences:
            out = _fenced_at(axis, running, held, n, rows, low, high, top, bottom, shift)
        else:
            out = _deviant_at(axis, running, held, n, rows, low, high, top, bottom, shift)
        if out:
            known = shift
        else:
            enough = shift
    return enough


@kernel(parallel=True)
def shifted_runs(
    axis: Ints,
    places: Ints,
    copies: Ints,
    words: Words,
    contexts: Words,
    run: int,
    population: Ints,
    bounds: tuple[int, int],
    top: int,
    bottom: int,
    fences: bool,  # noqa: FBT001 - numba has no keyword arguments
    cap: int,
    teams: int,
    counts: Counts,
    shifts: Ints,
) -> None:
    """The least shift of ranks, at most `cap`, at which the record does not stand out, for `run` neighbouring contexts at a time."""
    low, high = bounds
    for team in prange(teams):
        keys, held = np.empty(run, np.uint64), np.empty(run, np.int64)
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
                n = 0
                for part in range(parts):
                    if not keys[part] & ~contexts[here]:
                        held[n] = part
                        n += 1
                shifts[here] = _least_shift(
                    axis, running, held, n, population[here], low, high, top, bottom, fences, cap
                )
