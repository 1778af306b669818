"""How far a count can move, from the rows near the threshold with their final degrees: the integers of `count.profiles`, strip by strip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wallflower.count.covers import Cover, Lines, Window
from wallflower.count.parts import halos
from wallflower.count.parts.core import CoreInStrips, Sought
from wallflower.count.profiles import bound
from wallflower.engines.spill import Spill
from wallflower.geometry.balls import Ball
from wallflower.geometry.strips import Strip, strips
from wallflower.mechanisms.profiles import Profile

Ints = NDArray[np.int64]

AT_ONCE = 7
"""Places between the ends of a stretch that are looked at in one pass over the rows. Only time depends on it."""


@dataclass(frozen=True)
class CoversInStrips:
    """The least cover of nested sets of rows, as `count.covers` has them. The heap's last column is the rows' final degree."""

    heap: Spill
    ball: Ball
    by: int
    most: int

    def least(self, limits: Mapping[Sought, int], enough: Mapping[Sought, int]) -> dict[Sought, int]:
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

    def window(self, sought: Iterable[Sought], column: int) -> dict[Sought, int]:
        """`covers.Window` of each sought set."""
        halo = halos.of_window(self.ball, column)
        return self._most(sought, column, halo, lambda strip: Window.of(strip.rows, self.ball, column))

    def lines(self, sought: Iterable[Sought]) -> dict[Sought, int]:
        """`covers.Lines` of each sought set, in two columns."""
        halo = halos.of_lines(self.ball, self.by)
        return self._most(sought, self.by, halo, lambda strip: Lines.of(strip.rows, self.ball))

    def core(self, limits: Mapping[Sought, int]) -> dict[Sought, int]:
        """The lesser of each limit and `covers.Core`."""
        return CoreInStrips(self.ball, self.by, self.most)(self.heap, limits) if limits else {}

    def _most(
        self, sought: Iterable[Sought], column: int, halo: int, cover_of: Callable[[Strip], Cover]
    ) -> dict[Sought, int]:
        """The most that one region holds, over strips that have the rows above their own as far as a region goes."""
        most = dict.fromkeys(sought, 0)
        if not most:
            return most
        for strip in strips(self.heap.ascending([column]), column, below=0, above=halo, most=self.most):
            cover, degrees = cover_of(strip), strip.rows[:, -1]
            for j, t in most:
                most[j, t] = max(most[j, t], cover(np.abs(degrees - j), t))
        return most


def profile_of(
    covers: CoversInStrips, many: Mapping[int, int], *, k: int, horizon: int, cap: int, neighbours: str
) -> Profile:
    """U_0 … U_{horizon−1}, the same as `count.profiles.profile` of the whole table. `many`: how many rows near the threshold have each degree."""
    losing, gaining = (_nested(covers, _sizes(many, j, horizon), j, cap) for j in (k, k - 1))
    held = map(max, losing, gaining)
    return Profile(bounds=tuple(min(bound(most, t, neighbours), cap) for t, most in enumerate(held)), cap=cap)


def _sizes(many: Mapping[int, int], j: int, horizon: int) -> list[int]:
    """How many rows have a degree between j − t and j + t, for each t."""
    degrees = sorted(many)
    before = np.concatenate([[0], np.cumsum([many[degree] for degree in degrees], dtype=np.int64)])
    t = np.arange(horizon)
    low, high = np.searchsorted(degrees, j - t, side="left"), np.searchsorted(degrees, j + t, side="right")
    return [int(each) for each in before[high] - before[low]]


def _nested(covers: CoversInStrips, sizes: Sequence[int], j: int, cap: int) -> list[int]:
    """The least cover for each t. It never falls with t: a stretch with equal ends is that value throughout."""
    last = len(sizes) - 1
    held: dict[int, int] = {}
    wanted = sorted({0, last})
    low, high = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, cap)
    while wanted:
        limits = {(j, t): min(sizes[t], high[t]) for t in wanted}
        found = covers.least(limits, {(j, t): low[t] for t in wanted})
        held |= {t: found[j, t] for t in wanted}
        points = sorted(held)
        stretches = [(a, b) for a, b in pairwise(points) if b - a > 1 and held[a] != held[b]]
        wanted, low, high = [], {}, {}
        for a, b in stretches:
            step = max(1, -(-(b - a) // (AT_ONCE + 1)))
            for t in range(a + step, b, step):
                wanted.append(t)
                low[t], high[t] = held[a], held[b]
    points = sorted(held)
    below = np.searchsorted(points, np.arange(last + 1), side="right") - 1
    return [held[points[at]] for at in below]
