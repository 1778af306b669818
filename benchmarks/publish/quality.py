"""How good a published table is to count with: the same rows, the same questions, one line per method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wallflower.publish.loss import certainty_penalty
from wallflower.publish.space import Space

QUESTIONS = 400
LEAST = 0.005
"""A question counts at least this share of the rows: relative errors of almost nothing say nothing."""
TELLS = 0.01
"""Nats above what independent columns of as many values show by chance: below it there is nothing to keep."""


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


def errors(
    space: Space, places: np.ndarray, table: Table, *, columns: int, around: bool = False, seed: int = 1
) -> np.ndarray:
    """Relative errors of counts over `columns` random columns: runs of a tenth to a half of a number's or ordered column's range, the
    values under one node of a taxonomy. Anywhere in their columns, so that rare values are asked about as often as common ones, or `around`
    a row of the table: as often as they are there.
    """
    rng = np.random.default_rng(seed)
    found: list[float] = []
    while len(found) < QUESTIONS:
        truth, guess = np.ones(len(places), dtype=bool), table.sizes.astype(float)
        row = places[rng.integers(len(places))] if around else None
        for a in rng.choice(len(space.quasi), columns, replace=False).tolist():
            first, last = _range(space.quasi[a], rng, None if row is None else int(row[a]))
            truth &= (places[:, a] >= first) & (places[:, a] <= last)
            guess *= table.share(a, first, last)
        if truth.sum() >= LEAST * len(places):
            found.append(abs(guess.sum() - truth.sum()) / truth.sum())
    return np.array(found)


def _range(axis, rng, place: int | None) -> tuple[int, int]:
    if axis.tree is not None:
        low, high = axis.tree.low, axis.tree.high
        inner = [n for n in range(len(low)) if high[n] - low[n] + 1 < axis.size]
        node = int(rng.choice([n for n in inner if place is None or low[n] <= place <= high[n]]))
        return low[node], high[node]
    width = max(1, round(axis.size * rng.uniform(0.1, 0.5)))
    least, most = 0, axis.size - width
    if place is not None:
        least, most = max(least, place - width + 1), min(most, place)
    first = int(rng.integers(least, most + 1))
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


def information(space: Space, places: np.ndarray, table: Table) -> float:
    """Which share (0 to 1) of what a quasi-identifier tells about the salary, in tens, the published table still tells; the mean over
    the quasi-identifiers that tell anything.

    The reader spreads every group's rows evenly, as for counts, and reads off how likely each salary is at each value. Scored by the
    logarithm on the true rows that is I(value; salary) less the mean divergence of what is read from the truth, and so never above the
    mutual information I. It is below 0 when the reader would do better not to look; that counts as 0.
    """
    tens = places[:, -1] // 10
    bins = int(tens.max()) + 1
    whole = np.bincount(tens, minlength=bins) / len(tens)
    held = [np.bincount(np.asarray(values).reshape(-1) // 10, minlength=bins).astype(float) for values in table.held]
    marginal = np.sum(held, axis=0) + 1
    marginal /= marginal.sum()
    kept = []
    for a, axis in enumerate(space.quasi):
        truth = np.zeros((axis.size, bins))
        np.add.at(truth, (places[:, a], tens), 1 / len(tens))
        before = _mutual(truth)
        used = (np.count_nonzero(truth.sum(axis=1)) - 1) * (np.count_nonzero(whole) - 1)
        if before - used / 2 / len(tens) <= TELLS:
            continue
        read = np.zeros((axis.size, bins))
        for g, counts in enumerate(held):
            where = slice(table.low[g, a], table.high[g, a] + 1) if table.sets is None else table.sets[g][a]
            read[where] += counts / len(read[where])
        read += marginal  # one row more at every value, so that nothing is held impossible
        read /= read.sum(axis=1, keepdims=True)
        scored = float((truth * np.log(read)).sum() - (whole[whole > 0] * np.log(whole[whole > 0])).sum())
        kept.append(max(scored, 0.0) / before)
    return float(np.mean(kept))


def _mutual(joint: np.ndarray) -> float:
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())
