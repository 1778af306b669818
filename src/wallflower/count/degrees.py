"""Degrees, counts and profiles of declared columns: where the rows' integers meet the radius."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.balls import Ball, normalised_ball
from wallflower.geometry.cells import ColumnCells, suits
from wallflower.geometry.index import RadiusIndex
from wallflower.geometry.line import is_line, within_reach
from wallflower.schema.declaration import Declaration


def declared_ball(declaration: Declaration, columns: Sequence[str], radius: Fraction) -> Ball:
    """√(Σ((x_i − y_i)/scale_i)² / d) ≤ radius over these columns; a column without a declared scale is in its own units."""
    chosen = [declaration.column(name) for name in columns]
    return normalised_ball(
        steps=[column.numeric.step for column in chosen],
        scales=[column.scale or Fraction(1) for column in chosen],
        radius=radius,
    )


def capped_degrees(points: NDArray[np.int64], ball: Ball, cap: int) -> NDArray[np.int64]:
    """For each row how many others are within the ball around it, at most `cap`; equal rows are others."""
    return SubspaceDegrees(points)(range(points.shape[1]), ball, cap)


class SubspaceDegrees:
    """`capped_degrees` of one table in many sets of columns, which share what they can."""

    def __init__(self, points: NDArray[np.int64]) -> None:
        self._points = points
        self._cells = ColumnCells(points)

    def __call__(self, chosen: Sequence[int], ball: Ball, cap: int) -> NDArray[np.int64]:
        if len(ball.weights) == 1 and is_line(values := self._points[:, chosen[0]], ball):
            return within_reach(values, ball, cap + 1) - 1
        counts = None
        if suits(self._points, ball, cap + 1):
            counts = self._cells.counts(chosen, ball, cap + 1)
        if counts is None:
            points = np.ascontiguousarray(self._points[:, list(chosen)])
            counts = RadiusIndex(points, ball.weights).counts(ball, cap=cap + 1)
        return counts - 1
