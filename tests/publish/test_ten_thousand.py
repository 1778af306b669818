"""At 10,000 rows and 8 quasi-identifiers, over all groups: a checker in float64 that shares nothing with the kernels."""

from itertools import product

import numpy as np
import pytest
from benchmarks.publish.data import canonical, figure_7, figure_7_space

from wallflower.publish import population as population_module
from wallflower.publish.anonymise import anonymise
from wallflower.publish.checker import Checker

ROWS = 10_000
TIE = 1e-12


class Independent:
    """Counts near rows of a point for all sensitive values at once: each near row covers an interval of values."""

    def __init__(self, space, places):
        self.scale = np.array([float(axis.weight / axis.scale) for axis in space.axes])
        self.x = places * self.scale
        self.limit = float(space.d) ** 2
        self.fair = (1 - float(space.p)) * len(places)

    def squares(self, axis, place):
        return (self.x[:, axis] - place * self.scale[axis]) ** 2

    def normal(self, squared, values):
        """Which values are normal where the rows lie `squared` away in the quasi-identifiers."""
        near = squared <= self.limit + TIE
        half = np.sqrt(self.limit - squared[near] + TIE)
        s = self.x[near, -1]
        starts, ends = np.sort(s - half), np.sort(s + half)
        at = values * self.scale[-1]
        return np.searchsorted(starts, at, side="right") - np.searchsorted(ends, at, side="left") > self.fair

    def strict(self, low, high, values):
        sides = [[self.squares(a, v) for v in sorted({int(low[a]), int(high[a])})] for a in range(len(low))]
        seen = np.zeros(len(values), dtype=bool)
        for corner in product(*sides):
            good = self.normal(sum(corner), values)
            if not good.any():
                return False
            seen |= good
        return bool(seen.all())

    def candidate(self, people, values):
        seen = np.zeros(len(values), dtype=bool)
        for q in np.unique(people, axis=0):
            good = self.normal(sum(self.squares(a, q[a]) for a in range(len(q))), values)
            if not good.any():
                return False
            seen |= good
        return bool(seen.all())


@pytest.mark.slow
@pytest.mark.parametrize("level", ["strict", "candidate"])
@pytest.mark.parametrize(
    "sample", [pytest.param(4096, marks=pytest.mark.campaign), 1024], ids=["all rows asked", "guided"]
)
def test_no_group_violates_its_level(level, sample, monkeypatch):
    monkeypatch.setattr(population_module, "SAMPLE", sample)
    space, places = figure_7_space(), canonical(figure_7(ROWS, seed=11))
    grouping = anonymise(Checker(space, places), level=level, k=15, method="hybrid")
    independent = Independent(space, places)
    assert len(grouping.groups) > 100
    assert grouping.published + len(grouping.suppressed) == ROWS
    refused = 0
    for group in grouping.groups:
        values = np.unique(places[group.rows, -1])
        assert len(values) >= 15
        if level == "strict":
            assert independent.strict(group.low, group.high, values)
        else:
            inside = ((places[:, :8] >= group.low) & (places[:, :8] <= group.high)).all(axis=1)
            assert independent.candidate(places[inside, :8], values)
    # The twin can say no: boxes over everybody fail.
    low, high = places[:, :8].min(axis=0), places[:, :8].max(axis=0)
    values = np.unique(places[:, -1])
    refused += not (
        independent.strict(low, high, values) if level == "strict" else independent.candidate(places[:, :8], values)
    )
    assert refused == 1
