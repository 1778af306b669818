"""What is computed in a strip or a part, wherever it lies: picklable, so that an executor can be handed it.

The rows of a strip have their final degree in the last column, but for `DegreesAtHome`, which finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.count.covers import Core, Cover, Lines, Window
from wallflower.count.degrees import capped_degrees
from wallflower.count.profiles import near_threshold
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import RadiusIndex
from wallflower.geometry.strips import Strip

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Sought = tuple[int, int]
"""(j, t): the rows whose degree is between j − t and j + t."""
Found = dict[Sought, int]


@dataclass(frozen=True)
class DegreesAtHome:
    """The rows near the threshold with their degrees, and how many rows have each degree.

    The last column of the strip says how many rows each stands for.
    """

    ball: Ball
    cap: int
    k: int
    horizon: int
    """0: no row is kept."""

    def __call__(self, strip: Strip) -> tuple[Ints, tuple[Ints, Ints]]:
        rows, stands_for = np.ascontiguousarray(strip.rows[:, :-1]), strip.rows[strip.home, -1]
        home, degrees = rows[strip.home], capped_degrees(rows, self.ball, self.cap)[strip.home]
        near = near_threshold(degrees, self.k, self.horizon)
        values, which = np.unique(degrees, return_inverse=True)
        many = np.zeros(len(values), dtype=np.int64)
        np.add.at(many, which, stands_for)
        return np.column_stack([home[near], degrees[near]]), (values, many)


@dataclass(frozen=True)
class Fullest:
    """The most members of each sought set in one region, over the regions of a cover; the strip sees upwards as far as a region goes."""

    ball: Ball
    sought: Sequence[Sought]

    def __call__(self, strip: Strip) -> Found:
        cover, degrees = self.cover(strip.rows), strip.rows[:, -1]
        return {(j, t): cover(np.abs(degrees - j), t) for j, t in self.sought}

    def cover(self, rows: Ints) -> Cover:
        raise NotImplementedError


@dataclass(frozen=True)
class FullestWindow(Fullest):
    column: int

    def cover(self, rows: Ints) -> Cover:
        return Window.of(rows, self.ball, self.column)


@dataclass(frozen=True)
class FullestLines(Fullest):
    def cover(self, rows: Ints) -> Cover:
        return Lines.of(rows, self.ball)


@dataclass(frozen=True)
class DeepestHere(Fullest):
    """One more than the degeneracy of what a strip has of each sought set: no more than that of the whole set."""

    pairs: int
    """The graph of a strip may hold so many; where it would have more, the same is found without it."""

    def cover(self, rows: Ints) -> Cover:
        return Core.of(np.ascontiguousarray(rows[:, :-1]), self.ball, most=self.pairs)


@dataclass(frozen=True)
class PeelAtHome:
    """The rows at home that stay when those with fewer than `depth` others near them go, again and again; the halo stays as it is.

    Each row comes once for each sought set in which it stays, with that set's place in a last column.
    """

    ball: Ball
    depths: Mapping[Sought, int]
    pairs: int

    def __call__(self, strip: Strip) -> tuple[Ints, Ints]:
        rows, degrees = np.ascontiguousarray(strip.rows[:, :-1]), strip.rows[:, -1]
        stays_when = peeling(rows, self.ball, self.pairs)
        frozen = np.ones(len(rows), dtype=np.bool_)
        frozen[strip.home] = False
        kept = []
        for place, ((j, t), depth) in enumerate(self.depths.items()):
            stays = stays_when(np.abs(degrees - j) <= t, frozen, depth)[strip.home]
            here = strip.rows[strip.home][stays]
            kept.append(np.column_stack([here, np.full(len(here), place, dtype=np.int64)]))
        return np.concatenate(kept), np.array([len(each) for each in kept], dtype=np.int64)


@dataclass(frozen=True)
class TaskTrial:
    """Every task on made-up rows: what can fail or must be compiled where tasks run does so before anything is charged."""

    ball: Ball

    def __call__(self, made_up: Ints) -> None:
        sought, pairs = [(1, 1)], 10_000
        strip = Strip(np.column_stack([made_up, np.ones(len(made_up), dtype=np.int64)]), 0, len(made_up))
        DegreesAtHome(self.ball, 2, 1, 1)(strip)
        for column in range(len(self.ball.weights)):
            FullestWindow(self.ball, sought, column)(strip)
        if len(self.ball.weights) == 2 and Lines.suits(self.ball):
            FullestLines(self.ball, sought)(strip)
        if len(self.ball.weights) > 1:
            DeepestHere(self.ball, sought, pairs)(strip)
            PeelAtHome(self.ball, {(1, 1): 1}, pairs)(strip)


def peeling(rows: Ints, ball: Ball, pairs: int) -> Callable[[Flags, Flags, int], Flags]:
    """Who stays, of some who are alive, when those that are not frozen and have fewer than `depth` others within 2r go, again and again."""
    near = ball.twice
    graph = RadiusIndex(rows, near.weights).graph(near, most=pairs)

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
