"""How far a count can move, from the rows near the threshold with their final degrees: the integers of `count.profiles`, strip by strip."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Generic

import numpy as np

from wallflower.count.covers import Lines
from wallflower.count.parts import halos
from wallflower.count.parts.core import CoreInParts, CoreInStrips, Heap, fullest
from wallflower.count.parts.tasks import Found, Fullest, FullestLines, FullestWindow, Sought
from wallflower.count.profiles import bound
from wallflower.engines.executors import Spread
from wallflower.engines.spill import Spill
from wallflower.geometry.balls import Ball
from wallflower.geometry.strips import strips
from wallflower.mechanisms.profiles import Profile

Wanted = tuple[dict[Sought, int], dict[Sought, int]]
"""For each sought set the least that is known already, and what no cover is below."""


Asking = Generator[Wanted, Found, list[int]]
"""Says what it wants, is sent what was found, and ends with its answer."""


@dataclass(frozen=True)
class Covers(ABC, Generic[Heap]):
    """The least cover of nested sets of rows, as `count.covers` has them. The heap's last column is the rows' final degree."""

    heap: Heap
    ball: Ball
    by: int
    most: int
    at_once: ClassVar[int]
    """Places between the ends of a stretch that are looked at in one pass over the rows. Only time depends on it."""

    def least(self, limits: Mapping[Sought, int], enough: Mapping[Sought, int]) -> Found:
        """For each sought set the least of its limit and every cover. No cover is below `enough`: what has come down to it is settled."""
        width = len(self.ball.weights)
        best = dict(limits)

        def unsettled() -> dict[Sought, int]:
            return {each: held for each, held in best.items() if held > enough[each]}

        def lower(found: Mapping[Sought, int]) -> None:
            best.update({each: min(best[each], held) for each, held in found.items()})

        for column in range(width):
            lower(self.window(unsettled(), column))
        if width == 2 and Lines.suits(self.ball):
            lower(self.lines(unsettled()))
        if width > 1:
            lower(self.core(unsettled()))
        return best

    def window(self, sought: Iterable[Sought], column: int) -> Found:
        """`covers.Window` of each sought set."""
        return self._most(FullestWindow(self.ball, list(sought), column), column, halos.of_window(self.ball, column))

    def lines(self, sought: Iterable[Sought]) -> Found:
        """`covers.Lines` of each sought set, in two columns."""
        return self._most(FullestLines(self.ball, list(sought)), self.by, halos.of_lines(self.ball, self.by))

    @abstractmethod
    def core(self, limits: Mapping[Sought, int]) -> Found:
        """The lesser of each limit and `covers.Core`."""

    @abstractmethod
    def _most(self, task: Fullest, column: int, halo: int) -> Found:
        """The most that one region holds, over strips that have the rows above their own as far as a region goes."""


@dataclass(frozen=True)
class CoversInStrips(Covers[Spill]):
    """Strip after strip, in this process."""

    at_once: ClassVar[int] = 7

    def core(self, limits: Mapping[Sought, int]) -> Found:
        return CoreInStrips(self.ball, self.by, self.most)(self.heap, limits) if limits else {}

    def _most(self, task: Fullest, column: int, halo: int) -> Found:
        if not task.sought:
            return {}
        parts = strips(self.heap.ascending([column]), column, below=0, above=halo, most=self.most)
        return fullest(task.sought, map(task, parts))


@dataclass(frozen=True)
class CoversInParts(Covers[Spread]):
    """Part beside part, on executors. A pass costs more than what is looked at in it."""

    at_once: ClassVar[int] = 31

    def core(self, limits: Mapping[Sought, int]) -> Found:
        return CoreInParts(self.ball, self.by, self.most)(self.heap, limits) if limits else {}

    def _most(self, task: Fullest, column: int, halo: int) -> Found:
        if not task.sought:
            return {}
        return fullest(task.sought, self.heap.each(task, self.heap.cut(column, below=0, above=halo, most=self.most)))


def profile_of(
    covers: CoversInStrips | CoversInParts,
    many: Mapping[int, int],
    *,
    k: int,
    horizon: int,
    cap: int,
    neighbours: str,
) -> Profile:
    """U_0 … U_{horizon−1}, the same as `count.profiles.profile` of the whole table. `many`: how many rows near the threshold have each degree."""
    losing, gaining = _together(covers, [_nested(_sizes(many, j, horizon), j, cap, covers.at_once) for j in (k, k - 1)])
    held = map(max, losing, gaining)
    return Profile(bounds=tuple(min(bound(most, t, neighbours), cap) for t, most in enumerate(held)), cap=cap)


def _together(covers: CoversInStrips | CoversInParts, asking: Sequence[Asking]) -> list[list[int]]:
    """What each of them comes to; what they want is looked for in the same passes over the rows."""
    wanted = {place: next(each) for place, each in enumerate(asking)}
    told: dict[int, list[int]] = {}
    while wanted:
        limits, enough = (
            {key: held for each in wanted.values() for key, held in each[side].items()} for side in (0, 1)
        )
        found = covers.least(limits, enough)
        for place in list(wanted):
            try:
                wanted[place] = asking[place].send(found)
            except StopIteration as end:
                told[place] = end.value
                del wanted[place]
    return [told[place] for place in range(len(asking))]


def _sizes(many: Mapping[int, int], j: int, horizon: int) -> list[int]:
    """How many rows have a degree between j − t and j + t, for each t."""
    degrees = sorted(many)
    before = np.concatenate([[0], np.cumsum([many[degree] for degree in degrees], dtype=np.int64)])
    t = np.arange(horizon)
    low, high = np.searchsorted(degrees, j - t, side="left"), np.searchsorted(degrees, j + t, side="right")
    return [int(each) for each in before[high] - before[low]]


def _nested(sizes: Sequence[int], j: int, cap: int, at_once: int) -> Asking:
    """The least cover for each t. It never falls with t: a stretch with equal ends is that value throughout."""
    last = len(sizes) - 1
    held: dict[int, int] = {}
    wanted = sorted({0, last})
    low, high = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, cap)
    while wanted:
        limits = {(j, t): min(sizes[t], high[t]) for t in wanted}
        found = yield limits, {(j, t): low[t] for t in wanted}
        held |= {t: found[j, t] for t in wanted}
        points = sorted(held)
        stretches = [(a, b) for a, b in pairwise(points) if b - a > 1 and held[a] != held[b]]
        wanted, low, high = [], {}, {}
        for a, b in stretches:
            step = max(1, -(-(b - a) // (at_once + 1)))
            for t in range(a + step, b, step):
                wanted.append(t)
                low[t], high[t] = held[a], held[b]
    points = sorted(held)
    below = np.searchsorted(points, np.arange(last + 1), side="right") - 1
    return [held[points[at]] for at in below]
