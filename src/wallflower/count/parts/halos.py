"""How far a strip must see beyond its own rows: one function for each thing that is counted (`parts.md`).

A halo that is too wide costs time. One that is too narrow undercounts, and an undercounted cover is too little noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wallflower.count.covers import Lines
from wallflower.geometry.balls import Ball
from wallflower.geometry.index import MOST
from wallflower.schema.declaration import Declaration

FARTHEST = 4 * MOST
"""Coordinates are within ±2^53, so that nothing is further than this from anything."""


def of_degrees(ball: Ball, column: int) -> int:
    """On both sides: rows within the ball differ by at most this."""
    return min(ball.reach(column), FARTHEST)


def of_window(ball: Ball, column: int) -> int:
    """Upwards: the whole length of a window."""
    return min(ball.twice.reach(column), FARTHEST)


def of_lines(ball: Ball, column: int) -> int:
    """Upwards: the whole extent of a region of `Lines` in this column, not half of it."""
    wide, tall, _ = Lines.of(np.empty((0, 2), dtype=np.int64), ball).shape
    # Across, a half-width is below wide·(1 + 10⁻¹²) + 1; along, rows are looked at up to ⌊tall⌋ + 1 from the line.
    half = int(wide * (1 + 1e-9)) + 2 if column == 0 else int(tall) + 1
    return min(2 * half, FARTHEST)


def of_core(ball: Ball, column: int) -> int:
    """On both sides: neighbours in the graph of the core differ by at most this."""
    return min(ball.twice.reach(column), FARTHEST)


def cut_across(declaration: Declaration, columns: Sequence[str], ball: Ball) -> int:
    """The column with the largest declared range for its reach: strips across it have the smallest halos. Public."""

    def reaches(place: int) -> float:
        domain = declaration.column(columns[place]).numeric
        return (domain.last - domain.first + 1) / (ball.reach(place) + 1)

    return max(range(len(columns)), key=reaches)
