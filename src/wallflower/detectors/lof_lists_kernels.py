"""Compiled loops behind `detectors.lof`: the values around the record that neighbouring contexts need, found once for all of them.

A run of contexts differs in a few digits of the index alone. A value's place is the least context of the run that holds its cell; the other contexts that hold it
are those with no smaller digit, so that one pass over the digits tells all contexts which values they hold (a bit each) and how often.
"""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Counts = NDArray[np.int32]
Side = tuple[Ints, Ints, Words, Ints]
"""Distance, rows, the bits of the cell's word above those of a run, place in a run; nearest first."""
List = tuple[Ints, Ints, Words, Counts]
"""Distinct distances, for each the column of its counts (0, all ones: one row wherever it is), the bits and the counts of each context."""

FIRST_ROOM = 512
ONE = np.uint64(1)
LAST = np.uint64(63)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
_ORDER = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    _ORDER[((0x03F79D71B4CB0A89 << _bit) & (2**64 - 1)) >> 58] = _bit


@kernel
def lowest_bit(bits: np.uint64) -> int:
    """The place of the lowest bit that is set: the product's highest six bits are different for each."""
    place: int = _ORDER[((bits & (~bits + ONE)) * DE_BRUIJN) >> SHIFT]
    return place


@kernel
def empty_list(room: int, run: int) -> List:
    """Room for so many distinct values, rounded up to whole words of bits."""
    counts = np.zeros((run, room + 1), np.int32)
    counts[:, 0] = 1
    return np.empty(room, np.int64), np.empty(room, np.int64), np.zeros((run, room // 64 + 1), np.uint64), counts


@kernel
def cleared(made: List, n: int, columns: int) -> None:
    """Forget the bits and counts of a list of n values."""
    made[2][:, : n // 64 + 1] = 0
    made[3][:, 1 : columns + 1] = 0


@kernel
def passed(state: Ints, p: int, gap: int, k: int) -> bool:
    """Whether the rows at place p alone were enough before this distance: k of them up to a value, and k more up to another."""
    last, within, enough = state[0], state[1], state[2]
    if gap > last[p]:
        if enough[p] >= 0:
            return bool(within[p] >= enough[p])
        if within[p] >= k:
            enough[p] = within[p] + k
    return False


@kernel
def listed(side: Side, outside: np.uint64, k: int, state: Ints, into: List) -> tuple[int, int]:
    """The values that contexts of a run may need, and how many of them have counts of their own; (-1, 0) where they do not fit.

    A value is left out once the cells of its own place alone hold all that its context, and so each that holds it, needs; nothing
    further is needed once the cells that every context holds are enough: see lof.md.
    """
    gaps, copies, high, place = side
    found, column_of, bits, counts = into
    state[0], state[1], state[2] = 0, 0, -1
    n, columns, owner = 0, 0, 0
    for entry in range(len(gaps)):
        if high[entry] & outside:
            continue
        gap, p, rows = gaps[entry], place[entry], copies[entry]
        if passed(state, 0, gap, k):
            break
        if p > 0 and passed(state, p, gap, k):
            continue
        state[0, p], state[1, p] = gap, state[1, p] + rows
        new = n == 0 or found[n - 1] != gap
        if new:
            if n == len(found):
                return -1, 0
            found[n], column_of[n], owner = gap, 0, p
            n += 1
        if column_of[n - 1] == 0 and (not new or rows > 1):
            columns += 1
            column_of[n - 1] = columns
            counts[owner, columns] = 0 if new else 1
        if column_of[n - 1] > 0:
            counts[p, column_of[n - 1]] += rows
        bits[p, (n - 1) >> 6] |= ONE << (np.uint64(n - 1) & LAST)
    return n, columns


@kernel
def found_for(side: Side, outside: np.uint64, k: int, levels: Ints, state: Ints, room: List) -> tuple[int, int, List]:
    """What each context of a run holds, in this room or in more: how many values, how many of them with counts, and the list."""
    run = state.shape[1]
    n, columns = listed(side, outside, k, state, room)
    while n < 0:
        room = empty_list(2 * len(room[0]), run)
        n, columns = listed(side, outside, k, state, room)
    spread(levels, run, n, columns, room)
    return n, columns, room


@kernel
def spread(levels: Ints, run: int, n: int, columns: int, made: List) -> None:
    """From what lies at each place to what each context holds: along each digit, a level holds what the level below does."""
    words = (n + 63) >> 6
    stride = 1
    for size in levels:
        for base in range(0, run, stride * size):
            for here in range(base + stride, base + stride * size):
                bits, below = made[2][here], made[2][here - stride]
                for word in range(words):
                    bits[word] |= below[word]
                if columns > 0:
                    counts, fewer = made[3][here, 1 : columns + 1], made[3][here - stride, 1 : columns + 1]
                    for column in range(columns):
                        counts[column] += fewer[column]
        stride *= size


@kernel
def held(made: List, here: int, n: int, k: int, found: Ints, copies: Ints) -> tuple[int, int]:
    """Distinct distances and their rows in one context, nearest first, until they are all the factor can depend on: how many of each.

    Those are the values up to the one with which k others are reached, and from there until k more are: see lof.md.
    """
    gaps, column_of, bits, counts = made
    size, within, enough = 0, 0, -1
    for word in range((n + 63) >> 6):
        left = bits[here, word]
        while left:
            entry = (word << 6) + lowest_bit(left)
            left &= left - ONE
            if enough < 0:
                if within >= k:
                    enough = within + k
            elif within >= enough:
                return size, within
            rows = int(counts[here, column_of[entry]])
            found[size], copies[size] = gaps[entry], rows
            size += 1
            within += rows
    return size, within


@kernel
def poured(
    made: List, here: int, n: int, k: int, into: Counts, place: int, step: int, sign: int, most: int, limit: int
) -> tuple[int, int]:
    """The same values written row by row, from `place` on in steps: how many rows and how many values; (-1, 0) where a value is too far or rows are too many."""
    gaps, column_of, bits, counts = made
    size, within, enough = 0, 0, -1
    for word in range((n + 63) >> 6):
        left = bits[here, word]
        while left:
            entry = (word << 6) + lowest_bit(left)
            left &= left - ONE
            if enough < 0:
                if within >= k:
                    enough = within + k
            elif within >= enough:
                return within, size
            gap, rows = gaps[entry], int(counts[here, column_of[entry]])
            if gap >= limit or within + rows > most:
                return -1, 0
            value = np.int32(sign * gap)
            for _ in range(rows):
                into[place] = value
                place += step
            within += rows
            size += 1
    return within, size
