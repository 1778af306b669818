"""The slow twin of level `matching`: every way to hand the lines of a group to its members, one by one."""

from itertools import combinations, permutations

import numpy as np
from tests.publish import brute


class Group:
    """Rows of a table as a group: everything from Python integers and all bijections."""

    def __init__(self, space, places, rows):
        self.space, self.places, self.rows = space, places, list(rows)
        quasi = len(space.quasi)
        self.people = [tuple(places[r, :quasi].tolist()) for r in self.rows]
        self.lines = [tuple(places[r, quasi:].tolist()) for r in self.rows]
        self.known = {}
        values = {tuple(v) for v in places[:, quasi:].tolist()}
        self.flags = [self.out(q, s) for q, s in zip(self.people, self.lines, strict=True)]
        self.forced = [all(self.out(q, s) for s in values) for q in self.people]

    def out(self, q, s):
        """Over the one table, never over the group."""
        if (q, s) not in self.known:
            self.known[q, s] = brute.outlier(self.space, self.places, [*q, *s])
        return self.known[q, s]

    def worlds(self):
        for handed in set(permutations(self.lines)):
            if all(self.out(q, s) == o for q, s, o in zip(self.people, handed, self.flags, strict=True)):
                yield handed

    def possible(self):
        """For each member the set of its possible values."""
        found = [set() for _ in self.rows]
        for handed in self.worlds():
            for values, s in zip(found, handed, strict=True):
                values.add(s)
        return found

    def counts(self):
        return [
            min(len({s[a] for s in values}) for a in range(len(self.space.sensitive))) for values in self.possible()
        ]

    def blends(self):
        """E."""
        return any(
            all(forced or not self.out(q, s) for q, s, forced in zip(self.people, handed, self.forced, strict=True))
            for handed in set(permutations(self.lines))
        )

    def distinct(self):
        return min(len({s[a] for s in self.lines}) for a in range(len(self.space.sensitive)))

    def valid(self, k, least):
        return self.distinct() >= k and min(self.counts()) >= least and self.blends()


def largest(space, places, rows, least):
    """The union of all parts of `rows` in which everyone has `least` possible values."""
    kept = set()
    for size in range(1, len(rows) + 1):
        for part in combinations(rows, size):
            if not set(part) <= kept and min(Group(space, places, part).counts()) >= least:
                kept |= set(part)
    return sorted(kept)


def tables(seed, many, *, sensitive=1, rows=9, last=3):
    """Small tables in canonical order, with many ties and duplicates."""
    from tests.publish.spaces import number, space

    rng = np.random.default_rng(seed)
    for _ in range(many):
        quasi = [number(f"q{a}", last) for a in range(int(rng.integers(1, 3)))]
        held = [number(f"s{a}", last, role="sensitive") for a in range(sensitive)]
        p, d = rng.choice(["1/2", "3/5", "7/10", "4/5"]), rng.choice(["1/3", "2/5", "1/2", "2/3", "1"])
        count = int(rng.integers(5, rows + 1))
        # One column in three is narrow, so that people and values repeat.
        places = np.column_stack(
            [rng.integers(0, rng.choice([2, last + 1, last + 1]), count) for _ in range(len(quasi) + sensitive)]
        ).astype(np.int64)
        yield space(quasi, held, p=str(p), d=str(d)), np.ascontiguousarray(places[np.lexsort(places.T[::-1])]), rng
