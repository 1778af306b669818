"""Groups for level `matching` that keep outliers: pools, shed-cuts, peeling, and left-over rows offered to groups.

No order here depends on who is an outlier: rows are in canonical order (by quasi-identifiers, then values), and so are left-over rows. The two
pools are by *forced*, which this adversary knows. Who is left over depends on flags, as it must; `plain.md` says what a replay of the method tells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.progress import report
from wallflower.publish.grouping import Grouping, Workshop, merged
from wallflower.publish.growth_kernels import cheapest
from wallflower.publish.offers import offered, taken
from wallflower.publish.shed_cuts import ShedCutter
from wallflower.publish.worlds import Members, Worlds

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

    def __call__(self) -> Grouping:
        shop, worlds = self.shop, Worlds(self.shop.checker)
        everyone = np.arange(len(shop.checker.places))
        cutter = ShedCutter(shop.checker.space.quasi, shop.cutter.rows, self._enough)
        groups: list[Members] = []
        left: list[Whole] = []
        for pool in (everyone[~worlds.forced], everyone[worlds.forced]):
            found, rest = self._cut(cutter, worlds, pool)
            groups += found
            left.append(rest)
        over = np.sort(np.concatenate(left))
        for _ in range(ROUNDS):
            found, over = self._cut(cutter, worlds, over)
            groups += found
        finished, stay = self._insert(worlds, groups, over)
        made = [shop.made(np.sort(members.rows)) for members in finished]
        return Grouping(merged(made), stay, int(shop.checker.outlying_by_value[stay].sum()))

    def _insert(self, worlds: Worlds, groups: list[Members], left: Whole) -> tuple[list[Members], Whole]:
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
            for g in best[best >= 0].tolist():
                grown = worlds.joined(groups[g], row, least=self.least)
                if grown is not None:
                    groups[g] = grown
                    taken(offers, g, place, shop)
                    break
            else:
                stay.append(row)
            if done % 64 == 0:
                report("inserting", done, len(left))
        return groups, np.array(stay, dtype=np.int64)

    def _enough(self, part: Whole) -> bool:
        return len(part) >= self.shop.k and self.shop.cutter.distinct(part) >= self.shop.k

    def _cut(self, cutter: ShedCutter, worlds: Worlds, pool: Whole) -> tuple[list[Members], Whole]:
        parts, shed = cutter.leaves(pool)
        groups: list[Members] = []
        left = [shed]
        for done, part in enumerate(parts):
            members = worlds.members(part)
            alive = members.settled(k=self.shop.k, least=self.least)
            if alive.any():
                groups.append(members.only(alive))
            left.append(part[~alive])
            if done % 64 == 0:
                report("cutting", done, len(parts))
        return groups, np.sort(np.concatenate(left))
