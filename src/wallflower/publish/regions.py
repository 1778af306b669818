"""A publication made in regions: a public number of parts, each grouped by itself, wherever that is done.

The table is parted by the cuts that come first anyway; they look at quasi-identifiers, and at how many different values a side holds, never at who is
an outlier. Whoever groups a region holds all rows of the table: who is an
outlier, who would be one with which value, who matches a box and how far a group is from the table are asked of the one table, whole, and
never of a region. So a group that passes is a group of the table that passes. What the regions leave over is pooled, cut again, and offered to the groups
of all regions. Regions are grouped in any order, at any place: the answer depends on their number and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.engines.executors import OneProcess, executors_of
from wallflower.progress import report
from wallflower.publish.box_groups import BoxGrouper
from wallflower.publish.checker import Checker, Level
from wallflower.publish.diversity import Demands
from wallflower.publish.grouping import Group, Grouping, Workshop
from wallflower.publish.levels import BOTH, counts_possible_values
from wallflower.publish.matching_groups import MatchingGrouper
from wallflower.publish.space import Space

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
Found = tuple[list[Group], Whole]
"""The groups of a region, and its rows that are in none."""


class Grouper(Protocol):
    """How groups are formed at a level."""

    @property
    def flags(self) -> Flags:
        """What it has to know of every row, found out over the whole table."""
        ...

    def pieces(self, rows: Whole, /) -> tuple[list[Whole], Whole] | None:
        """The first cut of these rows, where they can be cut: what stands alone, and what leaves."""
        ...

    def region(self, rows: Whole, /) -> Found: ...

    def again(self, groups: list[Group], left: Whole, /) -> Found:
        """The left-over rows of several regions, with the groups of all of them."""
        ...

    def last(self, groups: list[Group], left: Whole, /) -> Grouping: ...


@dataclass(frozen=True, kw_only=True)
class RegionWork:
    """What whoever groups a region has to know: all rows as small whole numbers, and the question. It can be sent anywhere."""

    space: Space
    places: Whole
    """All rows of the table, in canonical order."""
    level: str
    k: int
    method: str
    least: int
    demands: Demands
    flags: Flags | None = field(default=None, repr=False)
    """What the grouper has to know of every row: found out once, over the whole table, for all regions."""
    known: Workshop | None = field(default=None, repr=False, compare=False)
    """What has been laid out for this very question over these very rows; it stays here when the work is sent."""

    def __call__(self, rows: Whole) -> Found:
        return self.grouper.region(rows)

    @cached_property
    def shop(self) -> Workshop:
        if self.known is not None and self._is_ours(self.known):
            return self.known
        return _workshop(Checker(self.space, self.places), self.level, self.k, self.demands)

    def _is_ours(self, shop: Workshop) -> bool:
        rows = shop.checker.places is self.places and shop.checker.space is self.space
        return rows and (shop.level, shop.k, shop.demands) == (_level(self.level), self.k, self.demands)

    @cached_property
    def grouper(self) -> Grouper:
        if counts_possible_values(self.level):
            return MatchingGrouper(self.shop, self.least, candidate=self.level == BOTH, known=self.flags)
        return BoxGrouper(self.shop, self.method, known=self.flags)

    @classmethod
    def on(cls, checker: Checker, *, level: str, k: int, demands: Demands, method: str, least: int) -> RegionWork:
        """With what has been found out about these rows already."""
        shop = _workshop(checker, level, k, demands)
        return cls(
            space=checker.space,
            places=checker.places,
            level=level,
            k=k,
            method=method,
            least=least,
            demands=demands,
            known=shop,
        )

    def informed(self) -> RegionWork:
        """With the flags of the whole table, so that nobody has to find them out again."""
        return replace(self, flags=self.grouper.flags, known=self.shop)

    def __reduce__(self) -> tuple[Any, ...]:
        """Without what can be made again from the rows, which travel in as few bytes as their numbers need."""
        said = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in {"places", "known"}}
        return _arrived, (said, [_small(column) for column in self.places.T])


def _arrived(said: dict[str, Any], columns: list[NDArray[Any]]) -> RegionWork:
    """The work where it was sent."""
    return RegionWork(**said, places=np.ascontiguousarray(np.column_stack(columns).astype(np.int64)))


def _level(level: str) -> Level:
    return next((name for name in get_args(Level) if name == level), "candidate")


def _workshop(checker: Checker, level: str, k: int, demands: Demands) -> Workshop:
    return Workshop(checker, _level(level), k, demands)


Run = Callable[[RegionWork, Sequence[Whole]], Sequence[Found]]
"""Groups every region, and gives what was found in the order of the regions."""


def _small(column: Whole) -> NDArray[Any]:
    """The same numbers, in the smallest type that holds them."""
    least, most = int(column.min(initial=0)), int(column.max(initial=0))
    small = [kind for kind in (np.uint8, np.uint16, np.uint32) if least >= 0 and most <= np.iinfo(kind).max]
    return column.astype(small[0]) if small else column


def run_over(rows: Rows) -> Run:
    """The executors of the cluster that holds the rows, a task for each region, where the declaration says so; else this process."""
    executors = executors_of(rows)
    return in_turn if isinstance(executors, OneProcess) else executors.run


def in_turn(work: RegionWork, regions: Sequence[Whole]) -> list[Found]:
    """One region after the other, in this process."""
    found = []
    for done, region in enumerate(regions):
        found.append(work(region))
        report("regions", done + 1, len(regions))
    return found


def parted(rows: Whole, many: int, pieces: Callable[[Whole], tuple[list[Whole], Whole] | None]) -> list[Whole]:
    """At most so many parts. Again and again the largest, the first of equals, is cut; of more pieces than there is room for the smallest stay
    together. What leaves in these cuts is one part by itself.
    """
    parts, gone = [rows], rows[:0]
    whole: list[Whole] = []
    while parts and (room := many - len(parts) - len(whole) - bool(len(gone))) > 0:
        largest = parts.pop(max(range(len(parts)), key=lambda n: (len(parts[n]), -n)))
        cut = pieces(largest)
        if cut is None or (len(cut[1]) and not len(gone) and room == 1):  # nothing to cut, or no room for what leaves
            whole.append(largest)
            continue
        alone = sorted(cut[0], key=lambda piece: (-len(piece), int(piece[0])))
        room += 1 - (bool(len(cut[1])) and not len(gone))  # with the place of the part that was cut
        together = [np.sort(np.concatenate(alone[room - 1 :]))] if len(alone) > room else alone[room - 1 :]
        parts += [*alone[: room - 1], *together]
        gone = np.sort(np.concatenate([gone, cut[1]]))
    return sorted([*parts, *whole, *([gone] if len(gone) else [])], key=lambda part: int(part[0]))


def grouped(work: RegionWork, regions: int, run: Run) -> Grouping:
    """The whole publication, made in at most so many regions."""
    grouper = work.grouper
    everyone = np.arange(len(work.places))
    parts = parted(everyone, regions, grouper.pieces)
    if len(parts) == 1:
        return grouper.last(*grouper.region(everyone))
    found = run(work.informed(), parts)
    groups = [group for some, _ in found for group in some]
    left = np.sort(np.concatenate([rest for _, rest in found]))
    return grouper.last(*grouper.again(groups, left))
