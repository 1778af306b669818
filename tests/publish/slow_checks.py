"""A publication looked at by someone who shares no code with whoever made it: every group, every test that was declared.

Possible values by perfect matchings with one member's line fixed (not by components), the levels from `brute`, diversity from
definitions, closeness as a flow of least cost (not by edges of a tree).
"""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from tests.publish import brute

HAIR = 1e-7


def matching(allowed, lines):
    """Whether every member gets a line of its own: `allowed[i]` are the lines member i may have (augmenting paths)."""
    holder = {}

    def found(member, seen):
        for line in allowed[member]:
            if line not in seen:
                seen.add(line)
                if line not in holder or found(holder[line], seen):
                    holder[line] = member
                    return True
        return False

    return all(found(member, set()) for member in range(len(allowed))) and len(holder) == lines


class Judge:
    """Everything about one table in Python integers."""

    def __init__(self, space, places):
        self.space, self.places, self.quasi = space, places, len(space.quasi)
        self.lines = [tuple(row[self.quasi :]) for row in places.tolist()]
        self.people = [tuple(row[: self.quasi]) for row in places.tolist()]
        self.values = sorted(set(self.lines))
        self._known = {}

    def out(self, person, value):
        if (person, value) not in self._known:
            self._known[person, value] = brute.outlier(self.space, self.places, [*person, *value])
        return self._known[person, value]

    def possible(self, rows):
        """For each member the fewest different values it can have, over the sensitive columns."""
        fits = [
            [line for line, other in enumerate(rows) if self.out(self.people[r], self.lines[other]) == self.flag(r)]
            for r in rows
        ]
        fewest = []
        for member, lines in enumerate(fits):
            held = set()
            for line in lines:
                if self.lines[rows[line]] in held:
                    continue
                rest = [[x for x in other if x != line] for other in fits]
                rest[member] = [line]
                if matching(rest, len(rows)):
                    held.add(self.lines[rows[line]])
            fewest.append(min(len({value[a] for value in held}) for a in range(len(self.space.sensitive))))
        return fewest

    def flag(self, row):
        return self.out(self.people[row], self.lines[row])

    def blends(self, rows):
        forced = [all(self.out(self.people[r], value) for value in self.values) for r in rows]
        fits = [
            [x for x, other in enumerate(rows) if free or not self.out(self.people[r], self.lines[other])]
            for r, free in zip(rows, forced, strict=True)
        ]
        return matching(fits, len(rows))

    def passes(self, level, group):
        rows = group.rows.tolist()
        boxed = self.space, self.places, group.low, group.high, np.array(sorted({self.lines[r] for r in rows}))
        if level == "strict":
            return brute.strict(*boxed)
        if level == "attack":
            return not brute.exposed(*boxed)
        if level == "candidate":
            return brute.candidate(*boxed) and not brute.exposed(*boxed)
        raise AssertionError(level)

    def column(self, a, rows):
        return [self.lines[r][a] for r in rows]

    def meets(self, demands, rows):
        everyone = range(len(self.places))
        for a, axis in enumerate(self.space.sensitive):
            held = self.column(a, rows)
            if demands.entropy is not None and not entropy(held, demands.entropy):
                return False
            if demands.recursive is not None and not recursive(held, *demands.recursive):
                return False
            if demands.closeness is not None and moved(axis, held, self.column(a, everyone)) > demands.closeness + HAIR:
                return False
        return True


def entropy(values, least):
    shares = [count / len(values) for count in Counter(values).values()]
    return -sum(p * math.log(p) for p in shares) >= math.log(least)


def recursive(values, c, least):
    counts = sorted(Counter(values).values(), reverse=True)
    return counts[0] < c * sum(counts[least - 1 :])


def apart(axis, kinds, x, y):
    """How far two values of a sensitive column are from each other (Li et al. 2007)."""
    if axis.tree is None:
        return Fraction(abs(kinds.index(x) - kinds.index(y)), max(len(kinds) - 1, 1))

    def height(node):
        below = [child for child, parent in enumerate(axis.tree.parent) if parent == node != child]
        return 1 + max(map(height, below)) if below else 0

    root = len(axis.tree.parent) - 1
    return Fraction(height(axis.tree.cover(min(x, y), max(x, y))), height(root))


def moved(axis, values, table):
    """Earth mover's distance: the least cost of turning one column's shares into the other's."""
    kinds = sorted(set(table))
    cost = [float(apart(axis, kinds, x, y)) for x in kinds for y in kinds]
    sides = [[i // len(kinds) == j for i in range(len(cost))] for j in range(len(kinds))]
    sides += [[i % len(kinds) == j for i in range(len(cost))] for j in range(len(kinds))]
    shares = [held.count(kind) / len(held) for held in (values, table) for kind in kinds]
    return linprog(cost, A_eq=np.array(sides, dtype=float), b_eq=shares, bounds=(0, None)).fun


def objections(judge, grouping, *, level, k, least, demands):
    """What is wrong with a publication, in words; nothing where it keeps everything it was asked to."""
    found = []
    seen = sorted(r for part in [*(g.rows for g in grouping.groups), grouping.suppressed] for r in part.tolist())
    if seen != list(range(len(judge.places))):
        found.append("a row is missing or there twice")
    for group in grouping.groups:
        rows = group.rows.tolist()
        for a, axis in enumerate(judge.space.quasi):
            low, high = (end(judge.people[r][a] for r in rows) for end in (min, max))
            box = int(group.low[a]), int(group.high[a])
            if axis.round_up(*box) != box or not box[0] <= low <= high <= box[1]:
                found.append(f"{rows} are not in their box")
        if min(len(set(judge.column(a, rows))) for a in range(len(judge.space.sensitive))) < k:
            found.append(f"{rows}: fewer than k values")
        found += [
            f"{rows}: not {part}" for part in level.split("+") if part != "matching" and not judge.passes(part, group)
        ]
        if "matching" in level.split("+"):
            if min(judge.possible(rows)) < least:
                found.append(f"{rows}: too few possible values")
            if not judge.blends(rows):
                found.append(f"{rows}: does not blend in")
        if not judge.meets(demands, rows):
            found.append(f"{rows}: a demand is not met")
    return found
