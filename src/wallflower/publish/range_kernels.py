"""Whole ranges of sensitive values and whole boxes of quasi-identifiers, decided with as few counts as possible."""
# ruff: noqa: FBT001, PLR0917 - numba compiles plain loops and positional arguments; helpers cost compile time

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel
from wallflower.geometry.face_kernels import (
    FARTHEST,
    HIGH,
    INSIDE,
    LOW,
    NO,
    WIDTH,
    YES,
    Blocks,
    at_point,
    face,
    hoped,
    measure,
    normal,
    reach,
)

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel(error_model="numpy", fastmath={"reassoc"})
def _within(blocks: Blocks, b: int, room: Floats, spot: Floats) -> int:
    """About how many rows of a block are near with this sensitive value, `room` holding their squared distance without it."""
    count = np.float32(0)
    quasi = blocks.low.shape[0] - spot.size
    if spot.size == 1:
        row = blocks.x[b, quasi]
        m = spot[0] - blocks.base[b, quasi]
        u = blocks.unit[quasi]
        for i in range(blocks.fill[b]):
            t = np.float32(row[i]) * u - m
            count += np.float32(1) if room[i] + t * t <= 1 else np.float32(0)
        return int(count)
    for i in range(blocks.fill[b]):
        s = room[i]
        for a in range(spot.size):
            t = np.float32(blocks.x[b, quasi + a, i]) * blocks.unit[quasi + a] + blocks.base[b, quasi + a] - spot[a]
            s += t * t
        count += np.float32(1) if s <= 1 else np.float32(0)
    return int(count)


@kernel(error_model="numpy")
def favoured(guide: Blocks, mid: Floats, half: Floats, values: Whole, room: Floats) -> int:
    """The value with which most rows of the guide are near all of a face."""
    quasi = mid.size - values.shape[1]
    counts = np.zeros(values.shape[0], np.int64)
    spots = np.empty(values.shape, np.float32)
    for j in range(values.shape[0]):
        for a in range(values.shape[1]):
            spots[j, a] = (values[j, a] - guide.centre[quasi + a]) * guide.scale[quasi + a]
    span = reach(guide, mid[:quasi], half[:quasi], FARTHEST)
    for b in range(guide.fill.size):
        if span[0, b] > 1:
            continue
        measure(guide.x, guide.unit, guide.base, guide.fixed, b, mid[:quasi], half[:quasi], FARTHEST, room)
        for j in range(values.shape[0]):
            counts[j] += _within(guide, b, room, spots[j])
    return int(np.argmax(counts))


@kernel(error_model="numpy")
def leading(guide: Blocks, low: Whole, high: Whole, values: Whole) -> Any:
    """The value with which most rows of the guide are near all of the box."""
    mid = np.empty(low.size + values.shape[1], np.float32)
    half = np.empty(low.size + values.shape[1], np.float32)
    face_of(guide, low, high, np.zeros(low.size, np.int8), mid, half)
    return favoured(guide, mid, half, values, np.empty(WIDTH, np.float32))


@kernel(error_model="numpy")
def face_of(blocks: Blocks, low: Whole, high: Whole, sides: NDArray[np.int8], mid: Floats, half: Floats) -> int:
    """Middle and half width of the face of a box; returns the widest free axis, −1 for a corner."""
    widest = -1
    for a in range(low.size):
        l = low[a]
        h = high[a]
        if sides[a] == LOW:
            h = l
        elif sides[a] == HIGH:
            l = h
        mid[a] = ((l + h) * 0.5 - blocks.centre[a]) * blocks.scale[a]
        half[a] = (h - l) * 0.5 * blocks.scale[a]
        if half[a] > 0 and (widest < 0 or half[a] > half[widest]):
            widest = a
    return widest


