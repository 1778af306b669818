"""Corners of a box: Theorem 5.1 of the paper, and who is in no strictly plain group."""
# ruff: noqa: C901, FBT001, PLR0917 - numba compiles plain loops and positional arguments; helpers cost compile time

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel
from wallflower.geometry.face_kernels import (
    ALL,
    ENDS,
    FARTHEST,
    FREE,
    HIGH,
    INSIDE,
    LOW,
    NO,
    UNSURE,
    WIDTH,
    YES,
    Blocks,
    face,
    hoped,
    normal,
)
from wallflower.publish.range_kernels import (
    face_of,
    some_normal,
    together,
)

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel(error_model="numpy")
def corner_of(low: Whole, high: Whole, sides: NDArray[np.int8], point: Whole) -> None:
    for a in range(low.size):
        point[a] = high[a] if sides[a] == HIGH else low[a]


@kernel(error_model="numpy")
def corners(
    blocks: Blocks,
    guide: Blocks,
    low: Whole,
    high: Whole,
    values: Whole,
    good: Flags,
    faces: NDArray[np.int8],
    hasty: bool,
    patience: int,
) -> int:
    """Theorem 5.1 (3): YES when every corner of these faces of the box is normal with some value. Marks values seen to be
    normal in `good`. ALL when every corner of the box is normal with every value, UNSURE when `patience` faces were not enough.

    The guide, a sample, says which faces to split without asking the rows: their parts are asked, so that the answer is the same.
    A `hasty` no may be wrong, a yes never is.
    """
    quasi = low.size
    axes = quasi + values.shape[1]
    mid = np.empty(axes, np.float32)
    half = np.zeros(axes, np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(axes, np.int64)
    if together(blocks, guide, low, high, values, mid, half, room):
        good[:] = True
        return ALL
    stack = np.zeros((quasi + 2 + faces.shape[0], quasi), np.int8)
    depth = faces.shape[0]
    stack[:depth] = faces
    first = True
    while depth > 0:
        patience -= 1
        if patience < 0:
            return UNSURE
        depth -= 1
        sides = stack[depth].copy()
        for a in range(values.shape[1]):
            mid[quasi + a] = (values[0, a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
            half[quasi + a] = 0
        widest = face_of(blocks, low, high, sides, mid, half)
        if (widest < 0 or hoped(guide, mid, half, FARTHEST, room)) and face(blocks, mid, half, FARTHEST, room) == YES:
            good[0] = True
            continue
        if widest < 0:
            corner_of(low, high, sides, point)
            found = some_normal(blocks, guide, point, values, good, hasty, mid, half, room)
            if not found:
                return NO
            continue
        if first:
            # The corner farthest from the rows is the most likely to fail, and one failure decides.
            first = False
            for a in range(quasi):
                point[a] = low[a] if abs(low[a] - blocks.centre[a]) > abs(high[a] - blocks.centre[a]) else high[a]
                if sides[a] != FREE:
                    point[a] = low[a] if sides[a] == LOW else high[a]
            if not some_normal(blocks, guide, point, values, good, hasty, mid, half, room):
                return NO
            widest = face_of(blocks, low, high, sides, mid, half)
        nearer = LOW if mid[widest] > 0 else HIGH  # x is centred on the rows: the end nearer to 0 is the easier one
        for side in (nearer, LOW + HIGH - nearer):
            stack[depth] = sides
            stack[depth, widest] = side
            depth += 1
    return YES


@kernel(error_model="numpy")
def some_corner(
    blocks: Blocks, guide: Blocks, low: Whole, high: Whole, values_: Whole, good: Flags, patience: int
) -> int:
    """Theorem 5.1 (2): complete `good`: which values are normal at some corner. NO when one is at none, UNSURE as above."""
    quasi = low.size
    axes = quasi + values_.shape[1]
    mid = np.empty(axes, np.float32)
    half = np.zeros(axes, np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(axes, np.int64)
    answer = YES
    stack = np.zeros((quasi + 2, quasi), np.int8)
    for j in range(values_.shape[0]):
        if good[j]:
            continue
        stack[0] = FREE
        depth = 1
        while depth > 0 and not good[j]:
            patience -= 1
            if patience < 0:
                return UNSURE
            depth -= 1
            sides = stack[depth].copy()
            for a in range(values_.shape[1]):
                mid[quasi + a] = (values_[j, a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
                half[quasi + a] = 0
            widest = face_of(blocks, low, high, sides, mid, half)
            if widest >= 0 and hoped(guide, mid, half, ENDS, room) and face(blocks, mid, half, ENDS, room) == NO:
                continue
            if widest < 0:
                corner_of(low, high, sides, point)
                point[quasi:] = values_[j]
                good[j] = normal(blocks, point, mid, half, room)
                continue
            nearer = LOW if mid[widest] > 0 else HIGH
            for side in (LOW + HIGH - nearer, nearer):
                stack[depth] = sides
                stack[depth, widest] = side
                depth += 1
        if not good[j]:
            answer = NO
    return answer


@kernel(error_model="numpy")
def outermost_at(
    blocks: Blocks, low: Whole, high: Whole, middle: Whole, mid: Floats, half: Floats, room: Floats
) -> Any:
    quasi = low.size
    for a in range(quasi):
        end = high[a] if abs(high[a] - blocks.centre[a]) >= abs(low[a] - blocks.centre[a]) else low[a]
        mid[a] = (end - blocks.centre[a]) * blocks.scale[a]
        half[a] = 0
    for a in range(middle.size):
        mid[quasi + a] = (middle[a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
        half[quasi + a] = 0
    return face(blocks, mid, half, FARTHEST, room)


@kernel(error_model="numpy")
def outermost(blocks: Blocks, low: Whole, high: Whole, value: Whole) -> Any:
    """YES, NO or UNSURE: whether the corner farthest from the rows' centre is normal with this sensitive value."""
    axes = low.size + value.size
    return outermost_at(
        blocks, low, high, value, np.empty(axes, np.float32), np.empty(axes, np.float32), np.empty(WIDTH, np.float32)
    )


@kernel(error_model="numpy")
def unhidable(blocks: Blocks, rows: Whole, least: Whole, most: Whole, out: Flags) -> None:
    """Rows that are provably in no strictly plain group: some corner outward of them is an outlier with every value.

    In any box around t one corner lies outward of t in directions σ, so that a row t' is at least Σ max(0, σ(t − t'))² away from
    it: the distance from t' to the box between t and the end of the table in those directions. Tried: outward from the
    centre in every column, and that with one column turned round; so this finds some of them, never a wrong one.
    """
    quasi = rows.shape[1]
    axes = blocks.centre.size
    mid = np.empty(axes, np.float32)
    half = np.empty(axes, np.float32)
    room = np.empty(WIDTH, np.float32)
    for i in range(rows.shape[0]):
        for turned in range(-1, quasi):
            for a in range(axes):
                low = least[a]
                high = most[a]
                if a < quasi:
                    up = rows[i, a] >= blocks.centre[a]
                    if a == turned:
                        up = not up
                    if up:
                        low = rows[i, a]
                    else:
                        high = rows[i, a]
                mid[a] = ((low + high) * 0.5 - blocks.centre[a]) * blocks.scale[a]
                half[a] = (high - low) * 0.5 * blocks.scale[a]
            if face(blocks, mid, half, INSIDE, room) == NO:
                out[i] = True
                break
