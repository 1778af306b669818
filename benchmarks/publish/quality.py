"""How good a published table is to count with: the same rows, the same questions, one line per method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wallflower.publish.loss import certainty_penalty
from wallflower.publish.space import Space

QUESTIONS = 400
LEAST = 0.005
"""A question counts at least this share of the rows: relative errors of almost nothing say nothing."""


@dataclass(frozen=True)
class Table:
    """Published groups: boxes (or, for other tools, sets of places) and the sensitive values of their rows."""

    low: np.ndarray
    high: np.ndarray
    held: list[np.ndarray]
    sets: list[list[np.ndarray]] | None = None
    """[group][column]: the places a tool lists instead of an interval."""

    @property
    def sizes(self) -> np.ndarray:
        return np.array([len(values) for values in self.held])

    def share(self, column: int, first: int, last: int) -> np.ndarray:
        """For each group which part of its rows a reader takes to lie between these places, spread evenly."""
        if self.sets is not None:
            return np.array([np.mean((s[column] >= first) & (s[column] <= last)) for s in self.sets])
        low, high = self.low[:, column], self.high[:, column]
        return np.clip(np.minimum(last, high) - np.maximum(first, low) + 1, 0, None) / (high - low + 1)


def loss(space: Space, table: Table) -> float:
    """Normalised certainty penalty over the published rows."""
    total = 0.0
    for a, axis in enumerate(space.quasi):
        if table.sets is not None:
            wide = [len(s[a]) / axis.size if len(s[a]) > 1 else 0.0 for s in table.sets]
        else:
            wide = [certainty_penalty(axis, x, y) for x, y in zip(table.low[:, a], table.high[:, a], strict=True)]
        total += float(np.dot(wide, table.sizes))
    return total / table.sizes.sum() / len(space.quasi)


def errors(space: Space, places: np.ndarray, table: Table, *, columns: int, seed: int = 1) -> np.ndarray:
    """Relative errors of counts over `columns` random columns: runs of a tenth to a half of a number's or ordered column's range, the
    values under one node of a taxonomy.
    """
    rng = np.random.default_rng(seed)
    found: list[float] = []
    while len(found) < QUESTIONS:
        truth, guess = np.ones(len(places), dtype=bool), table.sizes.astype(float)
        for a in rng.choice(len(space.quasi), columns, replace=False).tolist():
            first, last = _range(space.quasi[a], rng)
            truth &= (places[:, a] >= first) & (places[:, a] <= last)
            guess *= table.share(a, first, last)
        if truth.sum() >= LEAST * len(places):
            found.append(abs(guess.sum() - truth.sum()) / truth.sum())
    return np.array(found)


def _range(axis, rng) -> tuple[int, int]:
    if axis.tree is not None:
        inner = [n for n in range(len(axis.tree.low)) if axis.tree.high[n] - axis.tree.low[n] + 1 < axis.size]
        node = int(rng.choice(inner))
        return axis.tree.low[node], axis.tree.high[node]
    width = max(1, round(axis.size * rng.uniform(0.1, 0.5)))
    first = int(rng.integers(0, axis.size - width + 1))
    return first, first + width - 1


def narrow_errors(places: np.ndarray, table: Table, column: int, size: int) -> np.ndarray:
    """Relative errors of counts of five neighbouring values of one column."""
    found = []
    for middle in range(size):
        first, last = max(0, middle - 2), min(size - 1, middle + 2)
        truth = ((places[:, column] >= first) & (places[:, column] <= last)).sum()
        if truth >= LEAST * len(places):
            found.append(abs((table.sizes * table.share(column, first, last)).sum() - truth) / truth)
    return np.array(found)


def information(places: np.ndarray, table: Table) -> float:
    """How much of the mutual information between each quasi-identifier and the salary (in tens) the published labels keep, on average."""
    quasi = places.shape[1] - 1
    held = np.concatenate(table.held).reshape(-1) // 10
    of_group = np.repeat(np.arange(len(table.held)), table.sizes)
    kept = []
    for a in range(quasi):
        if table.sets is not None:
            names = {tuple(s[a].tolist()): i for i, s in enumerate(table.sets)}
            label = np.array([names[tuple(s[a].tolist())] for s in table.sets])[of_group]
        else:
            label = np.unique(np.column_stack([table.low[:, a], table.high[:, a]]), axis=0, return_inverse=True)[
                1
            ].reshape(-1)[of_group]
        before = _mutual(places[:, a], places[:, -1] // 10)
        if before > 0.01:
            kept.append(_mutual(label, held) / before)
    return float(np.mean(kept))


def _mutual(x: np.ndarray, y: np.ndarray) -> float:
    x, y = np.unique(x, return_inverse=True)[1].reshape(-1), np.unique(y, return_inverse=True)[1].reshape(-1)
    joint = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(joint, (x, y), 1 / len(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(joint / joint.sum(axis=1, keepdims=True) / joint.sum(axis=0, keepdims=True))
    return float(np.nansum(terms))
