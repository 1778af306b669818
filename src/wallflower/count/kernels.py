"""Compiled loops behind `count.covers`. Each has a slow twin in the tests.

`times[i] ≤ t` says that place i belongs to the t-th of a family of nested sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]


@kernel
def window(values: Ints, times: Ints, t: int, length: int) -> int:
    """The most members within one closed interval of this length; `values` ascend."""
    best = inside = first = 0
    for last in range(values.size):
        if times[last] > t:
            continue
        inside += 1
        while values[last] - values[first] > length:
            inside -= times[first] <= t
            first += 1
        best = max(best, inside)
    return best


@kernel
def lines_cover(across: Ints, along: Ints, times: Ints, t: int, shape: tuple[float, float, int]) -> int:
    """The most members in one region of the fixed family {|x − c| ≤ half(|y − line|)}, c any integer, line a multiple of `pitch`.

    `along` (y) ascends. The half-width is rounded outwards and is a function of |y − line| alone, so that the family is fixed.
    """
    wide, tall, pitch = shape
    size = along.size
    last_gap = np.int64(tall) + 1
    starts, ends = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    best = first = 0
    row = np.int64(0)
    fresh = True
    while first < size:
        if times[first] > t:
            first += 1
            continue
        lowest = -((last_gap - along[first]) // pitch)  # the first row that reaches this place: ⌈(y − gap)/pitch⌉
        if fresh or row < lowest:
            row, fresh = lowest, False
        centre = row * pitch
        if along[first] < centre - last_gap:
            first += 1
            continue
        many = 0
        i = first
        while i < size and along[i] <= centre + last_gap:
            if times[i] <= t:
                gap = (along[i] - centre) / tall
                half = np.int64(wide * np.sqrt(max(0.0, 1.0 - gap * gap) + 1e-12)) + 1
                starts[many], ends[many] = across[i] - half, across[i] + half
                many += 1
            i += 1
        row += 1
        if many <= best:
            continue
        begin, end = np.sort(starts[:many]), np.sort(ends[:many])
        passed = 0
        for j in range(many):
            while end[passed] < begin[j]:
                passed += 1
            best = max(best, j + 1 - passed)
    return best


@kernel
def degeneracy(starts: Ints, neighbours: NDArray[np.int32], times: Ints, t: int) -> int:  # noqa: C901 - one peeling
    """The largest minimum degree of a subgraph of the members' graph, by peeling; a place is no neighbour of its own."""
    size = times.size
    degrees = np.zeros(size, dtype=np.int64)
    members = most = 0
    for place in range(size):
        if times[place] > t:
            continue
        members += 1
        for edge in range(starts[place], starts[place + 1]):
            other = neighbours[edge]
            degrees[place] += times[other] <= t and other != place
        most = max(most, degrees[place])
    bins = np.zeros(most + 2, dtype=np.int64)
    for place in range(size):
        if times[place] <= t:
            bins[degrees[place] + 1] += 1
    for degree in range(most + 1):
        bins[degree + 1] += bins[degree]
    queue, where = np.empty(members, dtype=np.int64), np.empty(size, dtype=np.int64)
    fill = bins.copy()
    for place in range(size):
        if times[place] <= t:
            where[place] = fill[degrees[place]]
            queue[where[place]] = place
            fill[degrees[place]] += 1
    deepest = 0
    for turn in range(members):
        place = queue[turn]
        deepest = max(deepest, degrees[place])
        for edge in range(starts[place], starts[place + 1]):
            other = neighbours[edge]
            if times[other] > t or degrees[other] <= degrees[place]:
                continue
            # Move the neighbour to the front of its bin, then the bin's front past it (Batagelj and Zaversnik, 2003).
            front = bins[degrees[other]]
            swapped = queue[front]
            queue[front], queue[where[other]] = other, swapped
            where[swapped], where[other] = where[other], front
            bins[degrees[other]] += 1
            degrees[other] -= 1
    return deepest
