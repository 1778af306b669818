"""People whose quasi-identifiers lie in a box: candidate plainness."""
# ruff: noqa: C901, FBT001, PLR0912, PLR0917 - numba compiles plain loops and positional arguments; helpers cost compile time

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel
from wallflower.geometry.face_kernels import (
    ALL,
    FARTHEST,
    INSIDE,
    NO,
    WIDTH,
    YES,
    Blocks,
    face,
    hoped,
    normal,
)
from wallflower.publish.range_kernels import (
    part,
    some_normal,
    split,
    together,
    values_at,
)

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel(error_model="numpy")
def everyone(
    blocks: Blocks, guide: Blocks, people: Whole, values_: Whole, good: Flags, bad: Flags, first_only: bool, hasty: bool
) -> int:
    """Candidate plainness (b): YES when everyone is normal with some value, ALL when with every value. `bad` marks who is not
    (the first, or all). A `hasty` no may be wrong, a yes never is.
    """
    quasi = people.shape[1]
    mid = np.empty(quasi + values_.shape[1], np.float32)
    half = np.zeros(quasi + values_.shape[1], np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(quasi + values_.shape[1], np.int64)
    order = np.arange(people.shape[0])
    low = np.empty(quasi, np.int64)
    high = np.empty(quasi, np.int64)
    for a in range(quasi if people.shape[0] else 0):
        low[a] = people[:, a].min()
        high[a] = people[:, a].max()
    if people.shape[0] and together(blocks, guide, low, high, values_, mid, half, room):
        good[:] = True
        return ALL
    stack = [(0, people.shape[0])]
    answer = YES
    while len(stack) > 0:
        start, stop = stack.pop()
        if stop <= start:
            continue
        for a in range(values_.shape[1]):
            mid[quasi + a] = (values_[0, a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
            half[quasi + a] = 0
        widest, cut = split(people, order, start, stop, blocks, 0, mid, half)
        if (widest < 0 or hoped(guide, mid, half, FARTHEST, room)) and face(blocks, mid, half, FARTHEST, room) == YES:
            good[0] = True
            continue
        if widest < 0:
            point[:quasi] = people[order[start]]
            found = some_normal(blocks, guide, point, values_, good, hasty, mid, half, room)
            if not found:
                answer = NO
                for i in range(start, stop):
                    bad[order[i]] = True
                if first_only:
                    return NO
            continue
        middle = part(people, order, start, stop, widest, cut)
        stack.append((start, middle))
        stack.append((middle, stop))
    return answer


@kernel(error_model="numpy")
def someone(blocks: Blocks, guide: Blocks, people: Whole, values_: Whole, good: Flags) -> int:
    """Candidate plainness (a): complete `good`: which values are normal for someone."""
    quasi = people.shape[1]
    mid = np.empty(quasi + values_.shape[1], np.float32)
    half = np.zeros(quasi + values_.shape[1], np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(quasi + values_.shape[1], np.int64)
    order = np.arange(people.shape[0])
    if good.all():
        return YES
    if people.shape[0] == 0:
        return NO
    best = 0
    least = np.inf
    for i in range(people.shape[0]):
        gap = 0.0
        for a in range(quasi):
            t = (people[i, a] - blocks.centre[a]) * blocks.scale[a]
            gap += t * t
        if gap < least:
            least = gap
            best = i
    values_at(blocks, guide, people[best], values_, good)
    answer = YES
    for j in range(values_.shape[0]):
        if good[j]:
            continue
        stack = [(0, people.shape[0])]
        while len(stack) > 0 and not good[j]:
            start, stop = stack.pop()
            if stop <= start:
                continue
            for a in range(values_.shape[1]):
                mid[quasi + a] = (values_[j, a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
                half[quasi + a] = 0
            widest, cut = split(people, order, start, stop, blocks, 0, mid, half)
            if widest >= 0 and hoped(guide, mid, half, INSIDE, room) and face(blocks, mid, half, INSIDE, room) == NO:
                continue
            if widest < 0:
                point[:quasi] = people[order[start]]
                point[quasi:] = values_[j]
                good[j] = normal(blocks, point, mid, half, room)
                continue
            middle = part(people, order, start, stop, widest, cut)
            stack.append((start, middle))
            stack.append((middle, stop))
        if not good[j]:
            answer = NO
    return answer
