"""Exact laws of `explain` on small tables, from the shipped code."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from tests.explain.tables import every_valid, view
from wallflower.explain import searches
from wallflower.explain.constrained import Plan
from wallflower.explain.distributions import distribution


class Small:
    """A graph of contexts with a given valid set."""

    def __init__(self, bits, valid):
        self.bits, self.valid_set = bits, frozenset(valid)

    @property
    def count(self):
        return 1 << self.bits

    def valid(self, indices):
        return [int(index) in self.valid_set for index in indices]

    def connected(self, index):
        return [index ^ (1 << bit) for bit in range(self.bits)]


def begin(search, bits, valid, samples, start=None):
    """A function that starts the search anew."""
    graph = Small(bits, valid)
    if search == "exact":
        return lambda: searches.exact(sorted(valid))
    if search == "uniform":
        return lambda: searches.uniform(graph, samples, attempts=samples + 1, batch=1)
    kind = getattr(searches, search)
    first = searches.first_valid(graph) if start is None else start
    return lambda: kind(graph, first, samples)


@cache
def law(search, bits, valid, scores, exponent, samples):
    return distribution(begin(search, bits, valid, samples), dict(enumerate(scores)), exponent)


@cache
def looked_at(table, shape, detector, least):
    """Valid set and populations of a table whose first row is the asked-for one."""
    sight = view(table, shape, least=least)
    valid = frozenset(np.flatnonzero(every_valid(sight, detector)).tolist())
    return sight.space.steps, valid, tuple(sight.population.tolist())


def plan(search, *, epsilon=Fraction(1, 2), samples=2, neighbours="add-remove", monotone=True, top=1):
    return Plan(
        search=search,
        samples=samples,
        epsilon=epsilon,
        sensitivity=1,
        monotone=monotone,
        neighbours=neighbours,
        start=None,
        top=top,
    )
