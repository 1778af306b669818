"""Compiled walks behind `geometry.index`. Nothing here is public; each has a slow twin in the tests.

Coordinates come centred, as doubles that hold integers exactly, in blocks of BLOCK rows laid out [block][column][row].
`scaled[i]` is weight[i] / (limit + 1/2): a pair is within the radius iff Σ scaled·Δ² < 1. The double sum is trusted
outside [LOW, HIGH] of the caller; inside, the pair is decided again in integers (`_within`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel
from wallflower.geometry.arrangement_kernels import BLOCK

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def _within(one: Ints, other: Ints, exactly: Any) -> bool:
    """Σ weight·Δ² ≤ limit in integers: in 64 bits where the caller proved that enough, else in limbs of 32 bits."""
    reach, weights, limit, limbs, bound = exactly
    if reach.size:
        total = np.int64(0)
        for axis in range(reach.size):
            gap = abs(one[axis] - other[axis])
            if gap > reach[axis]:  # so that no term is above limit, and no sum above 2·limit < 2^63
                return False
            total += weights[axis] * gap * gap
            if total > limit:
                return False
        return True
    length = bound.size
    sums = np.zeros(length, dtype=np.uint64)
    square = np.zeros(4, dtype=np.uint64)
    for axis in range(limbs.shape[0]):
        gap_bits = np.uint64(abs(one[axis] - other[axis]))
        low, high = gap_bits & _MASK, gap_bits >> _HALF
        square[0] = (low * low) & _MASK
        carry = (low * low) >> _HALF
        cross = low * high  # below 2^54: gaps are at most 2^54
        middle = carry + ((cross << np.uint64(1)) & _MASK)
        square[1] = middle & _MASK
        upper = (middle >> _HALF) + (cross >> np.uint64(31)) + ((high * high) & _MASK)
        square[2] = upper & _MASK
        square[3] = (upper >> _HALF) + ((high * high) >> _HALF)
        for i in range(4):
            carry = np.uint64(0)
            for j in range(length - i):
                value = sums[i + j] + square[i] * limbs[axis, j] + carry
                sums[i + j] = value & _MASK
                carry = value >> _HALF
    for i in range(length - 1, -1, -1):
        if sums[i] != bound[i]:
            return bool(sums[i] < bound[i])
    return True


@kernel
def _box_gaps(low: Floats, high: Floats, other_low: Floats, other_high: Floats, scaled: Floats) -> tuple[float, float]:
    """Least and greatest squared distance between a point of one box and a point of the other."""
    least = most = 0.0
    for axis in range(scaled.size):
        gap = max(low[axis] - other_high[axis], other_low[axis] - high[axis], 0.0)
        span = max(high[axis] - other_low[axis], other_high[axis] - low[axis])
        least += scaled[axis] * gap * gap
        most += scaled[axis] * span * span
    return least, most


@kernel
def _centre_gap(low: Floats, high: Floats, other_low: Floats, other_high: Floats, scaled: Floats) -> float:
    total = 0.0
    for axis in range(scaled.size):
        gap = low[axis] + high[axis] - other_low[axis] - other_high[axis]
        total += scaled[axis] * gap * gap
    return total


@kernel(fastmath={"contract", "reassoc", "nsz"})
def _squares(block: Floats, point: Floats, scaled: Floats, out: Floats) -> None:
    row = block[0]
    centre, factor = point[0], scaled[0]
    for i in range(BLOCK):
        gap = row[i] - centre
        out[i] = factor * gap * gap
    for axis in range(1, scaled.size):
        row = block[axis]
        centre, factor = point[axis], scaled[axis]
        for i in range(BLOCK):
            gap = row[i] - centre
            out[i] += factor * gap * gap


@kernel
def _enclose(block: Floats, counts: Ints, cap: int, low: Floats, high: Floats) -> None:
    """The box of those rows of a block whose count is below the cap."""
    low[:], high[:] = np.inf, -np.inf
    for i in range(counts.size):
        if counts[i] < cap:
            for axis in range(low.size):
                low[axis], high[axis] = min(low[axis], block[axis, i]), max(high[axis], block[axis, i])


@kernel(fastmath={"contract", "reassoc", "nsz"})
def _gap(low: Floats, high: Floats, point: Floats, scaled: Floats) -> float:
    """Least squared distance from a point to a box."""
    total = 0.0
    for axis in range(scaled.size):
        gap = max(low[axis] - point[axis], point[axis] - high[axis], 0.0)
        total += scaled[axis] * gap * gap
    return total


@kernel
def _meet(  # noqa: PLR0917 - a parallel loop takes no tuple of tuples
    blocks: Floats,
    rows: Ints,
    leaf: int,
    asked: Ints,
    point: Floats,
    scaled: Floats,
    low_edge: float,
    high_edge: float,
    exactly: Any,
    squares: Floats,
    found: NDArray[np.int32],
) -> int:
    """How many rows of one block are within the radius of one row; `found`, if it has room, gets their places."""
    place = leaf * BLOCK
    filled = min(place + BLOCK, rows.shape[0]) - place
    _squares(blocks[leaf], point, scaled, squares)
    sure = doubtful = 0
    for j in range(BLOCK):
        doubtful += squares[j] < high_edge
    if doubtful == 0:
        return 0
    for j in range(BLOCK):
        sure += squares[j] < low_edge
    if doubtful > sure or found.size:
        sure = 0
        for j in range(filled):
            if squares[j] < low_edge or (squares[j] < high_edge and _within(asked, rows[place + j], exactly)):
                if found.size:
                    found[sure] = place + j
                sure += 1
    return sure


@kernel
def _climb(  # noqa: PLR0917 - as above
    blocks: Floats,
    rows: Ints,
    low: Floats,
    high: Floats,
    levels: int,
    home: int,
    asked: Ints,
    point: Floats,
    scaled: Floats,
    low_edge: float,
    high_edge: float,
    exactly: Any,
    squares: Floats,
    stack: Ints,
    count: int,
    cap: int,
) -> int:
    """The count of one row of the tree whose own block, at place `home`, gave `count`: up from there, the nearer side first."""
    tree, total = blocks.shape[0], rows.shape[0]
    nowhere = np.empty(0, dtype=np.int32)
    for up in range(levels):
        stack[0, 0], stack[0, 1] = levels - up, (home >> up) ^ 1
        node = (1 << stack[0, 0]) - 1 + stack[0, 1]
        top = int(_gap(low[node], high[node], point, scaled) <= high_edge)
        while top > 0:
            top -= 1
            level, place = stack[top, 0], stack[top, 1]
            begin, end = (tree * place) >> level, (tree * (place + 1)) >> level
            if begin == end:
                continue
            if level == levels:
                count += _meet(
                    blocks, rows, begin, asked, point, scaled, low_edge, high_edge, exactly, squares, nowhere
                )
            else:
                node = (1 << level) - 1 + place
                _, most = _box_gaps(low[node], high[node], point, point, scaled)
                if most < low_edge:
                    count += min(end * BLOCK, total) - begin * BLOCK
                else:
                    left = node * 2 + 1
                    near = _gap(low[left], high[left], point, scaled)
                    far = _gap(low[left + 1], high[left + 1], point, scaled)
                    second = 1 if near <= far else 0
                    if max(near, far) <= high_edge:
                        stack[top, 0], stack[top, 1] = level + 1, 2 * place + second
                        top += 1
                    if min(near, far) <= high_edge:
                        stack[top, 0], stack[top, 1] = level + 1, 2 * place + 1 - second
                        top += 1
            if count >= cap:
                return cap
    return count


@kernel(parallel=True)
def neighbours(  # noqa: C901, PLR0912, PLR0915 - one walk; splitting it costs the inner loop its registers
    forest: Any, questions: Any, decision: Any, cap: int, listing_into: Any
) -> Ints:
    """For each asked row how many rows are within the radius, at most `cap`; with `starts`, also which ones.

    A block of asked rows walks the tree together, first to where it is itself, then to the nearer side. A node wholly
    inside or outside the radius is settled by its box. Under a small cap the own block is enough for most rows of the
    tree, and the others climb on alone. With `starts` (uncapped counts summed up) the walk writes the places it finds.
    """
    blocks, rows, low, high, levels = forest
    groups, asked, group_low, group_high, turns, homes = questions
    scaled, (low_edge, high_edge), exactly = decision
    starts, found = listing_into
    total, wanted = rows.shape[0], asked.shape[0]
    tree = blocks.shape[0]
    listing, at_home = starts.size > 0, homes.size > 0
    alone = at_home and not listing and cap <= BLOCK
    counts = np.zeros(wanted, dtype=np.int64)
    for turn in prange(turns.size):
        group = turns[turn]
        first = group * BLOCK
        many = min(BLOCK, wanted - first)
        squares = np.empty(BLOCK)
        stack = np.empty((levels + 2, 2), dtype=np.int64)
        point = np.empty(scaled.size)
        nowhere = np.empty(0, dtype=np.int32)
        open_rows = boxed = many
        box_low, box_high = group_low[group].copy(), group_high[group].copy()
        stack[0, 0] = stack[0, 1] = 0
        top = 1
        if alone:
            top = 0
            _, most = _box_gaps(box_low, box_high, box_low, box_high, scaled)
            for i in range(first, first + many):
                for axis in range(scaled.size):
                    point[axis] = groups[group, axis, i - first]
                counts[i] = many
                if most >= low_edge:
                    counts[i] = _meet(
                        blocks, rows, group, asked[i], point, scaled, low_edge, high_edge, exactly, squares, nowhere
                    )
                if counts[i] < cap:
                    counts[i] = _climb(
                        blocks,
                        rows,
                        low,
                        high,
                        levels,
                        homes[group],
                        asked[i],
                        point,
                        scaled,
                        low_edge,
                        high_edge,
                        exactly,
                        squares,
                        stack,
                        counts[i],
                        cap,
                    )
        while top > 0 and open_rows > 0:
            top -= 1
            level, place = stack[top, 0], stack[top, 1]
            begin, end = (tree * place) >> level, (tree * (place + 1)) >> level
            if begin == end:
                continue
            node = (1 << level) - 1 + place
            if 2 * open_rows <= boxed:  # the few that are still looking need a smaller box than all of them
                boxed = open_rows
                _enclose(groups[group], counts[first : first + many], cap, box_low, box_high)
            least, most = _box_gaps(low[node], high[node], box_low, box_high, scaled)
            if least > high_edge:
                continue
            if most < low_edge and not listing:
                inside = min(end * BLOCK, total) - begin * BLOCK
                for i in range(first, first + many):
                    if counts[i] < cap:
                        counts[i] += inside
                        if counts[i] >= cap:
                            open_rows -= 1
                continue
            if level < levels:
                left = node * 2 + 1
                near = _centre_gap(low[left], high[left], box_low, box_high, scaled)
                far = _centre_gap(low[left + 1], high[left + 1], box_low, box_high, scaled)
                second = 1 if near <= far else 0
                if at_home and homes[group] >> (levels - level) == place:
                    second = 1 - ((homes[group] >> (levels - level - 1)) & 1)
                stack[top, 0], stack[top, 1] = level + 1, 2 * place + second
                stack[top + 1, 0], stack[top + 1, 1] = level + 1, 2 * place + 1 - second
                top += 2
                continue
            here = begin * BLOCK
            filled = min(here + BLOCK, total) - here
            for i in range(first, first + many):
                if counts[i] >= cap:
                    continue
                for axis in range(scaled.size):
                    point[axis] = groups[group, axis, i - first]
                least, most = _box_gaps(low[node], high[node], point, point, scaled)
                if least > high_edge:
                    continue
                if most < low_edge and not listing:
                    counts[i] += filled
                else:
                    into = found[starts[i] + counts[i] :] if listing else nowhere
                    counts[i] += _meet(
                        blocks, rows, begin, asked[i], point, scaled, low_edge, high_edge, exactly, squares, into
                    )
                if counts[i] >= cap:
                    open_rows -= 1
        for i in range(first, first + many):
            counts[i] = min(counts[i], cap)
    return counts
