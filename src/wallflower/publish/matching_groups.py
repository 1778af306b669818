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
from wallflower.publish.grouping import REPAIRS, Grouping, Workshop, merged
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

    def __call__(self) -> Grouping:
        shop = self.shop
        everyone = np.arange(len(shop.checker.places))
        forced = self._worlds.forced
        groups: list[Members] = []
        left: list[Whole] = []
        if (
            self.candidate
        ):  # whoever matches a box must be normal with one of its values: who is forced is in no group that passes
            pools, gone = [everyone[~forced]], everyone[forced]
        else:
            pools, gone = [everyone[~forced], everyone[forced]], everyone[:0]
        for pool in pools:
            found, rest = self._cut(pool)
            groups += found
            left.append(rest)
        over = np.sort(np.concatenate(left))
        for _ in range(ROUNDS):
            found, over = self._cut(over)
            groups += found
        finished, stay = self._insert(groups, over)
        stay = np.sort(np.append(stay, gone))
        made = [shop.made(np.sort(members.rows)) for members in finished]
        return Grouping(merged(made), stay, int(shop.checker.outlying_by_value[stay].sum()))

    @cached_property
    def _worlds(self) -> Worlds:
        return Worlds(self.shop.checker)

    @cached_property
    def _cutter(self) -> ShedCutter:
        return ShedCutter(self.shop.checker.space.quasi, self.shop.cutter.rows, self.shop.cutter.enough)

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
