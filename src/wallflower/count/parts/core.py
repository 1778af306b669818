"""The deepest core of a graph that no strip sees whole: a lower bound from strips, then peeling across them.

A core has no halo: on a ring each strip sees a path, whose degeneracy is one less than the ring's. `parts.md` has the argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from wallflower.count.covers import MOST_PAIRS, Core
from wallflower.count.parts import halos
from wallflower.count.parts.tasks import DeepestHere, Found, PeelAtHome, Sought, peeling
from wallflower.engines.executors import Spread
from wallflower.engines.partition import Cut
from wallflower.engines.spill import Spill
from wallflower.geometry.balls import Ball
from wallflower.geometry.strips import Strip, strips

Ints = NDArray[np.int64]
Heap = TypeVar("Heap", Spill, Spread)
"""Rows with their final degree in the last column: put aside here, or on executors."""


@dataclass(frozen=True)
class DeepestCore(ABC, Generic[Heap]):
    """`covers.Core` of rows that lie in strips or parts."""

    ball: Ball
    by: int
    most: int
    """About so many rows are held at a time."""

    @property
    def pairs(self) -> int:
        """Pairs that the graph of a strip may hold; where it would have more, the same is found without it."""
        return min(MOST_PAIRS, max(10_000, 16 * self.most))

    def __call__(self, heap: Heap, limits: Mapping[Sought, int]) -> Found:
        """For each sought set the lesser of its limit and one more than its degeneracy."""
        deepest, whole = self._locally(heap, list(limits))
        if whole:
            return {each: min(limits[each], deepest[each]) for each in limits}
        undecided = [each for each in limits if deepest[each] < limits[each]]
        found = dict(limits)
        if undecided:
            with ExitStack() as stack:
                left = self._peeled(heap, {each: deepest[each] for each in undecided}, stack)
                for each in undecided:
                    depth = self._deepest(left[each], each, deepest[each] - 1, limits[each] - 1)
                    found[each] = min(limits[each], depth + 1)
        return found

    def _deepest(self, heap: Heap, sought: Sought, depth: int, enough: int) -> int:
        """The degeneracy, at least `depth` and exact below `enough`, from a heap that holds the (depth + 1)-core of the sought rows."""
        with ExitStack() as stack:
            while len(heap) and depth < enough:
                if len(heap) <= self.most:
                    rows = np.ascontiguousarray(self._whole(heap)[:, :-1])
                    return max(
                        depth, Core.of(rows, self.ball, most=self.pairs)(np.zeros(len(rows), dtype=np.int64), 0) - 1
                    )
                left = self._peeled(heap, {sought: depth + 1}, stack)[sought]
                depth += len(left) == len(heap)  # nobody went: it is the (depth + 1)-core itself, and not empty
                heap = left
            return depth

    @abstractmethod
    def _locally(self, heap: Heap, sought: Sequence[Sought]) -> tuple[Found, bool]:
        """The largest cover of a strip, a lower bound; and whether one strip held everything, so that it is the cover."""

    @abstractmethod
    def _peeled(self, heap: Heap, depths: Mapping[Sought, int], stack: ExitStack) -> Mapping[Sought, Heap]:
        """Who stays, of each sought set, when rows with fewer than `depth` others near them go."""

    @abstractmethod
    def _whole(self, heap: Heap) -> Ints: ...


@dataclass(frozen=True)
class CoreInStrips(DeepestCore[Spill]):
    """Strip after strip, in this process."""

    def _locally(self, heap: Spill, sought: Sequence[Sought]) -> tuple[Found, bool]:
        task = DeepestHere(self.ball, sought, self.pairs)
        found = [task(strip) for strip in self._strips(heap.ascending([self.by]))]
        return fullest(sought, found), len(found) <= 1

    def _peeled(self, heap: Spill, depths: Mapping[Sought, int], stack: ExitStack) -> dict[Sought, Spill]:
        """Rows of the halo above are not judged yet and stay as they are; of the halo below, those that have gone are gone."""
        share = max(1, self.most // len(depths))
        left = {each: stack.enter_context(self._heap(share)) for each in depths}
        past = dict.fromkeys(depths, np.empty(0, dtype=np.bool_))
        first = 0  # the number of the row that `past` begins with
        for strip in self._strips(self._members(heap)):
            rows, degrees, begin = strip.rows[:, :-2], strip.rows[:, -2], int(strip.rows[0, -1])
            stays_when = peeling(rows, self.ball, self.pairs)
            frozen = np.ones(len(rows), dtype=np.bool_)
            frozen[strip.home] = False
            for each, depth in depths.items():
                j, t = each
                alive = np.abs(degrees - j) <= t
                alive[: strip.first] = past[each][begin - first :]
                stays = stays_when(alive, frozen, depth)[strip.home]
                left[each].add(strip.rows[strip.home, :-1][stays])
                past[each] = np.concatenate([alive[: strip.first], stays])
            first = begin
        return left

    def _whole(self, heap: Spill) -> Ints:
        return np.concatenate(list(heap.ascending([self.by])))

    def _members(self, heap: Spill) -> Iterator[Ints]:
        """Rows, degrees, and a number of each row in this order."""
        done = 0
        for batch in heap.ascending([self.by]):
            yield np.column_stack([batch, np.arange(done, done + len(batch))])
            done += len(batch)

    def _strips(self, members: Iterable[Ints]) -> Iterator[Strip]:
        halo = halos.of_core(self.ball, self.by)
        return strips(members, self.by, below=halo, above=halo, most=self.most)

    def _heap(self, most: int) -> Spill:
        return Spill(len(self.ball.weights) + 1, most=most)


@dataclass(frozen=True)
class CoreInParts(DeepestCore[Spread]):
    """Part beside part, on executors: what goes in one part is not seen by another before the next round."""

    def _locally(self, heap: Spread, sought: Sequence[Sought]) -> tuple[Found, bool]:
        cut = self._cut(heap)
        return fullest(sought, heap.each(DeepestHere(self.ball, sought, self.pairs), cut)), cut.parts == 1

    def _peeled(self, heap: Spread, depths: Mapping[Sought, int], stack: ExitStack) -> dict[Sought, Spread]:
        task = PeelAtHome(self.ball, depths, self.pairs)
        left, _ = heap.kept(task, self._cut(heap), width=len(self.ball.weights) + 2)
        stack.enter_context(left)
        return {each: left.having(place) for place, each in enumerate(depths)}

    def _whole(self, heap: Spread) -> Ints:
        return heap.whole()

    def _cut(self, heap: Spread) -> Cut:
        halo = halos.of_core(self.ball, self.by)
        return heap.cut(self.by, below=halo, above=halo, most=self.most)


def fullest(sought: Iterable[Sought], found: Iterable[Found]) -> Found:
    """The most that any of them found; 0 where there was none."""
    most = dict.fromkeys(sought, 0)
    for one in found:
        most.update({each: max(most[each], held) for each, held in one.items()})
    return most
