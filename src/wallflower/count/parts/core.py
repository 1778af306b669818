"""The deepest core of a graph that no strip sees whole: a lower bound from strips, then peeling across them.

A core has no halo: on a ring each strip sees a path, whose degeneracy is one less than the ring's. `parts.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.count.covers import MOST_PAIRS, Core
from wallflower.count.parts import halos
from wallflower.engines.spill import Spill
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import RadiusIndex
from wallflower.geometry.strips import Strip, strips

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Sought = tuple[int, int]
"""(j, t): the rows whose degree is between j − t and j + t."""


@dataclass(frozen=True)
class CoreInStrips:
    """`covers.Core` of rows in a heap whose last column is their final degree."""

    ball: Ball
    by: int
    most: int
    """About so many rows are held at a time."""

    @property
    def pairs(self) -> int:
        """Pairs that the graph of a strip may hold; where it would have more, the same is found without it."""
        return min(MOST_PAIRS, max(10_000, 16 * self.most))

    def __call__(self, heap: Spill, limits: Mapping[Sought, int]) -> dict[Sought, int]:
        """For each sought set the lesser of its limit and one more than its degeneracy."""
        deepest, whole = self._locally(heap, list(limits))
        if whole:
            return {each: min(limits[each], deepest[each]) for each in limits}
        undecided = [each for each in limits if deepest[each] < limits[each]]
        found = dict(limits)
        if undecided:
            with ExitStack() as stack:
                share = max(1, self.most // len(undecided))
                left = {each: stack.enter_context(self._heap(share)) for each in undecided}
                self._peeled(self._members(heap), {each: deepest[each] for each in undecided}, left)
                for each in undecided:
                    depth = self._deepest(left[each], each, deepest[each] - 1, limits[each] - 1)
                    found[each] = min(limits[each], depth + 1)
        return found

    def _locally(self, heap: Spill, sought: Sequence[Sought]) -> tuple[dict[Sought, int], bool]:
        """The largest cover of a strip, a lower bound; and whether one strip held everything, so that it is the cover."""
        deepest = dict.fromkeys(sought, 0)
        many = 0
        for strip in self._strips(self._members(heap)):
            many += 1
            rows, degrees = strip.rows[:, :-2], strip.rows[:, -2]
            cover = Core.of(rows, self.ball, most=self.pairs)
            for j, t in sought:
                deepest[j, t] = max(deepest[j, t], cover(np.abs(degrees - j), t))
        return deepest, many <= 1

    def _deepest(self, heap: Spill, sought: Sought, depth: int, enough: int) -> int:
        """The degeneracy, at least `depth` and exact below `enough`, from a heap that holds the (depth + 1)-core of the sought rows."""
        with ExitStack() as stack:
            while len(heap) and depth < enough:
                if len(heap) <= self.most:
                    rows = np.concatenate(list(heap.ascending([self.by])))[:, :-1]
                    return max(
                        depth, Core.of(rows, self.ball, most=self.pairs)(np.zeros(len(rows), dtype=np.int64), 0) - 1
                    )
                left = stack.enter_context(self._heap(self.most))
                self._peeled(self._members(heap), {sought: depth + 1}, {sought: left})
                depth += len(left) == len(heap)  # nobody went: it is the (depth + 1)-core itself, and not empty
                heap = left
            return depth

    def _peeled(self, members: Iterable[Ints], depths: Mapping[Sought, int], left: Mapping[Sought, Spill]) -> None:
        """Put into `left` who stays when rows with fewer than `depth` others go, strip after strip.

        Rows of the halo above are not judged yet and stay as they are; of the halo below, those that have gone are gone.
        """
        past = dict.fromkeys(depths, np.empty(0, dtype=np.bool_))
        first = 0  # the number of the row that `past` begins with
        for strip in self._strips(members):
            rows, degrees, begin = strip.rows[:, :-2], strip.rows[:, -2], int(strip.rows[0, -1])
            peeling = self._peeling(rows)
            frozen = np.ones(len(rows), dtype=np.bool_)
            frozen[strip.home] = False
            for each, depth in depths.items():
                j, t = each
                alive = np.abs(degrees - j) <= t
                alive[: strip.first] = past[each][begin - first :]
                stays = peeling(alive, frozen, depth)[strip.home]
                left[each].add(strip.rows[strip.home, :-1][stays])
                past[each] = np.concatenate([alive[: strip.first], stays])
            first = begin

    def _peeling(self, rows: Ints) -> Callable[[Flags, Flags, int], Flags]:
        near = self.ball.twice
        graph = RadiusIndex(rows, near.weights).graph(near, most=self.pairs)

        def by_graph(alive: Flags, frozen: Flags, depth: int) -> Flags:
            from wallflower.count.parts.peel_kernels import peel

            assert graph is not None  # noqa: S101 - chosen below
            left = np.empty(len(rows), dtype=np.bool_)
            left[graph.order] = peel(graph.starts, graph.neighbours, alive[graph.order], frozen[graph.order], depth)
            return left

        def by_counts(alive: Flags, frozen: Flags, depth: int) -> Flags:
            left = alive.copy()
            while True:
                judged = np.flatnonzero(left & ~frozen)
                index = RadiusIndex(rows[left], near.weights)
                gone = judged[index.counts(near, cap=depth + 1, queries=rows[judged]) <= depth]
                if not len(gone):
                    return left
                left[gone] = False

        return by_counts if graph is None else by_graph

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
