"""Counting near rows fast and exactly.

Rows lie in blocks of WIDTH with a bounding box each, coordinates divided by d so that "near" is Σ x² ≤ 1. A count first
runs in float32 with a margin that covers its rounding: rows below the margin are surely near, rows above surely far. Only
when the answer hangs on rows inside the margin are these decided one by one, in float64 and, within 10^-13, in whole numbers
modulo 2^64 (limits below 2^104 are why their sign is then right). So `near` is exact.

A whole face of a box is decided with one count: by the distance to its FARTHEST point ("every point of it is normal"), or
to the nearest of its ENDS or to its INSIDE ("no corner is normal", "no point is normal").
"""
# ruff: noqa: C901, PLR0912, PLR0917 - numba compiles plain loops and positional arguments; helpers cost compile time

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

WIDTH = 256
FARTHEST, ENDS, INSIDE = 0, 1, 2
YES, NO, UNSURE, ALL = 1, 0, 2, 3
FREE, LOW, HIGH = 0, 1, 2
_CLASSES, _FINENESS = 16, 5
"""Blocks are looked at by classes of least + greatest distance, this many to a unit."""


class Blocks(NamedTuple):
    """Rows in blocks. Axes: quasi-identifiers first, then sensitive columns; an axis without weight has coordinates 0."""

    x: NDArray[Any]
    """[block, axis, WIDTH]: places above the lowest of the block, in as few bytes as hold them, because reading them is what
    takes time in a large table. A coordinate is base + x·unit. Only the first `fill` of a block count.
    """
    v: NDArray[np.int64]
    """The same as whole places."""
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    """[axis, block]: the bounding box of a block's rows, laid out so that all boxes are compared at once."""
    base: NDArray[np.float32]
    fixed: NDArray[np.bool_]
    """[block, axis]: `low` again, and whether it is `high`."""
    low_place: NDArray[np.int64]
    high_place: NDArray[np.int64]
    """[block, axis]: the same as whole places."""
    fill: NDArray[np.int64]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    """A coordinate is (v − centre)·scale."""
    unit: NDArray[np.float32]
    """`scale` again."""
    ratio: NDArray[np.float64]
    """factor / limit, for float64"""
    factor: NDArray[np.uint64]
    """factor modulo 2^64"""
    limit: np.uint64
    margin: np.float32
    rows: int
    enough: int
    """Normal: more than this many rows are near."""


@kernel(error_model="numpy")
def reach(blocks: Blocks, mid: Floats, half: Floats, mode: int) -> Floats:
    """Least and greatest squared distance between a row of each block and the face: [2, block]."""
    span = np.zeros((2, blocks.fill.size), np.float32)
    least = span[0]
    most = span[1]
    zero = np.float32(0)
    for a in range(mid.size):
        low = blocks.low[a]
        high = blocks.high[a]
        m = mid[a]
        h = half[a]
        if mode == FARTHEST or h == 0:
            for b in range(least.size):
                below = low[b] - m
                above = high[b] - m
                near = max(below, -above, zero) + h
                far = max(abs(below), abs(above)) + h
                least[b] += near * near
                most[b] += far * far
        elif mode == ENDS:
            for b in range(least.size):
                below = low[b] - m
                above = high[b] - m
                near = max(below, -above, zero) - h
                far = max(abs(below), abs(above)) - h
                nearest = max(near, -far, zero)
                farthest = max(abs(near), abs(far))
                least[b] += nearest * nearest
                most[b] += farthest * farthest
        else:
            for b in range(least.size):
                below = low[b] - m
                above = high[b] - m
                near = max(max(below, -above, zero) - h, zero)
                far = max(max(abs(below), abs(above)) - h, zero)
                least[b] += near * near
                most[b] += far * far
    return span


@kernel(error_model="numpy")
def measure(
    x: NDArray[Any], unit: Floats, base: Floats, fixed: Flags, b: int, mid: Floats, half: Floats, mode: int, out: Floats
) -> None:
    """Squared distances of one block's rows. Columns in which the block has one value are settled at once."""
    same = np.float32(0)
    for a in range(mid.size):
        if fixed[b, a]:
            t = abs(base[b, a] - mid[a])
            if mode == FARTHEST:
                t += half[a]
            elif mode == ENDS:
                t -= half[a]
            else:
                t = max(t - half[a], np.float32(0))
            same += t * t
    for i in range(WIDTH):
        out[i] = same
    for a in range(mid.size):
        if fixed[b, a]:
            continue
        m = mid[a] - base[b, a]
        u = unit[a]
        h = half[a]
        row = x[b, a]
        if h == 0:
            for i in range(WIDTH):
                t = np.float32(row[i]) * u - m
                out[i] += t * t
        elif mode == FARTHEST:
            for i in range(WIDTH):
                t = abs(np.float32(row[i]) * u - m) + h
                out[i] += t * t
        elif mode == ENDS:
            for i in range(WIDTH):
                t = abs(np.float32(row[i]) * u - m) - h
                out[i] += t * t
        else:
            for i in range(WIDTH):
                t = max(abs(np.float32(row[i]) * u - m) - h, np.float32(0))
                out[i] += t * t


@kernel(error_model="numpy", fastmath={"reassoc"})
def _tally(squares: Floats, many: int, edge: np.float32) -> int:
    """How many of the first `many` are at most `edge`; counted in float32, exact up to 2^24, because that fills the registers."""
    count = np.float32(0)
    for i in range(many):
        count += np.float32(1) if squares[i] <= edge else np.float32(0)
    return int(count)