@kernel(error_model="numpy")
def some_normal(
    blocks: Blocks,
    guide: Blocks,
    point: Whole,
    values_: Whole,
    good: Flags,
    hasty: bool,
    mid: Floats,
    half: Floats,
    room: Floats,
) -> Any:
    """Whether the quasi-identifiers of `point` are normal with some value, which is marked in `good`.

    First with the value that the guide favours; the `hasty` leave it at that, and may say no where another value would do. Then
    one count with the whole range of values: when even that is too far, no value can be near enough.
    """
    quasi = point.size - values_.shape[1]
    at_point(blocks, point, mid, half)
    if guide.rows > 0 or hasty:
        likeliest = favoured(guide if guide.rows > 0 else blocks, mid, half, values_, room)
        point[quasi:] = values_[likeliest]
        if normal(blocks, point, mid, half, room):
            good[likeliest] = True
            return True
        if hasty:
            return False
    for a in range(values_.shape[1]):
        low = values_[:, a].min()
        high = values_[:, a].max()
        mid[quasi + a] = ((low + high) * 0.5 - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
        half[quasi + a] = (high - low) * 0.5 * blocks.scale[quasi + a]
    if face(blocks, mid, half, INSIDE, room) == NO:
        return False
    for j in range(values_.shape[0]):
        point[quasi:] = values_[j]
        if normal(blocks, point, mid, half, room):
            good[j] = True
            return True
    return False


@kernel(error_model="numpy")
def together(
    blocks: Blocks, guide: Blocks, low: Whole, high: Whole, values: Whole, mid: Floats, half: Floats, room: Floats
) -> Any:
    """Whether one count shows that every point of a box is normal with every value; not tried where the guide thinks it vain."""
    quasi = low.size
    for a in range(quasi + values.shape[1]):
        l = low[a] if a < quasi else values[:, a - quasi].min()
        h = high[a] if a < quasi else values[:, a - quasi].max()
        mid[a] = ((l + h) * 0.5 - blocks.centre[a]) * blocks.scale[a]
        half[a] = (h - l) * 0.5 * blocks.scale[a]
    return hoped(guide, mid, half, FARTHEST, room) and face(blocks, mid, half, FARTHEST, room) == YES


@kernel(error_model="numpy")
def split(
    points: Whole, order: Whole, start: int, stop: int, blocks: Blocks, first: int, mid: Floats, half: Floats
) -> tuple[int, float]:
    """Bounding box of points order[start:stop], whose columns are the axes from `first` on, as a face; returns its widest
    column (−1: all equal) and the middle of it.
    """
    widest = -1
    cut = 0.0
    for a in range(points.shape[1]):
        l = points[order[start], a]
        h = l
        for i in range(start + 1, stop):
            v = points[order[i], a]
            l = min(l, v)
            h = max(h, v)
        mid[first + a] = ((l + h) * 0.5 - blocks.centre[first + a]) * blocks.scale[first + a]
        half[first + a] = (h - l) * 0.5 * blocks.scale[first + a]
        if l < h and blocks.ratio[first + a] > 0 and (widest < 0 or half[first + a] > half[first + widest]):
            widest = a
            cut = (l + h) * 0.5
    return widest, cut


@kernel(error_model="numpy")
def part(points: Whole, order: Whole, start: int, stop: int, axis: int, cut: float) -> int:
    i = start
    for j in range(start, stop):
        if points[order[j], axis] <= cut:
            order[i], order[j] = order[j], order[i]
            i += 1
    return i


@kernel(error_model="numpy")
def values_at(blocks: Blocks, guide: Blocks, spot: Whole, values: Whole, good: Flags) -> None:
    """Mark in `good` the sensitive values that are normal with these quasi-identifiers, whole ranges of them at once; a value of
    which the guide thinks little is passed over.
    """
    quasi = spot.size
    mid = np.empty(quasi + values.shape[1], np.float32)
    half = np.zeros(quasi + values.shape[1], np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(quasi + values.shape[1], np.int64)
    point[:quasi] = spot
    order = np.flatnonzero(~good)
    stack = [(0, order.size)]
    while len(stack) > 0:
        start, stop = stack.pop()
        if stop <= start:
            continue
        point[quasi:] = values[order[start]]
        at_point(blocks, point, mid, half)
        widest, cut = split(values, order, start, stop, blocks, quasi, mid, half)
        promising = hoped(guide, mid, half, FARTHEST, room)
        if widest < 0:
            if promising and normal(blocks, point, mid, half, room):
                for i in range(start, stop):
                    good[order[i]] = True
        elif promising and face(blocks, mid, half, FARTHEST, room) == YES:
            for i in range(start, stop):
                good[order[i]] = True
        else:
            middle = part(values, order, start, stop, widest, cut)
            stack.append((start, middle))
            stack.append((middle, stop))
