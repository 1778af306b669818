"""The loops that numpy cannot do: local outlier factors, histogram bars and distances to flipping of many contexts.

Values come as entries: distance from the asked-for value, how many rows of a cell hold it, the word of the cell (`space`),
nearest first, one list below and one above. A context's own list is found by walking outwards and skipping cells that are not in it.
"""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Side = tuple[Ints, Ints, Words]
Room = tuple[Ints, ...]

FLOOR = 1e-10
"""`detectors.lof.FLOOR`, held equal by a test: what a kernel is made of stands in kernel files alone."""
CLOSE = 1e-12
"""Relative distance within which a comparison of doubles is left to whole numbers."""


@kernel
def _walk(
    gaps: Ints, copies: Ints, words: Words, size: int, outside: np.uint64, k: int, found: Ints, held: Ints
) -> int:
    """Distinct distances on one side, nearest first, until they are all the factor can depend on.

    Those are the values up to the one with which k others are reached, and from there until k more are: see lof.md.
    """
    n = 0
    within = 0
    enough = -1
    for entry in range(size):
        if words[entry] & outside:
            continue
        gap = gaps[entry]
        if n > 0 and found[n - 1] == gap:
            held[n - 1] += copies[entry]
        else:
            if enough < 0:
                if within >= k:
                    enough = within + k
            elif within >= enough:
                break
            found[n] = gap
            held[n] = copies[entry]
            n += 1
        within += copies[entry]
    return n


@kernel
def _neighbourhoods(z: Ints, m: Ints, n: int, k: int, first: Ints, last: Ints, reach: Ints, around: Ints) -> None:
    """For each distinct value its neighbours first..last, all within its k-distance `reach`, and how many they are."""
    low, high, inside = 0, -1, 0
    for p in range(n):
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


@kernel
def _factor(z: Ints, m: Ints, n: int, centre: int, k: int, first: Ints, last: Ints, reach: Ints, around: Ints) -> float:
    """The local outlier factor of one copy of z[centre] among distinct ascending z with multiplicities m."""
    _neighbourhoods(z, m, n, k, first, last, reach, around)
    total = 0.0
    own = 0.0
    for o in range(first[centre], last[centre] + 1):
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
    factor: float = total / around[centre] / own
    return factor


@kernel
def _one(below: Side, above: Side, sizes: tuple[int, int], same: int, outside: np.uint64, k: int, room: Room) -> float:
    """The factor in one context from its walks below and above."""
    gaps, held, z, m, first, last, reach, around = room
    left = _walk(below[0], below[1], below[2], sizes[0], outside, k, gaps, held)
    for i in range(left):
        z[left - 1 - i] = -gaps[i]
        m[left - 1 - i] = held[i]
    z[left] = 0
    m[left] = same
    right = _walk(above[0], above[1], above[2], sizes[1], outside, k, gaps, held)
    z[left + 1 : left + 1 + right] = gaps[:right]
    m[left + 1 : left + 1 + right] = held[:right]
    factor: float = _factor(z, m, left + 1 + right, left, k, first, last, reach, around)
    return factor


