"""The paper's naive baselines B1 and B2. NOT PRIVATE as published: the claimed sensitivity holds for r = 0 only.

Both answer every question alike: yes iff O(x) + noise > t·(‖x‖₁ + Lap(1/ε)), where O(x) is the number of anomalous records. The
paper says that O moves by at most β when one record is added or removed. It moves by up to A·β, where A is the most points,
pairwise further than r apart, within r of one point: so B1, with Lap(1/ε), has a loss of (A·β + 1)·ε, and B2, with Lap(β/ε), of
(A + 1)·ε, not 2ε.
"""

from __future__ import annotations

import math

PACKING = {1: 2, 2: 5, 6: 78, 9: 364, 12: 1357}
"""Most points pairwise further than r apart within r of a centre; from 6 up upper bounds on the kissing number."""


def anomalous_records(values, beta, radius):
    """O(x) on a line, the obvious way."""
    return sum(sum(abs(a - b) <= radius for b in values) <= beta for a in values)


def witness(beta):
    """A table on a line, with radius 1, and a record whose addition moves O by 2β: two heaps of β, and one between them."""
    table = [-1.0] * beta + [1.0] * beta
    return table, [*table, 0.0]


def chance_of_yes(anomalies, records, threshold, *, scale, epsilon):
    """P(O + Lap(scale) > t·(n + Lap(1/ε)))."""
    return difference_above(threshold * records - anomalies, scale, threshold / epsilon)


def difference_above(least, first, second):
    """P(X − Y > least) for independent Laplace X and Y of scales `first` and `second`."""
    if least < 0:
        return 1 - difference_above(-least, first, second)
    if second == 0:
        return math.exp(-least / first) / 2
    if math.isclose(first, second, rel_tol=1e-9):
        return math.exp(-least / first) * (2 + least / first) / 4
    a, b = first * first, second * second
    return (a * math.exp(-least / first) - b * math.exp(-least / second)) / (2 * (a - b))


def best(anomalies, records, *, scale, epsilon):
    """(precision, recall, F1) at the best threshold of a grid, in expectation. Precision is the share of anomalies."""
    precision = anomalies / records
    recall = max(
        chance_of_yes(anomalies, records, step / 10_000, scale=scale, epsilon=epsilon) for step in range(10_001)
    )
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0
