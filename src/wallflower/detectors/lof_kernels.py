"""Compiled loops behind `detectors.lof`: local outlier factors of many contexts, run by run.

Contexts with few ties are decided side by side from their rows (`lof_lanes_kernels`), the others here, from distinct values and their multiplicities.
"""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel
from wallflower.detectors.lof_lanes_kernels import FLOOR, LANES, SIDE, decide, empty_lanes, middle, nearness, settled
from wallflower.detectors.lof_lists_kernels import FIRST_ROOM, cleared, empty_list, found_for, held, poured

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Side = tuple[Ints, Ints, Words, Ints]
Room = tuple[Ints, ...]


@kernel
def nearest(z: Ints, m: Ints, n: int, p: int, k: int) -> tuple[int, int, int]:
    """The neighbours of the value at p, first and last, and how many rows they are, p's own included."""
    low, high, inside, reach = p, p, m[p], 0
    while inside < k + 1:
        if high + 1 >= n or (low > 0 and z[p] - z[low - 1] <= z[high + 1] - z[p]):
            low -= 1
            inside += m[low]
            reach = z[p] - z[low]
        else:
            high += 1
            inside += m[high]
            reach = z[high] - z[p]
    if low > 0 and z[p] - z[low - 1] <= reach:
        low -= 1
        inside += m[low]
    if high + 1 < n and z[high + 1] - z[p] <= reach:
        high += 1
        inside += m[high]
    return low, high, inside


@kernel
def neighbourhoods(
    z: Ints, m: Ints, n: int, begin: int, end: int, k: int, first: Ints, last: Ints, reach: Ints, around: Ints
) -> None:
    """For each value from the first neighbour of `begin` to the last of `end`: its neighbours first..last, its k-distance, and how many they are."""
    p, _, _ = nearest(z, m, n, begin, k)
    low, high, inside = nearest(z, m, n, p, k)
    needed = end
    while p <= needed:
        # Both ends only move right when p does: the k-distance changes by no more than p moves.
        while high < p or inside < k + 1:
            high += 1
            inside += m[high]
        while z[p] - z[low] > z[high] - z[p]:
            if inside - m[low] >= k + 1:
                inside -= m[low]
                low += 1
            elif high + 1 < n and z[high + 1] - z[p] <= z[p] - z[low]:
                high += 1
                inside += m[high]
            else:
                break
        first[p], last[p], around[p] = low, high, inside - 1
        reach[p] = max(z[p] - z[low], z[high] - z[p])
        if p == end:
            needed = high
        p += 1


@kernel(error_model="numpy")
def by_multiplicity(
    z: Ints, m: Ints, n: int, centre: int, k: int, first: Ints, last: Ints, reach: Ints, around: Ints
) -> float:
    """The local outlier factor of one copy of z[centre] among distinct ascending z with multiplicities m."""
    begin, end, inside = nearest(z, m, n, centre, k)
    neighbourhoods(z, m, n, begin, end, k, first, last, reach, around)
    total = 0.0
    own = 0.0
    for o in range(begin, end + 1):
        reaches = (m[o] - 1) * reach[o]  # to its own copies, not to itself
        for q in range(first[o], o):
            reaches += m[q] * max(z[o] - z[q], reach[q])
        for q in range(o + 1, last[o] + 1):
            reaches += m[q] * max(z[q] - z[o], reach[q])
        density = 1.0 / (reaches / around[o] + FLOOR)
        if o == centre:
            own = density
            total += (m[o] - 1) * density
        else:
            total += m[o] * density
    factor: float = total / (inside - 1) / own
    return factor


@kernel
def _joined(
    below: Ints, above: Ints, copies: tuple[Ints, Ints], sizes: tuple[int, int], same: int, room: Room, k: int
) -> float:
    """The factor from the values of both sides, nearest first."""
    z, m = room[0], room[1]
    left, right = sizes
    for i in range(left):
        z[left - 1 - i], m[left - 1 - i] = -below[i], copies[0][i]
    z[left], m[left] = 0, same
    for i in range(right):
        z[left + 1 + i], m[left + 1 + i] = above[i], copies[1][i]
    return by_multiplicity(z, m, left + 1 + right, left, k, room[2], room[3], room[4], room[5])


@kernel(parallel=True)
def lof_runs(  # noqa: C901 - two ways to decide a context
    below: Side,
    above: Side,
    high: Words,
    levels: Ints,
    population: Ints,
    same: Ints,
    k: int,
    threshold: float,
    least: int,
    teams: int,
    valid: NDArray[np.bool_],
) -> None:
    """Decide contexts, run by run: those of a run share the bits `high` of their words and differ in digits of these many `levels`."""
    run = 1
    for size in levels:
        run *= size
    for team in prange(teams):
        lanes, waiting = empty_lanes(k), 0
        room = (
            np.empty(4 * k + 3, np.int64),
            np.empty(4 * k + 3, np.int64),
            np.empty(4 * k + 3, np.int64),
            np.empty(4 * k + 3, np.int64),
            np.empty(4 * k + 3, np.int64),
            np.empty(4 * k + 3, np.int64),
        )
        near, far = np.empty(2 * k + 1, np.int64), np.empty(2 * k + 1, np.int64)
        copies = (np.empty(2 * k + 1, np.int64), np.empty(2 * k + 1, np.int64))
        state = np.empty((3, run), np.int64)
        lows, highs = empty_list(FIRST_ROOM, run), empty_list(FIRST_ROOM, run)
        most, limit = SIDE * k, nearness(k)
        for r in range(team, len(high), teams):
            if np.max(population[r * run : (r + 1) * run]) < max(least, 2):
                continue
            n, columns, lows = found_for(below, ~high[r], k, levels, state, lows)
            n_above, columns_above, highs = found_for(above, ~high[r], k, levels, state, highs)
            units = 2 * (columns + columns_above) <= n + n_above
            for place in range(run):
                here = r * run + place
                rows = population[here]
                if rows < least or rows < 2:
                    continue
                begin, own = middle(k) * LANES + waiting, same[here]
                left, right, values = -1, -1, 0
                if units and rows > k and own <= k:
                    left, values = poured(lows, place, n, k, lanes[0], begin - LANES, -LANES, -1, most, limit)
                    if left >= 0:
                        right, more = poured(
                            highs, place, n_above, k, lanes[0], begin + own * LANES, LANES, 1, most, limit
                        )
                        values += more
                if right >= 0 and 4 * (left + right) <= 5 * values + 5:
                    settled(lanes, waiting, k, left, own, right)
                    lanes[6][waiting] = here
                    waiting += 1
                    if waiting == LANES:
                        decide(lanes, waiting, k, threshold, valid)
                        waiting = 0
                    continue
                if units:
                    lanes[4][waiting], lanes[5][waiting] = most, most + k  # what was written there and is not wanted
                left, _ = held(lows, place, n, k, near, copies[0])
                right, _ = held(highs, place, n_above, k, far, copies[1])
                valid[here] = _joined(near, far, copies, (left, right), own, room, min(k, rows - 1)) > threshold
            cleared(lows, n, columns)
            cleared(highs, n_above, columns_above)
        decide(lanes, waiting, k, threshold, valid)
