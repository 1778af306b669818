"""How many other rows lie within the radius, decided in integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.progress import report
from wallflower.schema.declaration import Declaration


@dataclass(frozen=True)
class QuadraticForm:
    """Two rows x and y, in steps, are neighbours when Σ weights·(x − y)² ≤ limit; all whole numbers."""

    weights: tuple[int, ...]
    limit: int


def quadratic_form(declaration: Declaration, columns: Sequence[str], radius: Fraction) -> QuadraticForm:
    """√(Σ((x−y)·step/scale)²/d) ≤ r, multiplied out until only integers are left."""
    ratios = []
    for name in columns:
        column = declaration.column(name)
        ratios.append((column.numeric.step / (column.scale or Fraction(1))) ** 2)
    bound = radius * radius * len(columns)
    factor = lcm(*(ratio.denominator for ratio in ratios))
    return QuadraticForm(tuple(int(ratio * factor) for ratio in ratios), int(bound * factor))


def capped_degrees(points: NDArray[np.int64], form: QuadraticForm, cap: int) -> NDArray[np.int64]:
    """min(degree, cap) of every row; compares each pair once, in Python integers where 64 bits would not do."""
    count, width = points.shape
    spans = [int(points[:, j].max()) - int(points[:, j].min()) for j in range(width)] if count else [0] * width
    largest = sum(weight * span * span for weight, span in zip(form.weights, spans, strict=True))
    kind: Any = np.int64 if largest < 2**62 else object
    weights: NDArray[Any] = np.array(form.weights, dtype=kind)
    values: NDArray[Any] = points.astype(kind)
    degrees = np.zeros(count, dtype=np.int64)
    for row in range(count):
        gaps = values - values[row]
        degrees[row] = min(int(((gaps * gaps) @ weights <= form.limit).sum()) - 1, cap)
        report("degrees", row + 1, count)
    return degrees
