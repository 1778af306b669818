"""Groups under construction: what a group is, when it is settled, and how a group that fails is repaired.

Only a pass of `Checker.guided`, which is exact, accepts a group. Samples, trims and orders only say what to try; they cannot let a group through.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.face_kernels import Blocks, normal_many
from wallflower.publish.checker import Checker, Level, Verdict
from wallflower.publish.cuts import Cutter
from wallflower.publish.diversity import Demands, DiversityTest, diversity_test
from wallflower.publish.growth_kernels import Trees

Whole = NDArray[np.int64]
REPAIRS = 3


@dataclass(frozen=True)
class Group:
    """Rows that are published with one box (already rounded up to publishable intervals)."""

    rows: Whole
    low: Whole
    high: Whole
    ranks: Whole
    """Its sensitive values, as places in `Checker.values`."""
    anchor: Whole | None = None
    """A corner at which all of them were seen to be normal."""


@dataclass(frozen=True)
class Grouping:
    """A publication before it is written. Every row is in exactly one group or suppressed."""

    groups: tuple[Group, ...]
    suppressed: Whole
    sensitive_outliers: int

    @property
    def published(self) -> int:
        return sum(len(group.rows) for group in self.groups)


@dataclass
class Workshop:
    """Everything a grouping method needs: the exact checker, the cutter, and guides."""

    checker: Checker
    level: Level
    k: int
    demands: Demands = field(default_factory=Demands)
    """What is asked of every group too."""
    tests: DiversityTest = field(init=False)
    cutter: Cutter = field(init=False)
    trees: Trees = field(init=False)
    sample: Blocks = field(init=False)
    middle: Whole = field(init=False)

    def __post_init__(self) -> None:
        checker, quasi = self.checker, self.checker.quasi
        places = checker.places
        self.tests = diversity_test(self.demands, checker.space.sensitive, places[:, quasi:])
        rows = np.ascontiguousarray(places[:, :quasi])
        self.cutter = Cutter(checker.space.quasi, rows, self.tests.codes, self.k, self.tests.passes)
        self.trees = _trees(self)
        self.sample = checker.guide if checker.guide.rows else checker.blocks
        self.middle = checker.values[0] if len(places) else np.zeros(places.shape[1] - quasi, dtype=np.int64)

    def hard(self) -> NDArray[np.bool_]:
        """Rows whose quasi-identifiers stand out even with the middle sensitive value, as far as the sample can tell."""
        places = self.checker.places
        if self.level == "attack" or not len(places):
            return np.zeros(len(places), dtype=np.bool_)
        quasi = self.cutter.rows
        # Rows are sorted, so that equal ones are neighbours.
        fresh = np.append(True, (quasi[1:] != quasi[:-1]).any(axis=1))
        distinct = quasi[fresh]
        good = np.zeros(len(distinct), dtype=np.bool_)
        normal_many(self.sample, np.column_stack([distinct, np.tile(self.middle, (len(distinct), 1))]), good)
        return np.asarray(~good[np.cumsum(fresh) - 1], dtype=np.bool_)

    def made(self, rows: Whole) -> Group:
        part = self.checker.places[rows]
        quasi = self.checker.quasi
        low, high = self.checker.space.round_up(part[:, :quasi].min(axis=0), part[:, :quasi].max(axis=0))
        return Group(rows, low, high, np.unique(self.checker.ranks[rows]))

    def settle(self, rows: Whole) -> tuple[Group | None, Whole]:
        """A plain group out of these rows, and the rows that had to leave it; no group when repair does not help."""
        kept = rows
        for _ in range(1 + REPAIRS):
            if len(kept) < self.k or self.cutter.distinct(kept) < self.k:
                break
            group = self.made(kept)
            verdict = self.checker.guided(self.level, group.low, group.high, self.checker.values[group.ranks])
            if not verdict.failed:
                if not self.tests.passes(kept):
                    break
                group = replace(group, anchor=verdict.anchor)
                return group, rows[~np.isin(rows, kept, assume_unique=True)] if len(kept) < len(rows) else rows[:0]
            kept = self._repaired(kept, verdict)
        return None, rows

    def passes(self, rows: Whole) -> bool:
        """Whether these rows pass the level as a group; their k and the demands are not looked at."""
        group = self.made(rows)
        return not self.checker.guided(self.level, group.low, group.high, self.checker.values[group.ranks]).failed

    def repaired(self, rows: Whole) -> Whole | None:
        """None if these rows pass the level as a group; else fewer of them, to be tried again. That a repair keeps everybody is no
        pass: who is to be left out may stand in the box as it is rounded alone, and then the farthest rows leave.
        """
        group = self.made(rows)
        verdict = self.checker.guided(self.level, group.low, group.high, self.checker.values[group.ranks])
        if not verdict.failed:
            return None
        kept = self._repaired(rows, verdict)
        return kept if len(kept) < len(rows) else self._trimmed(rows)

    def _repaired(self, rows: Whole, verdict: Verdict) -> Whole:
        places, quasi = self.checker.places, self.checker.quasi
        if verdict.bad_values is not None:
            held = places[rows, quasi:]
            return np.asarray(rows[~(held[:, None, :] == verdict.bad_values[None, :, :]).all(axis=2).any(axis=1)])
        if verdict.bad_people is not None:
            return self._without(rows, places[verdict.bad_people[0], :quasi])
        return self._trimmed(rows)

    def _without(self, rows: Whole, spot: Whole) -> Whole:
        """The largest part of the rows whose box, before rounding, leaves this spot out."""
        part = self.cutter.rows[rows]
        sides = np.concatenate([part < spot, part > spot], axis=1)
        return np.asarray(rows[sides[:, int(np.argmax(sides.sum(axis=0)))]])

    def _trimmed(self, rows: Whole) -> Whole:
        """Without the seventh of the rows farthest from the centre of the table."""
        blocks, quasi = self.checker.blocks, self.checker.quasi
        gap = (((self.cutter.rows[rows] - blocks.centre[:quasi]) * blocks.scale[:quasi]) ** 2).sum(axis=1)
        return np.sort(rows[np.argsort(gap, kind="stable")[: len(rows) - max(1, len(rows) // 7)]])


def merged(groups: list[Group]) -> tuple[Group, ...]:
    """Groups with the same box as one, as a reader sees them; two plain groups with one box are a plain group."""
    by_box: dict[tuple[int, ...], list[Group]] = {}
    for group in groups:
        by_box.setdefault((*group.low.tolist(), *group.high.tolist()), []).append(group)
    return tuple(
        same[0]
        if len(same) == 1
        else Group(
            np.sort(np.concatenate([g.rows for g in same])),
            same[0].low,
            same[0].high,
            np.unique(np.concatenate([g.ranks for g in same])),
        )
        for same in by_box.values()
    )


def _trees(shop: Workshop) -> Trees:
    axes = shop.checker.space.quasi
    offset: list[int] = []
    low: list[int] = []
    high: list[int] = []
    parent: list[int] = []
    for axis in axes:
        offset.append(len(low) if axis.tree is not None else -1)
        if axis.tree is not None:
            low += axis.tree.low
            high += axis.tree.high
            parent += axis.tree.parent
    return Trees(
        offset=np.array(offset, dtype=np.int64),
        low=np.array(low, dtype=np.int64),
        high=np.array(high, dtype=np.int64),
        parent=np.array(parent, dtype=np.int64),
        unit=np.array([1 / (max(axis.size - 1, 1) if axis.categorical else axis.size) for axis in axes]),
        numeric=np.array([not axis.categorical for axis in axes], dtype=np.bool_),
    )
