"""How much a generalisation hides: the paper's information loss, and the measures other tools report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.space import Axis


def information_loss(axis: Axis, low: int, high: int) -> float:
    """Definition 3.7: categories (M_P − 1)/(M − 1), numbers (u − l + 1)/(Max − Min + 1), in steps."""
    if axis.categorical:
        return (high - low) / (axis.size - 1) if axis.size > 1 else 0.0
    return (high - low + 1) / axis.size


def certainty_penalty(axis: Axis, low: int, high: int) -> float:
    """NCP (Xu et al. 2006): 0 for an ungeneralised value, M_P/M for a category, (u − l)/(Max − Min) for a number."""
    if low == high:
        return 0.0
    return (high - low + 1) / axis.size if axis.categorical else (high - low) / (axis.size - 1)


@dataclass(frozen=True)
class Losses:
    """Averages over the published rows. `by_column` sums to `information_loss`."""

    information_loss: float
    certainty_penalty: float
    """Mean over rows and columns, so that it lies between 0 and 1."""
    discernibility: int
    """Σ |G|² + suppressed · rows (Bayardo and Agrawal 2005)."""
    average_class: float
    """Published rows per group."""
    average_class_k: float
    """The same divided by k (C_avg of LeFevre et al. 2006)."""
    by_column: dict[str, float]


def losses(
    axes: Sequence[Axis],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    sizes: Sequence[int],
    *,
    suppressed: int,
    k: int,
) -> Losses:
    """Of groups with boxes `low` … `high` (one row per group) and `sizes` rows each."""
    weights = np.asarray(sizes, dtype=np.float64)
    rows = float(weights.sum())
    by_column: dict[str, float] = {}
    penalty = 0.0
    for i, axis in enumerate(axes):
        pairs = list(zip(low[:, i].tolist(), high[:, i].tolist(), strict=True))
        by_column[axis.name] = float(weights @ [information_loss(axis, a, b) for a, b in pairs]) / rows if rows else 0.0
        penalty += float(weights @ [certainty_penalty(axis, a, b) for a, b in pairs]) / rows if rows else 0.0
    total = int(rows) + suppressed
    average = rows / len(sizes) if len(sizes) else 0.0
    return Losses(
        information_loss=sum(by_column.values()),
        certainty_penalty=penalty / len(axes),
        discernibility=int(sum(size * size for size in sizes)) + suppressed * total,
        average_class=average,
        average_class_k=average / k,
        by_column=by_column,
    )
