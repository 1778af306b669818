"""ExpC, GNOF, GOF, hybrid, and "remove all outliers", step by step with the time of each step.

`matching` is our level of that name, formed by shed-cuts; it is not in the paper. `removal` is NOT PRIVATE in the sense of this paper: it removes outliers and checks no group.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from wallflower.publish.anonymise import anonymise
from wallflower.publish.box_groups import cut, fill, grow, insert, merged
from wallflower.publish.checker import Checker
from wallflower.publish.grouping import Group, Workshop
from wallflower.publish.loss import losses

METHODS = ("ExpC", "GNOF", "GOF", "hybrid")
STEPS = ("global outliers", "local outliers", "grouping", "residue")


@dataclass
class Outcome:
    """Groups, what was left out, and CPU seconds by step."""

    method: str
    rows: int
    groups: list[Group]
    suppressed: int
    k: int
    checker: Checker
    times: dict[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return sum(self.times.values())

    @property
    def average(self) -> float:
        return (self.rows - self.suppressed) / max(len(self.groups), 1)

    @property
    def kept_loss(self) -> float:
        """Definition 3.7 over the published rows."""
        shape = (len(self.groups), self.checker.quasi)
        low = np.array([g.low for g in self.groups]).reshape(shape)
        high = np.array([g.high for g in self.groups]).reshape(shape)
        sizes = [len(g.rows) for g in self.groups]
        return losses(self.checker.space.quasi, low, high, sizes, suppressed=self.suppressed, k=self.k).information_loss

    @property
    def loss(self) -> float:
        """The same over all rows, a suppressed one losing every column."""
        share = self.suppressed / max(self.rows, 1)
        return self.kept_loss * (1 - share) + self.checker.quasi * share


class Clock:
    def __init__(self) -> None:
        self.times = dict.fromkeys(STEPS, 0.0)
        self.last = time.process_time()

    def step(self, name: str) -> None:
        now = time.process_time()
        self.times[name] += now - self.last
        self.last = now


def run(checker: Checker, method: str, *, k: int, level: str = "strict") -> Outcome:
    if method == "matching":
        clock = Clock()
        grouping = anonymise(checker, level="matching", k=k, method="shed")
        clock.step("grouping")
        rows, groups = len(checker.places), list(grouping.groups)
        return Outcome(method, rows, groups, len(grouping.suppressed), k, checker, clock.times)
    shop = Workshop(checker, level, k)
    everyone = np.arange(len(checker.places))
    clock = Clock()
    gone = checker.outlying_by_value
    clock.step("global outliers")
    groups: list[Group] = []
    late = everyone[:0]
    if method in {"GNOF", "GOF", "removal"}:
        local = checker.outlying & ~gone
        clock.step("local outliers")
    if method == "removal":
        rows = everyone[~gone & ~local]
        groups = [shop.made(leaf) for leaf in shop.cutter.leaves(rows)]
        clock.step("grouping")
        return Outcome(method, len(everyone), groups, len(everyone) - len(rows), k, checker, clock.times)
    if method == "GNOF":
        groups, left = grow(shop, everyone[~gone & ~local])
        late = everyone[local]
    elif method == "GOF":
        groups, left = grow(shop, everyone[~gone], first=local)
    else:
        hard = shop.hard() & ~gone
        left = everyone[~gone & ~hard]
        if method == "hybrid":
            groups, left = cut(shop, left, "cutting")
        grown, left = grow(shop, left)
        groups += grown
    clock.step("grouping")
    groups, left = insert(shop, groups, np.sort(np.concatenate([left, late])))
    taken = np.zeros(len(everyone), dtype=bool)
    for group in groups:
        taken[group.rows] = True
    groups, out = fill(shop, groups, everyone[~taken], gone)
    clock.step("residue")
    return Outcome(method, len(everyone), list(merged(groups)), len(out), k, checker, clock.times)
