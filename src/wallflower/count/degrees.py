"""Degrees, counts and profiles of declared columns: where the rows' integers meet the radius."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.balls import Ball, normalised_ball
from wallflower.geometry.index import RadiusIndex
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
    return RadiusIndex(points, ball.weights).counts(ball, cap=cap + 1) - 1
