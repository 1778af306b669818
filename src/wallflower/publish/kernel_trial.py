"""Every loop that grouping may call, called once on rows that nobody holds.

Which of them a table needs depends on its rows: how many there are, which group fails and why, whether a row is left over. None is to be
compiled or loaded after the charge, and so each is called here as its caller calls it, with arrays of the types that the declared columns
give. What comes out is thrown away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.box_groups import OFFERS
from wallflower.publish.checker import Checker, Level, Since
from wallflower.publish.corner_kernels import corners, outermost, some_corner
from wallflower.publish.corner_values import PATIENCE, central_corner
from wallflower.publish.growth_kernels import cheapest, expand
from wallflower.publish.levels import BOTH, MATCHING, counts_possible_values
from wallflower.publish.offers import offered, taken
from wallflower.publish.people_kernels import everyone, someone
from wallflower.publish.publication import Terms
from wallflower.publish.range_kernels import leading, values_at
from wallflower.publish.regions import RegionWork
from wallflower.publish.worlds import Worlds

Whole = NDArray[np.int64]
LOOKED_AT: dict[str, tuple[Level, ...]] = {MATCHING: (), BOTH: ("candidate",), "attack": ("attack", "candidate")}
"""Whose verdicts are asked for at a level, where it is not the level's own alone."""


def call_every_loop(checker: Checker, terms: Terms) -> None:
    """`checker` holds made-up rows of the declared columns; at least two."""
    work = RegionWork.on(
        checker, level=terms.level, k=terms.k, method=terms.method, least=terms.least, demands=terms.demands
    )
    shop, everybody = work.shop, np.arange(len(checker.places))
    _ = checker.outlying, checker.outlying_by_value, shop.hard(), work.grouper.flags
    group = shop.made(everybody)
    offers = offered([group], shop)
    cheapest(checker.places[0, : checker.quasi], offers, shop.trees, np.empty(OFFERS, dtype=np.int64), np.empty(OFFERS))
    taken(offers, 0, checker.places[0, : checker.quasi], shop)
    if counts_possible_values(terms.level):
        _worlds(checker, everybody)
    for level in LOOKED_AT.get(terms.level, (shop.level,)):
        _verdicts(checker, level, group.low, group.high)
    if not counts_possible_values(terms.level):
        quasi = shop.cutter.rows
        members, alive = np.empty(len(quasi), dtype=np.int64), np.ones(len(quasi), dtype=np.bool_)
        guarded = shop.level == "strict"
        expand(
            quasi, shop.cutter.codes, alive, everybody[0], 2, 58, shop.trees, shop.sample, shop.middle, guarded, members
        )


def _verdicts(checker: Checker, level: Level, low: Whole, high: Whole) -> None:
    """Of a group of everybody, as it is and as one that grew; and every question that a verdict may ask on the way."""
    blocks, guide, values = checker.blocks, checker.guide, checker.values
    checker.verdict(level, low, high, values)
    checker.guided(level, low, high, values, since=Since(low, low, values[:1], low))
    good = np.zeros(len(values), dtype=np.bool_)
    values_at(blocks, guide, central_corner(blocks, low, high), values, good)
    some_corner(blocks, guide, low, high, values, np.zeros_like(good), PATIENCE)
    leading(blocks, low, high, values)
    checker.normal(checker.places)
    if level == "strict":
        outermost(blocks, low, high, values[0])
        corners(blocks, guide, low, high, values, good, np.zeros((1, len(low)), dtype=np.int8), True, 1)
    elif level == "candidate":
        people = np.ascontiguousarray(checker.places[:, : checker.quasi])
        everyone(blocks, guide, people, values, good, np.zeros(len(people), dtype=np.bool_), True, True)
        someone(blocks, guide, people, values, good)


def _worlds(checker: Checker, everybody: Whole) -> None:
    worlds = Worlds(checker)
    quasi = np.ascontiguousarray(checker.places[:, : checker.quasi])
    good, bad = np.zeros(len(checker.values), dtype=np.bool_), np.zeros(len(quasi), dtype=np.bool_)
    everyone(checker.blocks, checker.guide, quasi, checker.values, good, bad, False, False)
    members = worlds.members(everybody[1:])
    members.possible(members.everyone)
    members.peeled(1)
    members.stuck(members.everyone)
    worlds.joined(members, int(everybody[0]), least=1)