@kernel
def _room(k: int) -> Room:
    side, both = 2 * k + 1, 4 * k + 3
    return (
        np.empty(side, np.int64),
        np.empty(side, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
    )


@kernel
def _kept(source: Side, size: int, outside: np.uint64, into: Side) -> int:
    """Copy the entries whose cell can be in a context of this slice."""
    n = 0
    for entry in range(size):
        if not source[2][entry] & outside:
            into[0][n] = source[0][entry]
            into[1][n] = source[1][entry]
            into[2][n] = source[2][entry]
            n += 1
    return n


@kernel(parallel=True)
def lof_slices(
    below: Side,
    above: Side,
    middle: Words,
    low: Words,
    population: Ints,
    same: Ints,
    k: int,
    threshold: float,
    least: int,
    teams: int,
    valid: NDArray[np.bool_],
) -> None:
    """Decide all contexts middle × low of one slice: index (i, j) has the word middle[i] | low[j]."""
    lowest = np.uint64(0)
    for word in low:
        lowest |= word
    for team in prange(teams):
        room = _room(k)
        mine_below = (np.empty_like(below[0]), np.empty_like(below[1]), np.empty_like(below[2]))
        mine_above = (np.empty_like(above[0]), np.empty_like(above[1]), np.empty_like(above[2]))
        for i in range(team, len(middle), teams):
            outside = ~(middle[i] | lowest)
            sizes = (_kept(below, len(below[0]), outside, mine_below), _kept(above, len(above[0]), outside, mine_above))
            for j in range(len(low)):
                here = i * len(low) + j
                rows = population[here]
                if rows < least or rows < 2:
                    valid[here] = False
                    continue
                outside = ~(middle[i] | low[j])
                valid[here] = (
                    _one(mine_below, mine_above, sizes, same[here], outside, min(k, rows - 1), room) > threshold
                )


@kernel
def lof_some(
    below: Side,
    above: Side,
    words: Words,
    population: Ints,
    same: Ints,
    k: int,
    threshold: float,
    least: int,
    valid: NDArray[np.bool_],
) -> None:
    """Decide a few contexts, given by their words."""
    room = _room(k)
    sizes = (len(below[0]), len(above[0]))
    for here in range(len(words)):
        rows = population[here]
        valid[here] = (
            rows >= least
            and rows > 1
            and _one(below, above, sizes, same[here], ~words[here], min(k, rows - 1), room) > threshold
        )


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


@kernel
def _flip_with(
    m: int, size: int, total: int, squares: float, low: int, high: int, least: int, kappa: NDArray[np.float64]
) -> int:
    """Whether m moves can end a context's validity: 1 yes, 0 no, 2 too close for doubles. See robust.md for the formulas."""
    answer = 0
    for b in range(m + 1):
        a = m - b
        n = size + a - b
        if n < least:
            return 1
        K = kappa[n]
        best = ((K + b) * (high - low) / 2.0 - total + a * low) / (high + low)
        for j in range(min(max(int(np.floor(best - 1e-6)), 0), a), min(max(int(np.floor(best + 1e-6)) + 1, 0), a) + 1):
            t = total + j * (high + low) - a * low
            q = squares + float(j) * high * high + float(a - j) * low * low
            if t > (K + b) * high:
                left, right = float(t - b * high) ** 2 + K * b * float(high) * high, K * q
            elif t < -(K + b) * low:
                left, right = float(t + b * low) ** 2 + K * b * float(low) * low, K * q
            else:
                left, right = float(t) * t, (K + b) * q
            if left <= right * (1 - CLOSE):
                return 1
            if left <= right * (1 + CLOSE):
                answer = 2
    return answer


@kernel(parallel=True)
def flips(
    sizes: Ints,
    totals: Ints,
    squares: NDArray[np.float64],
    low: int,
    high: int,
    least: int,
    cap: int,
    kappa: NDArray[np.float64],
    found: Ints,
) -> None:
    """The least number of moves that ends each context's validity, at most `cap`; -1 where doubles cannot tell."""
    for here in prange(len(sizes)):
        known, tried, step = -1, 0, 0
        answer = 0
        while True:  # the first of 0, 1, 3, 7, ... moves that suffices
            answer = _flip_with(tried, sizes[here], totals[here], squares[here], low, high, least, kappa)
            if answer != 0 or tried >= cap:
                break
            known = tried
            step = 2 * step + 1
            tried = min(step, cap)
        enough = tried
        while answer != 2 and enough - known > 1:
            middle = (known + enough) // 2
            answer = _flip_with(middle, sizes[here], totals[here], squares[here], low, high, least, kappa)
            if answer == 1:
                enough = middle
            elif answer == 0:
                known = middle
        found[here] = -1 if answer == 2 else enough
