"""Rows parted by ranges of one column, each part with a halo: what travels where, and what a part becomes where it arrives.

A row goes to every part whose range, widened by `below` and `above`, holds its value, and is at home in the one whose range holds it.
Where ranges begin changes time and memory, never an answer: `count/parts/parts.md` says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Repeated
from wallflower.engines.batches import joined, limited
from wallflower.geometry.strips import Strip

Ints = NDArray[np.int64]

TOGETHER = 200_000
"""About so many rows are looked at for equal ones before they travel."""
AT_A_TIME, WIDE = 2_000_000, 10
"""Rows of a part, and how many halos wide it is at least, where there is memory for it."""
FINER = 4
"""So many places are looked at for each part."""


@dataclass(frozen=True)
class Cut:
    """How rows are parted."""

    column: int
    below: int
    above: int
    """A part has every row from its least value − below to its greatest value + above."""
    starts: tuple[int, ...] = ()
    """The least value of each part but the first, ascending; the first and the last have no end on their outer side."""
    copies: int | None = None
    """Of equal rows so many are given at most, and a last column says how many rows each stands for; None: every row, and no such column."""

    @property
    def parts(self) -> int:
        return len(self.starts) + 1

    def homes(self, values: Ints) -> Ints:
        """The part in which each value is at home."""
        return np.asarray(np.searchsorted(np.array(self.starts, dtype=np.int64), values, side="right"))

    def travel(self, rows: Ints) -> tuple[Ints, Ints]:
        """Which rows go to which parts: the number of the row, and that of the part, once for each pair."""
        values = rows[:, self.column]
        # The parts from that of value − above to that of value + below: their widened ranges hold the value, and no others do.
        first, last = self.homes(values - self.above), self.homes(values + self.below)
        many = last - first + 1
        which = np.repeat(np.arange(len(rows)), many)
        place = np.arange(len(which)) - np.repeat(np.cumsum(many) - many, many)
        return which, first[which] + place

    def strip(self, part: int, rows: Ints, times: Ints) -> Strip:
        """What has come to a part, in any order and with equal rows together or apart."""
        merged = together(rows, times, first=self.column)
        given = np.repeat(merged.numbers, merged.times, axis=0) if self.copies is None else limited(merged, self.copies)
        values = given[:, self.column]
        begin = 0 if part == 0 else int(np.searchsorted(values, self.starts[part - 1], side="left"))
        end = len(given) if part == self.parts - 1 else int(np.searchsorted(values, self.starts[part], side="left"))
        return Strip(given, begin, end)


def together(rows: Ints, times: Ints, *, first: int = 0) -> Repeated:
    """Equal rows as one, ascending by the column `first` and then by the others."""
    others = [at for at in range(rows.shape[1]) if at != first]
    order = np.lexsort([rows[:, at] for at in reversed([first, *others])])
    for merged in _whole(joined([Repeated(rows[order], times[order])])):
        return merged
    return Repeated(rows[:0], times[:0])


def _whole(batches: Iterable[Repeated]) -> Iterator[Repeated]:
    found = list(batches)
    if found:
        yield Repeated(np.concatenate([each.numbers for each in found]), np.concatenate([each.times for each in found]))


def chunks(batches: Iterable[Ints], most: int = TOGETHER) -> Iterator[Ints]:
    """The same rows, in larger arrays."""
    held: list[Ints] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += len(batch)
        if size >= most:
            yield np.concatenate(held)
            held, size = [], 0
    if held:
        yield np.concatenate(held)


def begins(places: Sequence[int], each: int, *, halo: int, most: int) -> tuple[int, ...]:
    """Where parts begin, of ascending places with about `each` rows from one to the next.

    A part has about `AT_A_TIME` rows, and more where it would be narrower than ten halos; but no more than `most`, where it can be wider than its halo.
    So few rows travel more than once, and none more than three times. Only time and memory depend on it.

    >>> begins([10, 20, 30, 40, 50], 100, halo=15, most=200)
    (20, 40)
    """
    kept: list[int] = []
    rows = each
    for place in places:
        wide = place - kept[-1] if kept else math.inf  # the first part has no lower end
        full = rows + each > most and wide >= max(halo, 1)
        if full or (rows + each > min(most, AT_A_TIME) and wide >= max(WIDE * halo, 1)):
            kept.append(place)
            rows = 0
        rows += each
    return tuple(kept)
