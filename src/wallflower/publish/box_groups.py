"""Groups by their boxes: `hybrid` (Mondrian, exact check, repair, growth, insertion) and `expc` (the paper's expansion, made to end).

Neither draws anything: rows are put in a canonical order first and every tie follows a written rule, so that the grouping is a
function of the multiset of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.progress import report
from wallflower.publish.checker import Since
from wallflower.publish.grouping import Group, Grouping, Workshop, merged
from wallflower.publish.growth_kernels import cheapest, expand
from wallflower.publish.offers import offered, taken

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
CHUNK = 512
PATIENT = (24, 8)
"""A chunk is given up after so many failed seeds, and so many more for every group found."""
OFFERS = 3
"""How many groups a left-over row is offered to, the cheapest first."""


@dataclass(frozen=True)
class BoxGrouper:
    """Groups for the levels that look at boxes: candidate, strict, attack."""

    shop: Workshop
    method: str
    known: Flags | None = None
    """`flags`, where somebody has found them out, of the whole table."""

    @cached_property
    def flags(self) -> Flags:
        """Rows that neither stand out on their sensitive value alone, in the whole table, nor are set aside as hard."""
        if self.known is not None:
            return self.known
        return np.asarray(~self.shop.checker.outlying_by_value & ~self.shop.hard())

    def pieces(self, rows: Whole) -> tuple[list[Whole], Whole] | None:
        return self.shop.cutter.pieces(rows)

    def region(self, rows: Whole) -> tuple[list[Group], Whole]:
        """Groups of these rows of the table, and the rows that are in none."""
        shop, easy = self.shop, rows[self.flags[rows]]
        groups: list[Group] = []
        left = easy
        if self.method == "hybrid":
            groups, left = cut(shop, easy, "cutting")
            again, left = cut(shop, left, "cutting again")
            groups += again
        for _ in range(2):
            grown, left = grow(shop, left)
            groups += grown
            if not grown:
                break
        groups, left = insert(shop, groups, left)
        return groups, np.sort(np.concatenate([left, rows[~self.flags[rows]]]))

    def again(self, groups: list[Group], left: Whole) -> tuple[list[Group], Whole]:
        """The left-over rows of several regions, offered to the groups of all of them."""
        groups, stay = insert(self.shop, groups, left[self.flags[left]])
        return groups, np.sort(np.concatenate([stay, left[~self.flags[left]]]))

    def last(self, groups: list[Group], left: Whole) -> Grouping:
        gone = self.shop.checker.outlying_by_value
        groups, left = fill(self.shop, groups, left, gone)
        return Grouping(merged(groups), left, int(gone.sum()))


def cut(shop: Workshop, rows: Whole, label: str) -> tuple[list[Group], Whole]:
    """Mondrian leaves that are plain, if need be after repair, and the rows that are in none."""
    leaves = shop.cutter.leaves(rows)
    groups: list[Group] = []
    left: list[Whole] = []
    for done, leaf in enumerate(leaves):
        group, rest = shop.settle(leaf)
        if group is not None:
            groups.append(group)
        left.append(rest)
        if done % 64 == 0:
            report(label, done, len(leaves))
    report(label, len(leaves), len(leaves))
    return groups, np.sort(np.concatenate(left)) if left else rows


def grow(shop: Workshop, rows: Whole, first: NDArray[np.bool_] | None = None) -> tuple[list[Group], Whole]:
    """The paper's expansion inside chunks of neighbours: seed with the row farthest from the chunk's mean, take in the row that
    costs least, check exactly at k distinct values; a seed that fails is set aside, so that it ends. Rows marked in `first` are
    tried as seeds before the others.
    """
    groups: list[Group] = []
    left: list[Whole] = []
    chunks = shop.cutter.leaves(rows, at_most=CHUNK)
    for done, chunk in enumerate(chunks):
        found, rest = _grow_chunk(shop, chunk, first)
        groups += found
        left.append(rest)
        report("growing", done + 1, len(chunks))
    return groups, np.sort(np.concatenate(left)) if left else rows


def _grow_chunk(shop: Workshop, chunk: Whole, first: NDArray[np.bool_] | None) -> tuple[list[Group], Whole]:
    quasi, codes = shop.cutter.rows[chunk], shop.cutter.codes[chunk]
    scale = shop.checker.blocks.scale[: quasi.shape[1]]
    alive = np.ones(len(chunk), dtype=np.bool_)
    seeds = np.argsort(-(((quasi - quasi.mean(axis=0)) * scale) ** 2).sum(axis=1), kind="stable")
    if first is not None:
        seeds = seeds[np.argsort(~first[chunk[seeds]], kind="stable")]
    members = np.empty(len(chunk), dtype=np.int64)
    groups: list[Group] = []
    failed = 0
    for seed in seeds:
        if not alive[seed]:
            continue
        guarded = shop.level == "strict"
        count = expand(
            quasi, codes, alive, seed, shop.k, 4 * shop.k + 50, shop.trees, shop.sample, shop.middle, guarded, members
        )
        group = None
        if count:
            group, _ = shop.settle(np.sort(chunk[members[:count]]))
        if group is None:
            alive[seed] = False
            failed += first is None or not first[chunk[seed]]
            if failed > PATIENT[0] + PATIENT[1] * len(groups):
                break  # a chunk in which hardly any seed works is left to the insertion step
            continue
        group = _absorbed(shop, group, chunk[alive])
        alive[np.isin(chunk, group.rows, assume_unique=True)] = False
        groups.append(group)
    taken = np.isin(chunk, np.concatenate([g.rows for g in groups]) if groups else chunk[:0], assume_unique=True)
    return groups, chunk[~taken]


def _absorbed(shop: Workshop, group: Group, rows: Whole) -> Group:
    """With every free row inside the box that holds one of its values: box and values stay, so it stays plain. What is asked beyond
    the level counts how often a value is there: then rows are taken in one by one.
    """
    fits = rows[_fits(shop, group, rows)]
    if not shop.tests.any:
        return replace(group, rows=np.union1d(group.rows, fits))
    members = group.rows
    for row in np.setdiff1d(fits, members, assume_unique=True):
        more = np.append(members, row)
        if shop.tests.passes(more):
            members = more
    return replace(group, rows=np.sort(members))


def _fits(shop: Workshop, group: Group, rows: Whole) -> NDArray[np.bool_]:
    quasi = shop.cutter.rows[rows]
    inside = np.asarray(((quasi >= group.low) & (quasi <= group.high)).all(axis=1))
    inside[inside] = np.isin(shop.checker.ranks[rows[inside]], group.ranks)
    return inside


def insert(shop: Workshop, groups: list[Group], left: Whole) -> tuple[list[Group], Whole]:
    """Offer each left-over row to the groups that lose least by it, with an exact check each time."""
    if not groups or not len(left):
        return groups, left
    checker, quasi = shop.checker, shop.checker.quasi
    offers = offered(groups, shop)
    low, high = offers.low, offers.high
    held = [set(g.ranks.tolist()) for g in groups]
    anchors = [g.anchor for g in groups]
    joined: list[list[int]] = [[] for _ in groups]
    best, cost = np.empty(OFFERS, dtype=np.int64), np.empty(OFFERS)
    stay: list[int] = []
    for done, row in enumerate(left.tolist()):
        place, rank = checker.places[row, :quasi], int(checker.ranks[row])
        cheapest(place, offers, shop.trees, best, cost)
        for g in best.tolist():
            if g < 0 or (shop.tests.any and not shop.tests.passes(np.append(groups[g].rows, [*joined[g], row]))):
                continue
            wide = (np.minimum(low[g], place), np.maximum(high[g], place))
            grows = bool((wide[0] < low[g]).any() or (wide[1] > high[g]).any())
            if grows:
                wide = checker.space.round_up(*wide)
            if grows or rank not in held[g]:
                values = checker.values[np.array(sorted(held[g] | {rank}), dtype=np.int64)]
                added = checker.values[[rank] if rank not in held[g] else []]
                since = Since(low[g], high[g], added, anchors[g])
                verdict = checker.guided(shop.level, *wide, values, since=since)
                if verdict.failed:
                    continue
                anchors[g] = verdict.anchor
                held[g].add(rank)
            joined[g].append(row)
            taken(offers, g, place, shop)
            break
        else:
            stay.append(row)
        if done % 256 == 0:
            report("inserting", done, len(left))
    report("inserting", len(left), len(left))
    grown = [
        Group(
            np.sort(np.concatenate([old.rows, np.array(joined[g], dtype=np.int64)])),
            low[g],
            high[g],
            np.array(sorted(held[g]), dtype=np.int64),
        )
        if joined[g]
        else old
        for g, old in enumerate(groups)
    ]
    return grown, np.array(stay, dtype=np.int64)


def fill(shop: Workshop, groups: list[Group], out: Whole, gone: NDArray[np.bool_]) -> tuple[list[Group], Whole]:
    """Last look at rows set aside as hard: those inside a finished box with a value of it are published after all."""
    free = np.zeros(len(shop.checker.places), dtype=np.bool_)
    free[out] = True
    free &= ~gone
    for g, group in enumerate(groups):
        people = shop.checker.inside(group.low, group.high)
        rows = np.sort(people[free[people]])
        if len(rows):
            new = _absorbed(shop, group, rows)
            free[new.rows] = False
            groups[g] = new
    taken = np.zeros(len(free), dtype=np.bool_)
    for group in groups:
        taken[group.rows] = True
    return groups, out[~taken[out]]