@kernel(error_model="numpy")
def _class_of(both: np.float32) -> int:
    return int(
        min(both * np.float32(_FINENESS), np.float32(_CLASSES - 1))
    )  # the least first: an integer holds no 10^30


@kernel(error_model="numpy")
def face(blocks: Blocks, mid: Floats, half: Floats, mode: int, room: Floats) -> int:
    """YES: surely more than `enough` rows are near. NO: surely not. UNSURE: it hangs on rows inside the margin."""
    sure = 0
    rest = 0
    lower = np.float32(1) - blocks.margin
    upper = np.float32(1) + blocks.margin
    span = reach(blocks, mid, half, mode)
    starts = np.zeros(_CLASSES + 1, np.int64)
    for b in range(blocks.fill.size):
        if span[1, b] <= lower:
            sure += blocks.fill[b]
        elif span[0, b] <= upper:
            rest += blocks.fill[b]
            starts[_class_of(span[0, b] + span[1, b]) + 1] += 1
    if sure > blocks.enough:
        return YES
    if sure + rest <= blocks.enough:
        return NO
    for c in range(_CLASSES):
        starts[c + 1] += starts[c]
    order = np.empty(starts[_CLASSES], np.int64)  # blocks more inside than outside first: they settle a yes soonest
    for b in range(blocks.fill.size):
        if span[1, b] > lower and span[0, b] <= upper:
            c = _class_of(span[0, b] + span[1, b])
            order[starts[c]] = b
            starts[c] += 1
    maybe = sure
    for b in order:
        measure(blocks.x, blocks.unit, blocks.base, blocks.fixed, b, mid, half, mode, room)
        sure += _tally(room, blocks.fill[b], lower)
        maybe += _tally(room, blocks.fill[b], upper)
        rest -= blocks.fill[b]
        if sure > blocks.enough:
            return YES
        if maybe + rest <= blocks.enough:
            return NO
    return UNSURE


@kernel(error_model="numpy")
def hoped(guide: Blocks, mid: Floats, half: Floats, mode: int, room: Floats) -> Any:
    """Whether a face is worth asking all rows about, as far as the guide can tell."""
    if guide.rows == 0:
        return True
    answer = face(guide, mid, half, mode, room)
    return answer == YES if mode == FARTHEST else answer == NO


@kernel(error_model="numpy")
def _exactly_near(blocks: Blocks, b: int, i: int, point: Whole) -> Any:
    total = 0.0
    for a in range(point.size):
        gap = np.float64(blocks.v[b, a, i] - point[a])
        total += blocks.ratio[a] * (gap * gap)
    if total <= 1 - 1e-13:
        return True
    if total >= 1 + 1e-13:
        return False
    whole = np.uint64(0)
    for a in range(point.size):
        step = np.uint64(abs(blocks.v[b, a, i] - point[a]))
        whole += blocks.factor[a] * step * step
    return np.int64(blocks.limit - whole) >= 0


@kernel(error_model="numpy")
def at_point(blocks: Blocks, point: Whole, mid: Floats, half: Floats) -> None:
    for a in range(point.size):
        mid[a] = (point[a] - blocks.centre[a]) * blocks.scale[a]
        half[a] = 0


@kernel(error_model="numpy")
def near(blocks: Blocks, point: Whole, mid: Floats, half: Floats, room: Floats) -> int:
    """How many rows are near `point`, exactly."""
    at_point(blocks, point, mid, half)
    count = 0
    lower = np.float32(1) - blocks.margin
    upper = np.float32(1) + blocks.margin
    span = reach(blocks, mid, half, FARTHEST)
    for b in range(blocks.fill.size):
        if span[1, b] <= lower:
            count += blocks.fill[b]
        elif span[0, b] <= upper:
            measure(blocks.x, blocks.unit, blocks.base, blocks.fixed, b, mid, half, FARTHEST, room)
            for i in range(blocks.fill[b]):
                if room[i] <= lower or (room[i] <= upper and _exactly_near(blocks, b, i, point)):
                    count += 1
    return count


@kernel(error_model="numpy")
def normal(blocks: Blocks, point: Whole, mid: Floats, half: Floats, room: Floats) -> Any:
    """Whether `point` is not a (p, d)-outlier, exactly."""
    at_point(blocks, point, mid, half)
    answer = face(blocks, mid, half, FARTHEST, room)
    if answer != UNSURE:
        return answer == YES
    return near(blocks, point, mid, half, room) > blocks.enough


@kernel(error_model="numpy")
def normal_many(blocks: Blocks, points: Whole, out: Flags) -> None:
    mid = np.empty(points.shape[1], np.float32)
    half = np.empty(points.shape[1], np.float32)
    room = np.empty(WIDTH, np.float32)
    for i in range(points.shape[0]):
        out[i] = normal(blocks, points[i], mid, half, room)


@kernel(error_model="numpy")
def inside_box(blocks: Blocks, low: Whole, high: Whole, out: Whole) -> int:
    """Slots (block·WIDTH + place) of the rows inside the box; returns how many."""
    found = 0
    for b in range(blocks.fill.size):
        apart = False
        for a in range(low.size):
            if blocks.low_place[b, a] > high[a] or blocks.high_place[b, a] < low[a]:
                apart = True
                break
        if apart:
            continue
        for i in range(blocks.fill[b]):
            inside = True
            for a in range(low.size):
                if blocks.v[b, a, i] < low[a] or blocks.v[b, a, i] > high[a]:
                    inside = False
                    break
            if inside:
                out[found] = b * WIDTH + i
                found += 1
    return found
