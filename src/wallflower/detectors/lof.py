"""Local outlier factor on a line, with every tie included (Breunig, Kriegel, Ng, Sander 2000)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Written
from wallflower.detectors.contexts import Batch, Contexts, Decider, Flags, Ints, Side, Words
from wallflower.detectors.device import DeviceView
from wallflower.detectors.registry import register
from wallflower.errors import DeclarationError
from wallflower.schema.exact import brief
from wallflower.schema.fields import Exact

FLOOR = 1e-10
"""Added to a mean reach, in steps, as scikit-learn does: copies at distance zero then have a huge but finite density."""
MOST_NEIGHBOURS = 1000
THRESHOLDS = (Fraction(1, 10**9), Fraction(10**18))
"""No factor lies outside: a mean reach is 0 or from 1e-3 to 2^60 steps, plus the floor."""
ALONE = 64
"""So few contexts are decided on one thread: what each team prepares takes longer than they do."""
TEAMS = 4 * (os.cpu_count() or 1)
"""Pieces of parallel work; more than cores, so that a slow piece holds nobody up."""


@register("lof")
@dataclass(frozen=True, kw_only=True)
class LOF(Written):
    """The value stands out when its local outlier factor exceeds `threshold`.

    The neighbours of a point are *all* others within its k-th smallest distance, so that the factor is a function of the values and
    not of their order (scikit-learn breaks ties by position). Distances and their sums are whole numbers; the few
    divisions left are done in double precision in ascending order of value, so the answer is the same everywhere.

    >>> LOF(neighbours=2).stands_out(np.array([1, 2, 3, 4, 5, 50]), 50, step=Fraction(1))
    True
    """

    kernel: ClassVar[str] = "lof"
    practical_log2: ClassVar[int] = 26
    """log2 of how many contexts take minutes and not hours; more are looked at if asked for."""

    neighbours: int = 20
    """k; with fewer other values than this, all of them. 20 is scikit-learn's."""
    threshold: Exact = Exact("1.5")
    """1.5 is scikit-learn's."""

    def __post_init__(self) -> None:
        k = self.neighbours
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_NEIGHBOURS:
            raise DeclarationError.of(self, "neighbours", f"a whole number from 1 to {MOST_NEIGHBOURS}", k)
        if not THRESHOLDS[0] <= self.threshold <= THRESHOLDS[1]:
            raise DeclarationError.of(self, "threshold", "from 1e-9 to 1e18", brief(self.threshold))

    @property
    def limit(self) -> float:
        return float(self.threshold)

    @property
    def per_side(self) -> int:
        """The nearest values a side that decide a factor: the neighbours' own neighbours are among them."""
        return 2 * self.neighbours

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        return len(values) > 1 and self.factor(values, value) > self.limit

    def factor(self, values: NDArray[np.int64], value: int) -> float:
        """The factor of one copy of `value` among `values`, by the definition; for clarity, not for speed."""
        distinct, copies = np.unique(values, return_counts=True)
        points = [(int(x), int(m)) for x, m in zip(distinct, copies, strict=True)]
        k = min(self.neighbours, len(values) - 1)
        around = _neighbourhood(points, value, k)
        own = _density(points, value, k)
        total = 0.0
        for x, m in around:
            total += m * _density(points, x, k)
        return total / sum(m for _, m in around) / own

    def decider(self, contexts: Contexts) -> Decider:
        return _LOFDecider(self, contexts)

    def device_view(self, contexts: Contexts, squares: NDArray[Any]) -> DeviceView:
        entries = contexts.entries(self.per_side)
        return DeviceView(
            stats=(entries.same,),
            below=entries.below,
            above=entries.above,
            settings=(self.neighbours, self.limit),
        )


class _LOFDecider:
    """In runs of contexts that share most of their cells, and so one list of values around the record's."""

    def __init__(self, detector: LOF, contexts: Contexts) -> None:
        self.detector, self.contexts = detector, contexts
        self.entries = contexts.entries(detector.per_side)

    def valid(self, batch: Batch) -> Flags:
        from wallflower.detectors.lof_kernels import lof_runs

        words, population, same = batch.words, batch.population, batch.over(self.entries.same)
        first, copy_of = self._with_the_same_rows(batch)
        here = (first[:, None] * batch.run + np.arange(batch.run)).ravel()
        around = np.bitwise_or.reduce(words)
        valid = np.zeros(len(here), dtype=np.bool_)
        lof_runs(
            _placed(self.entries.below.within(around), batch.levels),
            _placed(self.entries.above.within(around), batch.levels),
            words[first * batch.run] >> _bits(batch.levels),
            np.array(batch.levels, dtype=np.int64),
            population[here],
            same[here],
            self.detector.neighbours,
            self.detector.limit,
            self.contexts.least,
            TEAMS if len(here) > ALONE else 1,
            valid,
        )
        return valid.reshape(-1, batch.run)[copy_of].ravel()

    def _with_the_same_rows(self, batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The runs of contexts that differ in rows, and for each run its place among them.

        A value with no row in any cell of a run changes none of its contexts. Real columns are sparse together (few employers
        have every job title), so that many runs are copies.
        """
        if len(batch.words) <= ALONE and batch.run == 1:
            every = np.arange(len(batch.words))  # to find copies would take longer than to decide them
            return every, every
        words = np.where(self.contexts.counts > 0, self.contexts.words, np.uint64(0))
        used = batch.over(words, np.bitwise_or)[batch.run - 1 :: batch.run]  # the last context of a run holds all of it
        _, first, copy_of = np.unique(used, return_index=True, return_inverse=True)
        order = np.argsort(first)  # neighbouring runs share most of their cells
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return first[order], place[copy_of]


def _bits(levels: tuple[int, ...]) -> np.uint64:
    """How many of a word's bits are those of these digits."""
    return np.uint64(sum(levels) - len(levels))


def _placed(side: Side, levels: tuple[int, ...]) -> tuple[Ints, Ints, Words, Ints]:
    """Entries with the bits of their words above those of a run, and the place in a run of the least context that holds them."""
    place, left, stride = np.zeros(len(side.words), dtype=np.int64), side.words, 1
    for size in levels:
        for step in range(size - 1):
            place += np.where(left & np.uint64(1 << step), (step + 1) * stride, 0)
        left, stride = left >> np.uint64(size - 1), stride * size
    return side.gaps, side.copies, left, place


def _distance(points: list[tuple[int, int]], centre: int, k: int) -> int:
    """Distance from one copy of `centre` to its k-th nearest other."""
    left = k
    for gap, m in sorted((abs(x - centre), m - (x == centre)) for x, m in points):
        left -= m
        if left <= 0:
            return gap
    raise ValueError(k)


def _neighbourhood(points: list[tuple[int, int]], centre: int, k: int) -> list[tuple[int, int]]:
    """Values and multiplicities of all others within the k-distance of one copy of `centre`, ascending."""
    reach = _distance(points, centre, k)
    others = [(x, m - (x == centre)) for x, m in points]
    return [(x, m) for x, m in others if m and abs(x - centre) <= reach]


def _density(points: list[tuple[int, int]], centre: int, k: int) -> float:
    around = _neighbourhood(points, centre, k)
    reaches = sum(m * max(_distance(points, x, k), abs(x - centre)) for x, m in around)
    return 1.0 / (reaches / sum(m for _, m in around) + FLOOR)
