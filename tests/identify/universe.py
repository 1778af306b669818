"""Every table over a handful of values, and the two graphs on them, built from the definitions alone."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import product

import numpy as np

LINE = {size: [[abs(i - j) for j in range(size)] for i in range(size)] for size in range(1, 5)}
CLIQUE = {size: [[int(i != j) for j in range(size)] for i in range(size)] for size in range(1, 5)}
STAR = {
    size: [[0 if i == j else 1 if 0 in (i, j) else 2 for j in range(size)] for i in range(size)] for size in range(1, 5)
}


@dataclass
class Universe:
    """Tables with at most `most` rows of each value, under a distance matrix, a radius, β and k."""

    distances: list[list[int]]
    radius: int
    beta: int
    k: int
    most: int

    def __post_init__(self):
        self.size = len(self.distances)
        self.tables = list(product(range(self.most + 1), repeat=self.size))
        self.near = [[j for j, away in enumerate(row) if away <= self.radius] for row in self.distances]

    def within(self, value, table):
        return sum([table[j] for j in self.near[value]])

    def normal(self, value, table):
        return table[value] >= 1 and self.within(value, table) > self.beta

    def answer(self, value, table):
        return table[value] >= 1 and self.within(value, table) <= self.beta

    def sensitive_by_definition(self, value, table):
        """Whether some table within k additions and removals holds the value as a normal one."""
        choices = [range(max(0, n - self.k), n + self.k + 1) for n in table]
        return any(
            self.normal(value, other) and sum(abs(a - b) for a, b in zip(table, other, strict=True)) <= self.k
            for other in product(*choices)
        )

    def sensitive(self, value, table):
        return self.within(value, table) >= self.beta + 1 - self.k

    def edges(self, *, sensitive_only):
        """(table, table + a row of value j), once each."""
        for table in self.tables:
            for j in range(self.size):
                if table[j] == self.most:
                    continue
                more = (*table[:j], table[j] + 1, *table[j + 1 :])
                if not sensitive_only or self.sensitive(j, table) or self.sensitive(j, more):
                    yield table, more, j

    def distances_to_another_answer(self, value, *, sensitive_only):
        """Breadth-first search from every end of an edge along which the answer changes; absent: no other answer."""
        near = {table: [] for table in self.tables}
        for one, other, _ in self.edges(sensitive_only=sensitive_only):
            near[one].append(other)
            near[other].append(one)
        found = {
            table: 1
            for table in self.tables
            if any(self.answer(value, table) != self.answer(value, other) for other in near[table])
        }
        queue = deque(found)
        while queue:
            table = queue.popleft()
            for other in near[table]:
                if other not in found:
                    found[other] = found[table] + 1
                    queue.append(other)
        return found

    def counts(self, value):
        copies = np.array([table[value] for table in self.tables], dtype=np.int64)
        within = np.array([self.within(value, table) for table in self.tables], dtype=np.int64)
        return copies, within

    def margins(self, margin, value):
        copies, within = self.counts(value)
        return dict(zip(self.tables, margin(copies, within, beta=self.beta, k=self.k).tolist(), strict=True))


def universes(*, largest):
    """Lines, cliques and stars of 1 to `largest` values, with every small radius, β and k (k beyond β included)."""
    for size in range(1, largest + 1):
        most = {1: 9, 2: 8, 3: 6, 4: 4}[size]
        for shape in (LINE, CLIQUE, STAR):
            if size < 3 and shape is not LINE:
                continue  # the shapes are the same
            for radius in range(3 if size > 1 else 1):
                for beta in range(1, 4 if size < 4 else 3):
                    for k in range(1, beta + 2):
                        yield Universe(shape[size], radius, beta, k, most)
