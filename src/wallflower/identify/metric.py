"""The declared distance of a model as integers: which values lie within the radius of which.

Values are integers (`schema.domains`). With the declared scales, weights w and radius r, two values are near iff

    euclidean   Σ w·(Δ/scale)² ≤ r²
    hamming     Σ w·[x ≠ y] ≤ r                                  over the columns that differ
    mixed       Σ w·(Δ/scale)² + Σ w·[x ≠ y] ≤ r²                numbers and dates in the first sum, categories in the second

which becomes one inequality of whole numbers, Σ weights·Δ² + Σ weights·[x ≠ y] ≤ limit. Nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.errors import DeclarationError
from wallflower.geometry.balls import Ball
from wallflower.schema.declaration import Declaration, Model
from wallflower.schema.domains import Categories, Numbers

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Which pairs of values of `columns` are within the radius."""

    columns: tuple[str, ...]
    """The columns that count; a weight of 0 leaves a column out."""
    by_gap: tuple[bool, ...]
    """For each column whether it counts by how far apart two values are, or only by whether they differ."""
    ball: Ball
    """One weight a column, and the limit."""
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    """The declared weights, for people; `ball` holds them scaled."""
    doubling: int
    """What doubling the radius does to the limit: 4 for squares, 2 for sums."""

    @property
    def twice(self) -> Metric:
        """Near by twice the radius: holds for any two values that have a value near both."""
        doubled = Ball(weights=self.ball.weights, limit=self.doubling * self.ball.limit)
        return Metric(columns=self.columns, by_gap=self.by_gap, ball=doubled, doubling=self.doubling)

    @property
    def separating(self) -> tuple[str, ...]:
        """Columns in which a single step already leaves the radius: values that differ there are never near."""
        return tuple(
            name for name, weight in zip(self.columns, self.ball.weights, strict=True) if weight > self.ball.limit
        )

    @property
    def alone(self) -> bool:
        """Whether no two different values are near: the radius is 0, or below every step."""
        return len(self.separating) == len(self.columns)

    def near(self, one: Ints, others: Ints) -> Bools:
        """Whether each of `others`, a row each, is within the radius of `one`; exact at any size."""
        total = np.zeros(len(others), dtype=object)
        for place, (weight, by_gap) in enumerate(zip(self.ball.weights, self.by_gap, strict=True)):
            gaps = others[:, place].astype(object) - int(one[place])
            total += gaps**2 * weight if by_gap else (gaps != 0).astype(object) * weight
        return np.asarray(total <= self.ball.limit, dtype=np.bool_)

    def points(self, rows: Rows) -> Ints:
        """The rows as integers, one column per column of the metric."""
        return np.ascontiguousarray(rows.fetch(numbers=self.columns).numbers)


def metric_of(declaration: Declaration, model: Model) -> Metric:
    """The metric that a declared model describes; the model's own weights come before the columns'."""
    weights = _weights(declaration, model)
    columns = tuple(weights)
    if model.distance == "hamming":
        ball = Ball.of([weights[name] for name in columns], model.radius)
        return Metric(columns=columns, by_gap=(False,) * len(columns), ball=ball, weights=weights, doubling=2)
    factors, by_gap = [], []
    for name in columns:
        column = declaration.column(name)
        if isinstance(column.domain, Categories):
            factors.append(weights[name])
        else:
            step = column.domain.step if isinstance(column.domain, Numbers) else Fraction(1)
            factors.append(weights[name] * (step / (column.scale or Fraction(1))) ** 2)
        by_gap.append(not isinstance(column.domain, Categories))
    ball = Ball.of(factors, model.radius**2)
    return Metric(columns=columns, by_gap=tuple(by_gap), ball=ball, weights=weights, doubling=4)


def _weights(declaration: Declaration, model: Model) -> Mapping[str, Fraction]:
    weights = {}
    for name in model.columns:
        declared = declaration.column(name).weight
        weight = model.weights.get(name, Fraction(1) if declared is None else declared)
        if weight:
            weights[name] = weight
    if not weights:
        raise DeclarationError(
            f"model '{model.name}' leaves every column out: each has a weight of 0.",
            hint=f"Give at least one column of [identify.{model.name}] a weight above 0.",
        )
    return weights
