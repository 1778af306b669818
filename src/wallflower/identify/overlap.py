"""The most questions that lie within the radius of one value: exactly where that is affordable, else a bound in the plane.

Which rows there are plays no part; the proof is in `influence.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.index import MOST
from wallflower.identify.metric import Metric

Ints = NDArray[np.int64]

MOST_PLACES = 2_000_000
"""Up to so many pairs of a question and a line through its ball are listed."""
LEAST_SCALE = 1e-100
"""A smaller scale would end as 0, by which nothing is divided."""
MOST_TURNS = 20_000_000
"""Up to so many pairs of questions within twice the radius are turned around each other."""


def exact_overlap(metric: Metric, values: Ints, multiplicity: Ints) -> int | None:
    """The most questions near one value, over all values of the declared domain; None where it would take too long.

    A line runs along one column by gaps and holds every other column fixed: near questions are intervals on it.
    """
    kinds = [place for place, by_gap in enumerate(metric.by_gap) if not by_gap]
    gaps = [place for place, by_gap in enumerate(metric.by_gap) if by_gap]
    held = [np.unique(values[:, place]).tolist() for place in kinds]
    along = max(gaps, key=metric.ball.reach, default=None)
    across = [place for place in gaps if place != along]
    lines = math.prod(2 * metric.ball.reach(place) + 1 for place in across)
    if len(values) * lines * math.prod(len(found) for found in held) > MOST_PLACES:
        return None
    most = 0
    for chosen in product(*held):
        differing = [values[:, place] != value for place, value in zip(kinds, chosen, strict=True)]
        spent = sum(
            (
                differs.astype(object) * metric.ball.weights[place]
                for place, differs in zip(kinds, differing, strict=True)
            ),
            start=np.zeros(len(values), dtype=object),
        )
        if along is None:
            most = max(most, int(multiplicity[np.asarray(spent <= metric.ball.limit, dtype=bool)].sum()))
        else:
            most = max(most, _on_lines(metric, values, multiplicity, spent, axes=(along, across)))
    return most


def _on_lines(
    metric: Metric, values: Ints, multiplicity: Ints, spent: NDArray[np.object_], *, axes: tuple[int, list[int]]
) -> int:
    """The most questions on one point of one line, where each question has spent some of its limit on categories."""
    along, across = axes
    lines, starts, ends, weights = [], [], [], []
    for cost in set(spent.tolist()):
        if cost > metric.ball.limit:
            continue
        here = np.asarray(spent == cost, dtype=bool)
        for offset, half in _halves(metric, metric.ball.limit - int(cost), along, across):
            lines.append(values[here][:, across] + np.array(offset, dtype=np.int64))
            starts.append(values[here, along] - half)
            ends.append(values[here, along] + half)
            weights.append(multiplicity[here])
    if not lines:
        return 0
    line = _numbered(np.concatenate(lines))
    weight = np.concatenate(weights)
    at = np.concatenate([*starts, *ends])
    closing = np.repeat([0, 1], len(weight))
    order = np.lexsort((closing, at, np.tile(line, 2)))  # at one point intervals open before others close
    return int(np.cumsum(np.concatenate([weight, -weight])[order]).max())


def _numbered(lines: Ints) -> Ints:
    """A number for each different row."""
    if lines.shape[1] < 2:
        return lines[:, 0] if lines.shape[1] else np.zeros(len(lines), dtype=np.int64)
    return np.unique(lines, axis=0, return_inverse=True)[1].reshape(-1)


def _halves(metric: Metric, limit: int, along: int, across: list[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """How far a ball reaches along its line at every offset of the line from its centre; no further than any two values are apart."""
    weights = metric.ball.weights
    reaches = [math.isqrt(limit // weights[place]) for place in across]
    for offset in product(*(range(-reach, reach + 1) for reach in reaches)):
        left = limit - sum(weights[place] * gap * gap for place, gap in zip(across, offset, strict=True))
        if left >= 0:
            yield offset, min(math.isqrt(left // weights[along]), 2 * MOST)


def plane_bounds(metric: Metric, values: Ints, multiplicity: Ints) -> Iterator[int]:
    """For each pair of columns by gaps a bound: the most questions in one disc, all other columns forgotten."""
    from wallflower.identify.kernels import most_in_a_disc

    gaps = [place for place, by_gap in enumerate(metric.by_gap) if by_gap]
    for one, other in combinations(gaps, 2):
        weights = [metric.ball.weights[one], metric.ball.weights[other]]
        if metric.ball.limit < max(weights):
            continue  # a single step leaves the disc: a window says as much
        # Coordinates in units of the radius: the disc has radius 1. The least scale puts all values there can be well inside it.
        scales = np.array([max(math.sqrt(weight / metric.ball.limit), LEAST_SCALE) for weight in weights])
        order = np.argsort(values[:, one], kind="stable")
        places = np.ascontiguousarray(values[order][:, [one, other]])
        if _turns(places[:, 0], 2.0000001 / scales[0]) > MOST_TURNS:
            continue  # turning would be given up and say no more than that there are so many questions
        yield int(most_in_a_disc(places, multiplicity[order].astype(np.int64), scales, MOST_TURNS))


def _turns(ascending: Ints, reach: float) -> int:
    """How many pairs of places, each in both directions, are within reach of each other in the first column."""
    first = np.searchsorted(ascending, ascending - reach, side="left")
    last = np.searchsorted(ascending, ascending + reach, side="right")
    return int((last - first - 1).sum())
