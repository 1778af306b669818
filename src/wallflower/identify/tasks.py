"""What executors count for `identify.parts`: picklable, so that they can be handed it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wallflower.geometry.strips import Strip
from wallflower.identify.counts import of_rows, of_values, prepare
from wallflower.identify.grid import Grid
from wallflower.identify.metric import Ints, Metric


@dataclass(frozen=True)
class AskedHere:
    """(copies, within) of each asked value among the rows of a partition, each at most `cap`."""

    metric: Metric
    asked: Ints
    cap: int

    def __call__(self, _partition: int, chunks: Iterator[Ints]) -> tuple[Ints, Ints]:
        held, near = np.zeros(len(self.asked), dtype=np.int64), np.zeros(len(self.asked), dtype=np.int64)
        for points in chunks:
            more_held, more_near = of_values(self.metric, points, self.asked, cap=self.cap)
            held, near = np.minimum(held + more_held, self.cap), np.minimum(near + more_near, self.cap)
        return held, near


@dataclass(frozen=True)
class CellsHere:
    """How many rows of a partition lie in each cell of a grid."""

    grid: Grid

    def __call__(self, _partition: int, chunks: Iterator[Ints]) -> Ints:
        counts = np.zeros(self.grid.cells, dtype=np.int64)
        for points in chunks:
            counts += self.grid.counts(points)
        return counts


@dataclass(frozen=True)
class SeenHere:
    """Rows at home as (within, value, copies, how many rows it stands for), and how many rows have each (copies, within)."""

    metric: Metric
    until: int
    cap: int

    def __call__(self, strip: Strip) -> tuple[Ints, tuple[Ints, Ints]]:
        points, stands_for = np.ascontiguousarray(strip.rows[:, :-1]), strip.rows[strip.home, -1]
        if self.metric.alone:  # one entry for each value, and no other value is near
            held = near = np.minimum(strip.rows[:, -1], self.cap)
        else:
            held, near = of_rows(self.metric, points, until=self.until, cap=self.cap)
        held, near, home = held[strip.home], near[strip.home], points[strip.home]
        return np.column_stack([near, home, held, stands_for]), tallied(held, near, stands_for)


def tallied(held: Ints, near: Ints, stands_for: Ints) -> tuple[Ints, Ints]:
    """Each (copies, within) that there is, and how many rows have it."""
    pairs, which = np.unique(np.column_stack([held, near]), axis=0, return_inverse=True)
    many = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(many, which.reshape(-1), stands_for)
    return pairs, many


@dataclass(frozen=True)
class RowsHere:
    """How many rows the entries of a partition stand for, by their last column."""

    def __call__(self, _partition: int, chunks: Iterator[Ints]) -> int:
        return sum(int(chunk[:, -1].sum()) for chunk in chunks)


@dataclass(frozen=True)
class PickedHere:
    """The entries at some places of an order that goes on from one partition to the next; without their last column."""

    places: Ints
    before: tuple[int, ...]
    """How many rows come before each partition."""

    def __call__(self, partition: int, chunks: Iterator[Ints]) -> Ints | None:
        done, chosen = self.before[partition], []
        for chunk in chunks:
            picked, done = picked_from(chunk, self.places, done)
            chosen.append(picked)
        return np.concatenate(chosen) if chosen else None


def picked_from(chunk: Ints, places: Ints, done: int) -> tuple[Ints, int]:
    """The entries of a chunk that hold these places, when so many rows come before it; and how many come before the next."""
    ends = done + np.cumsum(chunk[:, -1])
    after = int(ends[-1]) if len(ends) else done
    here = places[(places >= done) & (places < after)]
    return chunk[np.searchsorted(ends, here, side="right"), :-1], after


@dataclass(frozen=True)
class TaskTrial:
    """On made-up rows: what can fail or must be compiled where tasks run does so before anything is charged."""

    metric: Metric
    comparisons: int

    def __call__(self, made_up: Ints) -> None:
        AskedHere(self.metric, made_up[:1], 1)(0, iter([made_up]))
        prepare(self.metric, made_up, comparisons=self.comparisons)
