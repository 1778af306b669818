"""The compiled loops behind `identify.counts` and `identify.overlap`. Their slow twins are `Metric.near` and the tests'."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]


@kernel(parallel=True)
def look_at_every_row(rows: Ints, asked: Ints, decision: Any, cap: int, parts: int) -> Ints:
    """For each asked value and each part of the rows how many are near, at most `cap` each.

    A gap counts up to `farthest`, one step beyond what the limit allows (1 for a category): then no sum can overflow, which the
    caller sees to, and nothing branches.
    """
    weights, farthest, limit = decision
    size, width = rows.shape
    numbers = rows.ravel()
    found = np.zeros((asked.shape[0], parts), dtype=np.int64)
    for turn in prange(asked.shape[0] * parts):
        question, part = turn // parts, turn % parts
        value = asked[question]
        first, last = size * part // parts, size * (part + 1) // parts
        # Unsigned places are never counted from the end, and the loop is three times as fast without that test.
        at, columns = np.uint64(first * width), np.uint64(width)
        many = 0
        for _ in range(first, last):
            total = 0
            for axis in range(columns):
                gap = min(abs(numbers[at + axis] - value[axis]), farthest[axis])
                total += weights[axis] * gap * gap
            at += columns
            many += total <= limit
            if many >= cap:
                break
        found[question, part] = many
    return found


@kernel()
def most_in_a_disc(places: Ints, weights: Ints, scales: Any, turns: int) -> int:  # noqa: C901 - one sweep
    """At least the most weight in one closed disc of radius 1, by turning a disc about each place; all of it after `turns` pairs.

    `places` ascend in their first column. Ends of arcs are off by less than 2·10^−8 (an arc cosine near 1); each arc is made longer by
    10^−7 at either end, so that none is missed.
    """
    size = places.shape[0]
    total = weights.sum()
    best = weights.max()
    looked = 0
    starts, ends = np.empty(size), np.empty(size)
    carried = np.empty(size, dtype=np.int64)
    for one in range(size):
        many = 0
        always = weights[one]
        for direction in (-1, 1):
            other = one + direction
            while 0 <= other < size:
                across = (places[other, 0] - places[one, 0]) * scales[0]
                if abs(across) > 2.0000001:
                    break
                up = (places[other, 1] - places[one, 1]) * scales[1]
                apart = np.sqrt(across * across + up * up)
                if apart <= 2.0000001:
                    if apart == 0.0:
                        always += weights[other]
                    else:
                        towards = np.arctan2(up, across)
                        half = np.arccos(min(1.0, apart / 2)) + 1e-7
                        starts[many], ends[many], carried[many] = towards - half, towards + half, weights[other]
                        many += 1
                other += direction
                looked += 1
                if looked > turns:
                    return int(total)
        inside = always
        for i in range(many):  # arcs over the cut at −π are open when the turn begins
            inside += carried[i] * (starts[i] < -np.pi or ends[i] > np.pi)
        turned = starts[:many].copy()
        closed = ends[:many].copy()
        for i in range(many):
            turned[i] += 2 * np.pi * (turned[i] < -np.pi)
            closed[i] -= 2 * np.pi * (closed[i] > np.pi)
        begin, end = np.argsort(turned), np.argsort(closed)
        best = max(best, inside)
        j = 0
        for i in begin:
            while j < many and closed[end[j]] < turned[i]:
                inside -= carried[end[j]]
                j += 1
            inside += carried[i]
            best = max(best, inside)
    return int(best)
