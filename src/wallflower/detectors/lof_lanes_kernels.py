"""Compiled loops behind `detectors.lof`: the factors of a few contexts side by side, from rows one by one.

Row r of context l stands at r·LANES + l, ascending in r, the record's own first copy in the same row for all. Every loop below runs along
neighbouring numbers, the same work for each: processors do many of them at once. Rows that a context lacks are too far away to be anybody's neighbour.
"""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Lanes = tuple[Small, Small, Small, Small, Ints, Ints, Ints]
"""Values, k-distances, sums of reaches, numbers of neighbours; rows of each lane below and from the record on, the context of each lane."""

LANES = 16
SIDE = 3
"""So many times k rows a side are taken one by one; more by multiplicity."""
TOGETHER = 4
"""Rows are summed up in multiples of this: the compiler takes so many at once, and does a rest one by one."""
FAR = np.int32(2**29)
NONE = np.int32(0)

FLOOR = 1e-10
"""`detectors.lof.FLOOR`, held equal by a test: what a kernel is made of stands in kernel files alone."""


@kernel
def middle(k: int) -> int:
    """The row of the record's own value."""
    return (3 * SIDE + 3) * k + 16


@kernel
def nearness(k: int) -> int:
    """Values closer than this to the record's, and the sums of all reaches between them, fit 32 bits."""
    return min(2**27, 2**30 // ((2 * SIDE + 2) * k))


@kernel
def empty_lanes(k: int) -> Lanes:
    size = 2 * middle(k) * LANES
    values = np.empty(size, np.int32)
    values[: size // 2] = -FAR
    values[size // 2 :] = FAR
    some = np.zeros(LANES, np.int64)
    return (
        values,
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        some,
        some.copy(),
        some.copy(),
    )


@kernel
def settled(lanes: Lanes, lane: int, k: int, below: int, same: int, above: int) -> None:
    """Make a lane whole whose rows below and above were written: the record's own copies are the only ones missing, and rows of an earlier context may be left."""
    values, centre = lanes[0], middle(k)
    for row in range(same):
        values[(centre + row) * LANES + lane] = NONE
    for free in range(below + 1, lanes[4][lane] + 1):
        values[(centre - free) * LANES + lane] = -FAR
    for free in range(same + above, lanes[5][lane]):
        values[(centre + free) * LANES + lane] = FAR
    lanes[4][lane], lanes[5][lane] = below, same + above


@kernel
def _around(values: Small, lane: int, k: int) -> tuple[int, int]:
    """The first of the record's neighbours in a lane, and the row past the last."""
    centre = middle(k)
    low, high = 0, k
    while low < high:  # the fewest rows below with which the k-th is no nearer than the last one above
        s = (low + high) >> 1
        if -values[(centre - s) * LANES + lane] >= values[(centre + k - s) * LANES + lane]:
            high = s
        else:
            low = s + 1
    reach = -values[(centre - low) * LANES + lane]
    if low > 0:
        reach = min(reach, values[(centre + k - low + 1) * LANES + lane])
    begin, end = centre - low, centre + k - low + 1
    while -values[begin * LANES + lane] > reach:
        begin += 1
    while -values[(begin - 1) * LANES + lane] <= reach:
        begin -= 1
    while values[end * LANES + lane] <= reach:
        end += 1
    return begin, end


@kernel
def _reaches(values: Small, first: int, rows: int, k: int, reach: Small) -> None:
    """The k-distances of all lanes in rows from `first` on."""
    size = (rows + TOGETHER - 1) // TOGETHER * TOGETHER * LANES
    here, found = values[first * LANES : first * LANES + size], reach[first * LANES : first * LANES + size]
    high = (first + k) * LANES
    right = values[high : high + size]
    for i in range(size):
        found[i] = np.int32(right[i] - here[i])
    for s in range(1, k + 1, 2):
        # With s of the k others before it: this many at least lie within the larger of the two ends. Two at a time; the last may be looked at twice.
        t = min(s + 1, k)
        low, high = (first - s) * LANES, (first + k - s) * LANES
        left, right = values[low : low + size], values[high : high + size]
        low, high = (first - t) * LANES, (first + k - t) * LANES
        left_too, right_too = values[low : low + size], values[high : high + size]
        for i in range(size):
            down, up = np.int32(here[i] - left[i]), np.int32(right[i] - here[i])
            wider = down if down > up else up  # noqa: FURB136 - this becomes one instruction, max() does not
            down, up = np.int32(here[i] - left_too[i]), np.int32(right_too[i] - here[i])
            wider_too = down if down > up else up  # noqa: FURB136 - as above
            wider = wider if wider < wider_too else wider_too  # noqa: FURB136 - as above
            found[i] = wider if wider < found[i] else found[i]  # noqa: FURB136 - as above


@kernel
def _added(values: Small, reach: Small, first: int, rows: int, d: int, sums: Small, numbers: Small) -> int:
    """Add, for each row, the reach to the one d further on, where that is a neighbour: how many were."""
    size = rows * LANES
    at, to = first * LANES, (first + d) * LANES
    here, mine = values[at : at + size], reach[at : at + size]
    there, theirs = values[to : to + size], reach[to : to + size]
    added, counted = sums[at : at + size], numbers[at : at + size]
    any_near = np.int32(0)
    for i in range(size):
        gap = np.int32(there[i] - here[i])
        wider = theirs[i] if theirs[i] > gap else gap  # noqa: FURB136 - as above
        near = np.int32(1) if gap <= mine[i] else NONE
        added[i] += wider if gap <= mine[i] else NONE
        counted[i] += near
        any_near |= near
    return int(any_near)


@kernel
def _added_before(values: Small, reach: Small, first: int, rows: int, d: int, sums: Small, numbers: Small) -> int:
    """The same to the one d before."""
    size = rows * LANES
    at, to = first * LANES, (first - d) * LANES
    here, mine = values[at : at + size], reach[at : at + size]
    there, theirs = values[to : to + size], reach[to : to + size]
    added, counted = sums[at : at + size], numbers[at : at + size]
    any_near = np.int32(0)
    for i in range(size):
        gap = np.int32(here[i] - there[i])
        wider = theirs[i] if theirs[i] > gap else gap  # noqa: FURB136 - as above
        near = np.int32(1) if gap <= mine[i] else NONE
        added[i] += wider if gap <= mine[i] else NONE
        counted[i] += near
        any_near |= near
    return int(any_near)


@kernel(error_model="numpy")
def decide(lanes: Lanes, count: int, k: int, threshold: float, valid: NDArray[np.bool_]) -> None:
    """Whether the factor of each of the first `count` lanes exceeds the threshold."""
    if count == 0:
        return
    values, reach, sums, numbers = lanes[0], lanes[1], lanes[2], lanes[3]
    begins, ends = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    first, after, lowest, highest = len(values), 0, 0, 0
    for lane in range(count):
        begins[lane], ends[lane] = _around(values, lane, k)
        first, after = min(first, begins[lane]), max(after, ends[lane])
        lowest, highest = max(lowest, lanes[4][lane]), max(highest, lanes[5][lane])
    rows = (after - first + TOGETHER - 1) // TOGETHER * TOGETHER
    lower, upper = middle(k) - lowest, middle(k) + highest
    known, past = max(first - k, lower), min(after + k, upper)
    _reaches(values, known, past - known, k, reach)
    sums[first * LANES : (first + rows) * LANES] = 0
    numbers[first * LANES : (first + rows) * LANES] = 0
    d, e = 1, 1
    while d <= min(k, upper - first) and _added(values, reach, first, rows, d, sums, numbers):
        d += 1
    while e <= min(k, after - lower) and _added_before(values, reach, first, rows, e, sums, numbers):
        e += 1
    if d > k or e > k:  # ties may reach further
        _reaches(values, lower, known - lower, k, reach)
        _reaches(values, past, upper - past, k, reach)
        while k < d <= upper - first and _added(values, reach, first, rows, d, sums, numbers):
            d += 1
        while k < e <= after - lower and _added_before(values, reach, first, rows, e, sums, numbers):
            e += 1
    for lane in range(count):
        valid[lanes[6][lane]] = _factor(lanes, lane, begins[lane], ends[lane]) > threshold


@kernel(error_model="numpy")
def _factor(lanes: Lanes, lane: int, begin: int, end: int) -> float:
    values, sums, numbers = lanes[0], lanes[2], lanes[3]
    total, own = 0.0, 0.0
    o = begin
    while o < end:
        place = o * LANES + lane
        value = values[place]
        density = 1.0 / (sums[place] / numbers[place] + FLOOR)
        copies = 1
        while o + copies < end and values[(o + copies) * LANES + lane] == value:
            copies += 1
        if value == 0:
            own = density
            total += (copies - 1) * density
        else:
            total += copies * density
        o += copies
    factor: float = total / (end - begin - 1) / own
    return factor
