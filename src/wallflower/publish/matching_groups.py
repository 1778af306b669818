"""Groups for level `matching` that keep outliers: pools, shed-cuts, peeling, and left-over rows offered to groups.

No order here depends on who is an outlier: rows are in canonical order (by quasi-identifiers, then values), and so are left-over rows. The two
pools are by *forced*, which this adversary knows. Who is left over depends on flags, as it must; `plain.md` says what a replay of the method tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.progress import report
from wallflower.publish.grouping import REPAIRS, Group, Grouping, Workshop, merged
from wallflower.publish.growth_kernels import cheapest
from wallflower.publish.offers import offered, taken
from wallflower.publish.shed_cuts import ShedCutter
from wallflower.publish.worlds import Known, Members, Worlds

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
ROUNDS = 2
"""How often left-over rows are pooled and cut again."""
OFFERS = 40
"""How many groups a left-over row is offered to, the cheapest first."""


@dataclass(frozen=True)
class MatchingGrouper:
    shop: Workshop
    least: int
    """Possible values everyone must have."""
    candidate: bool = False
    """Whether groups must pass level `candidate` as well."""

    known: Flags | None = None
    """`flags`, where somebody has found them out, of the whole table."""

    @property
    def flags(self) -> Flags:
        """Who is forced: an outlier with every value of the table."""
        return self._worlds.forced

    def pieces(self, rows: Whole) -> tuple[list[Whole], Whole] | None:
        return self._cutter.pieces(rows)

    def region(self, rows: Whole) -> tuple[list[Group], Whole]:
        """Groups of these rows of the table, and the rows that are in none. Flags, and who is forced, are of the whole table."""
        forced = self.flags[rows]
        groups: list[Members] = []
        left: list[Whole] = []
        if (
            self.candidate
        ):  # whoever matches a box must be normal with one of its values: who is forced is in no group that passes
            pools, gone = [rows[~forced]], rows[forced]
        else:
            pools, gone = [rows[~forced], rows[forced]], rows[:0]
        for pool in pools:
            found, rest = self._cut(pool)
            groups += found
            left.append(rest)
        groups, stay = self._placed(groups, np.sort(np.concatenate(left)))
        return self._made(groups), np.sort(np.append(stay, gone))

    def again(self, groups: list[Group], left: Whole) -> tuple[list[Group], Whole]:
        """The left-over rows of several regions: cut among themselves, and offered to the groups of all of them."""
        gone = left[self.flags[left]] if self.candidate else left[:0]
        over = np.setdiff1d(left, gone, assume_unique=True)
        grown, stay = self._placed([self._worlds.members(group.rows) for group in groups], over)
        return self._made(grown), np.sort(np.append(stay, gone))

    def last(self, groups: list[Group], left: Whole) -> Grouping:
        return Grouping(merged(groups), left, int(self.shop.checker.outlying_by_value[left].sum()))

    def _placed(self, groups: list[Members], over: Whole) -> tuple[list[Members], Whole]:
        for _ in range(ROUNDS):
            found, over = self._cut(over)
            groups += found
        for _ in range(
            ROUNDS
        ):  # groups that have taken rows in have more values: who was refused is offered to them once more
            groups, over = self._insert(groups, over)
        return groups, over

    def _made(self, groups: list[Members]) -> list[Group]:
        return [self.shop.made(np.sort(members.rows)) for members in groups]

    @cached_property
    def _worlds(self) -> Worlds:
        return Worlds(self.shop.checker, self.known)

    @cached_property
    def _cutter(self) -> ShedCutter:
        shop = self.shop
        return ShedCutter(shop.checker.space.quasi, shop.cutter.rows, shop.cutter.enough, least=shop.k)

    def _cut(self, pool: Whole) -> tuple[list[Members], Whole]:
        parts, shed = self._cutter.leaves(pool)
        groups: list[Members] = []
        left = [shed]
        for done, part in enumerate(parts):
            members = self._settled(self._worlds.members(part))
            if members is not None:
                groups.append(members)
            left.append(part if members is None else part[~np.isin(part, members.rows, assume_unique=True)])
            if done % 64 == 0:
                report("cutting", done, len(parts))
        return groups, np.sort(np.concatenate(left))

    def _settled(self, members: Members) -> Members | None:
        """Rows of these that pass everything that is asked; none where that is not reached soon."""
        for _ in range(1 + REPAIRS):
            alive = members.settled(k=self.shop.k, least=self.least)
            if not alive.any():
                return None
            members = members.only(alive)
            if not self.shop.tests.passes(members.rows):
                return None
            kept = self.shop.repaired(members.rows) if self.candidate else None
            if kept is None:
                return members
            members = members.only(np.isin(members.rows, kept, assume_unique=True))
            if len(members.rows) < self.shop.k:
                return None
        return None

    def _insert(self, groups: list[Members], left: Whole) -> tuple[list[Members], Whole]:
        """Offer each left-over row to the groups that lose least by it."""
        if not groups or not len(left):
            return groups, left
        shop = self.shop
        offers = offered([shop.made(members.rows) for members in groups], shop)
        best, cost = np.empty(OFFERS, dtype=np.int64), np.empty(OFFERS)
        stay: list[int] = []
        for done, row in enumerate(left.tolist()):
            place = shop.cutter.rows[row]
            cheapest(place, offers, shop.trees, best, cost)
            known: Known = {}
            for g in best[best >= 0].tolist():
                grown = self._worlds.joined(groups[g], row, least=self.least, known=known)
                if grown is not None and self._still(grown):
                    groups[g] = grown
                    taken(offers, g, place, shop)
                    break
            else:
                stay.append(row)
            if done % 64 == 0:
                report("inserting", done, len(left))
        return groups, np.array(stay, dtype=np.int64)

    def _still(self, members: Members) -> bool:
        """What more members may undo."""
        if not self.shop.tests.passes(members.rows):
            return False
        return not self.candidate or self.shop.passes(members.rows)
