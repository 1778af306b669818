"""How many questions one row can influence, from the questions alone. The proof is in `influence.md`.

A row of value j influences a question about i iff i and j are within the radius. The charge of a request is ε times the most
questions that any one row could influence, counted as a multiset: asking twice costs twice.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.index import MOST, RadiusIndex
from wallflower.identify.counts import within
from wallflower.identify.metric import Metric
from wallflower.identify.overlap import exact_overlap, plane_bounds

Ints = NDArray[np.int64]

PEELED = 1_000
"""Up to so many different questions are compared each with each."""
MOST_PAIRS = 1_000_000
"""Up to so many pairs within twice the radius are peeled; beyond, the most crowded question bounds them all."""


def most_influenced(metric: Metric, asked: Ints) -> int:
    """As many questions as any one row can influence where that can be found out, else a bound; `asked` has one row per question, repeats
    included."""
    values, multiplicity = np.unique(asked, axis=0, return_counts=True)
    if metric.alone or len(values) <= 1:
        return int(multiplicity.max(initial=0))
    best = min(_most_in_a_window(metric, place, asked[:, place]) for place in range(asked.shape[1]))
    if asked.shape[1] == 1 and all(metric.by_gap):
        return best
    exact = exact_overlap(metric, values, multiplicity)
    if exact is not None:
        return exact
    best = min([best, *plane_bounds(metric, values, multiplicity)])
    if len(values) <= PEELED:
        return min(best, _peel(metric.twice, values, multiplicity))
    return min(
        best, _peel_pairs(metric.twice, values, multiplicity) or _most_crowded(metric.twice, values, multiplicity)
    )


def _most_in_a_window(metric: Metric, place: int, numbers: Ints) -> int:
    """The most questions that are near one value as far as this column alone can tell."""
    name = metric.columns[place]
    if not metric.by_gap[place]:
        return int(np.unique(numbers, return_counts=True)[1].max()) if name in metric.separating else len(numbers)
    ordered = np.sort(numbers)
    reach = min(metric.ball.reach(place), 2 * MOST)  # no two values are further apart, and no sum leaves 64 bits
    last = np.searchsorted(ordered, ordered + 2 * reach, side="right")
    return int((last - np.arange(len(ordered))).max())


def _peel(twice: Metric, values: Ints, multiplicity: Ints) -> int:
    """Questions that share a row are pairwise within 2r. Take away, one by one, the question with the fewest left near it;
    the most that any had near it when it was taken away is at least the largest such set."""
    near = np.array([twice.near(value, values) for value in values])
    left = near.astype(np.int64) @ multiplicity
    most = 0
    gone = np.iinfo(np.int64).max
    for _ in range(len(values)):
        first = int(left.argmin())
        most = max(most, int(left[first]))
        others = left != gone
        left[others & near[first]] -= multiplicity[first]
        left[first] = gone
    return most


def _peel_pairs(twice: Metric, values: Ints, multiplicity: Ints) -> int | None:
    """`_peel` over the pairs within twice the radius alone; None where these are too many, or categories are involved."""
    if not all(twice.by_gap):
        return None
    graph = RadiusIndex(values, twice.ball.weights).graph(twice.ball, most=MOST_PAIRS)
    if graph is None:
        return None
    weight = multiplicity[graph.order].tolist()
    near = [graph.neighbours[a:b].tolist() for a, b in pairwise(graph.starts.tolist())]
    left = [sum(weight[other] for other in others) for others in near]
    queue = [(crowd, place) for place, crowd in enumerate(left)]
    heapify(queue)
    gone = [False] * len(left)
    most = 0
    while queue:
        crowd, place = heappop(queue)
        if gone[place] or crowd != left[place]:
            continue  # taken away, or an entry from before a question near it was
        gone[place] = True
        most = max(most, crowd)
        for other in near[place]:
            if not gone[other]:
                left[other] -= weight[place]
                heappush(queue, (left[other], other))
    return most


def _most_crowded(twice: Metric, values: Ints, multiplicity: Ints) -> int:
    asked = np.repeat(values, multiplicity, axis=0)
    return int(within(twice, asked, values, cap=len(asked)).max())
