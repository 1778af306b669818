"""The earth mover's distance of t-closeness, in exact fractions: over ranks, or over a hierarchy.

Both are distances on a tree whose edges part the values into a run and the others: over ranks the tree is a path, over a hierarchy it is the
hierarchy. What must be moved over an edge is what the run has too much or too little, so the distance is the sum over edges of length times
that surplus. In a hierarchy two values are as far apart as the height of their lowest common node, the root being at 1 (Li et al. 2007, 4.2) and a
node with one child being that child: an edge from a node of height g up to one of height h is half of h - g long.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.schema.hierarchy import Taxonomy

Whole = NDArray[np.int64]
_HALF_WORD = 1 << 24


@dataclass(frozen=True)
class Ground:
    """Edges as runs of values, sorted by length: values `first` up to but not including `after` hang on the edge."""

    edges: tuple[tuple[Fraction, Whole, Whole], ...]
    """(length, first, after) of all edges of one length."""

    def distance(self, counts: Whole, table: Whole) -> Fraction:
        """Between the shares of two tallies of the same values."""
        size, rows = int(counts.sum()), int(table.sum())
        total = np.append(0, np.cumsum(counts * rows - table * size))  # below 2^63 up to three thousand million rows
        moved = sum(
            (length * _summed(np.abs(total[after] - total[first])) for length, first, after in self.edges), Fraction(0)
        )
        return moved / (size * rows)


def ranks(values: int) -> Ground:
    """Neighbours in order are 1 / (values - 1) apart."""
    after = np.arange(1, values, dtype=np.int64)
    return Ground(((Fraction(1, max(values - 1, 1)), np.zeros_like(after), after),))


def leaves(tree: Taxonomy, places: Whole) -> Ground:
    """Leaves of a hierarchy; `places`: which of them the values are, in leaf order."""
    height = [0] * len(tree.parent)
    for leaf in range(tree.size):
        node, above = leaf, 0
        while tree.parent[node] != node:
            node, above = tree.parent[node], above + 1
            height[node] = max(height[node], above)
    by_length: dict[Fraction, list[tuple[int, int]]] = {}
    for node, parent in enumerate(tree.parent):
        if node != parent:
            length = Fraction(height[parent] - height[node], 2 * max(height))
            by_length.setdefault(length, []).append((tree.low[node], tree.high[node] + 1))
    edges = []
    for length, runs in sorted(by_length.items()):
        first, after = np.searchsorted(places, np.array(runs, dtype=np.int64).T)
        edges.append((length, first, after))
    return Ground(tuple(edges))


def _summed(moved: Whole) -> int:
    """Many large whole numbers, without an overflow."""
    return int((moved // _HALF_WORD).sum()) * _HALF_WORD + int((moved % _HALF_WORD).sum())
