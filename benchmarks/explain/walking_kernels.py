"""The kernel that decided LOF before lists and lanes: it walks outwards for each context. Kept as the baseline of the benchmark.

Values come as entries: distance from the asked-for value, how many rows of a cell hold it, the word of the cell (`contexts`),
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
Units = NDArray[np.float32]

UNITS = 6
"""Up to so many times k rows are taken one by one; more, or values further apart, by multiplicity in 64 bits."""
NEAR = 2**21
"""Singles hold whole numbers and their differences exactly up to 2^24: rows one by one lie closer to the record than this."""
FAR = np.float32(2**23)

FLOOR = 1e-10
"""`detectors.lof.FLOOR`, held equal by a test: what a kernel is made of stands in kernel files alone."""


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
def _reaches(units: Units, size: int, k: int, reach: Units) -> None:
    """The k-distance of each of `size` rows, of which units[k : k + size] holds the values, ascending, and far values on either side."""
    here, found = units[k : k + size], reach[:size]
    found[:] = FAR
    for s in range(k + 1):
        # With s of the k others to the left: this many at least lie within the larger of the two ends.
        left, right = units[k - s : k - s + size], units[2 * k - s : 2 * k - s + size]
        for p in range(size):
            down, up = here[p] - left[p], right[p] - here[p]
            wider = down if down > up else up  # noqa: FURB136 - this becomes one instruction, max() does not
            found[p] = wider if wider < found[p] else found[p]  # noqa: FURB136 - as above


@kernel
def _by_units(  # noqa: C901 - one walk over the neighbours
    units: Units, size: int, centre: int, k: int, reach: Units, room: Room
) -> float:
    """The same factor from rows one by one, ties next to each other: no branch depends on a value until the few neighbours are known."""
    _reaches(units, size, k, reach)
    z = units[k : k + size]
    places, reaches_up_to = room[8], room[9]
    places[0] = reaches_up_to[0] = 0
    for p in range(size):
        places[p + 1] = places[p] + np.int64(z[p])
        reaches_up_to[p + 1] = reaches_up_to[p] + np.int64(reach[p])
    begin, end = centre, centre + 1
    while begin > 0 and z[centre] - z[begin - 1] <= reach[centre]:
        begin -= 1
    while end < size and z[end] - z[centre] <= reach[centre]:
        end += 1
    total = 0.0
    own = 0.0
    first = begin
    while first > 0 and z[begin] - z[first - 1] <= reach[begin]:
        first -= 1
    near, far, after = first, begin, begin + 1  # none of them can lie before
    o = begin
    while o < end:
        value, span = np.int64(z[o]), np.int64(reach[o])
        copies = 1
        while o + copies < end and z[o + copies] == z[o]:
            copies += 1
        while near < size and z[near] + reach[near] <= z[o]:
            near += 1
        while far < size and z[far] - reach[far] < z[o]:
            far += 1
        while z[o] - z[first] > reach[o]:
            first += 1
        while after < size and z[after] - z[o] <= reach[o]:
            after += 1
        low, high = max(near, first), min(far, after)
        below = value * (low - first) - (places[low] - places[first])
        above = (places[after] - places[high]) - value * (after - high)
        reaches = below + reaches_up_to[high] - reaches_up_to[low] - span + above
        density = 1.0 / (reaches / (after - first - 1) + FLOOR)
        if z[o] == z[centre]:
            own = density
            total += (copies - 1) * density
        else:
            total += copies * density
        o += copies
    factor: float = total / (end - begin - 1) / own
    return factor


@kernel
def _one(
    below: Side,
    above: Side,
    sizes: tuple[int, int],
    same: int,
    outside: np.uint64,
    k: int,
    room: Room,
    units: Units,
    reach: Units,
) -> float:
    """The factor in one context from its walks below and above."""
    gaps, held, z, m = room[0], room[1], room[2], room[3]
    left = _walk(below[0], below[1], below[2], sizes[0], outside, k, gaps, held)
    rows = same
    for i in range(left):
        z[left - 1 - i] = -gaps[i]
        m[left - 1 - i] = held[i]
        rows += held[i]
    z[left] = 0
    m[left] = same
    right = _walk(above[0], above[1], above[2], sizes[1], outside, k, gaps, held)
    for i in range(right):
        z[left + 1 + i] = gaps[i]
        m[left + 1 + i] = held[i]
        rows += held[i]
    n = left + 1 + right
    factor: float
    if rows > min(len(reach), n + n // 4) or z[n - 1] >= NEAR or -z[0] >= NEAR:
        factor = _factor(z, m, n, left, k, room[4], room[5], room[6], room[7])
        return factor
    units[:k] = -FAR
    p, centre = k, k
    for i in range(n):
        if i == left:
            centre = p
        for _ in range(m[i]):
            units[p] = z[i]
            p += 1
    units[p : p + k] = FAR
    factor = _by_units(units, rows, centre - k, k, reach, room)
    return factor


@kernel
def _room(k: int) -> Room:
    side, both, most = 2 * k + 1, 4 * k + 3, UNITS * k + UNITS
    return (
        np.empty(side, np.int64),
        np.empty(side, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(both, np.int64),
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
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
def lof_runs(
    below: Side,
    above: Side,
    words: Words,
    run: int,
    population: Ints,
    same: Ints,
    k: int,
    threshold: float,
    least: int,
    teams: int,
    valid: NDArray[np.bool_],
) -> None:
    """Decide contexts, `run` neighbouring ones at a time: they share one list of the entries that any of them holds."""
    for team in prange(teams):
        room = _room(k)
        units, reach = np.empty((UNITS + 2) * k + UNITS, np.float32), np.empty(UNITS * k + UNITS, np.float32)
        mine_below = (np.empty_like(below[0]), np.empty_like(below[1]), np.empty_like(below[2]))
        mine_above = (np.empty_like(above[0]), np.empty_like(above[1]), np.empty_like(above[2]))
        for begin in range(team * run, len(words), teams * run):
            end = min(begin + run, len(words))
            around = np.uint64(0)
            for here in range(begin, end):
                around |= words[here]
            sizes = (_kept(below, len(below[0]), ~around, mine_below), _kept(above, len(above[0]), ~around, mine_above))
            for here in range(begin, end):
                rows = population[here]
                if rows < least or rows < 2:
                    valid[here] = False
                    continue
                valid[here] = (
                    _one(mine_below, mine_above, sizes, same[here], ~words[here], min(k, rows - 1), room, units, reach)
                    > threshold
                )
