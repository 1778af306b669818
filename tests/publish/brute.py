"""The slow, obvious twins: whole numbers and every corner, nothing shared with the kernels."""

from itertools import product

import numpy as np


def squares(space):
    return [(axis.weight / axis.scale) ** 2 for axis in space.axes]


def near(space, places, point):
    factors = squares(space)
    common = np.lcm.reduce(np.array([f.denominator for f in [*factors, space.d**2]], dtype=object))
    whole = [int(f * common) for f in factors]
    limit = int(space.d**2 * common)
    gaps = (places - np.asarray(point)).astype(object)
    return int(sum(int(sum(f * g * g for f, g in zip(whole, row, strict=True))) <= limit for row in gaps))


def outlier(space, places, point):
    far = len(places) - near(space, places, point)
    return far >= space.p * len(places)


def corners(low, high):
    return [np.array(c) for c in product(*[sorted({int(a), int(b)}) for a, b in zip(low, high, strict=True)])]


def strict(space, places, low, high, values):
    nodes = {(tuple(q), tuple(s)): not outlier(space, places, [*q, *s]) for q in corners(low, high) for s in values}
    every_corner = all(any(nodes[tuple(q), tuple(s)] for s in values) for q in corners(low, high))
    every_value = all(any(nodes[tuple(q), tuple(s)] for q in corners(low, high)) for s in values)
    return every_corner and every_value


def candidate(space, places, low, high, values):
    quasi = len(space.quasi)
    people = [row[:quasi] for row in places if all(low <= row[:quasi]) and all(row[:quasi] <= high)]
    good = [[not outlier(space, places, [*q, *s]) for s in values] for q in people]
    return all(any(row) for row in good) and all(any(row[j] for row in good) for j in range(len(values)))


def distance_constrained(places, axes, o, low, high):
    return all(o[i] + low[i] >= 2 * t[i] or o[i] + high[i] <= 2 * t[i] for t in places for i in axes)


def exposed(space, places, low, high, values):
    """Outliers of the table that Theorem 4.1 or 4.2 says exist in the group, word by word."""
    quasi = len(space.quasi)
    counted = [i for i in range(quasi) if space.quasi[i].weight]  # a column without weight moves no distance
    found = set()
    for row in places:
        o = row[:quasi]
        if not outlier(space, places, row) or not (all(low <= o) and all(o <= high)):
            continue
        all_bad = any(all(outlier(space, places, [*q, *s]) for q in corners(low, high)) for s in values)
        if all_bad and distance_constrained(places, counted, o, low, high):
            found.add(tuple(o))
        for q in corners(low, high):
            if all(outlier(space, places, [*q, *s]) for s in values) and all(
                abs(o[i] - t[i]) >= abs(q[i] - t[i]) for t in places for i in counted
            ):
                found.add(tuple(o))
    return found
