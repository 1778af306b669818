"""How many rows lie within a radius of a row: exact, capped, and fast from one column to a dozen.

Privacy needs counts only as far as they matter (a count above the cap changes nothing), so a row stops being looked at
once its cap is reached. Rows are integers of steps and a radius is an integer inequality (`geometry.balls`); equal rows
count as often as they occur. Answers do not depend on the order of rows or on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.balls import Ball

MOST = 2**53
"""Coordinates beyond this are refused: a double no longer holds every integer, and the filter rests on that."""
EVERYTHING = 2**62
"""A cap that no count reaches."""
_FAR = 1e160  # fills up the last block; its square is infinite, so it is within no radius


@dataclass(frozen=True)
class Graph:
    """Which rows are within a radius of which, every row of itself included.

    Rows are numbered by place in the tree: place p is row order[p] of the given order, and its neighbours are the places
    neighbours[starts[p] : starts[p + 1]]. Renumbering would cost more than the graph.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    neighbours: NDArray[np.int32]


@dataclass(frozen=True)
class _Forest:
    """Rows in blocks, and the boxes of the implicit tree above them."""

    order: NDArray[np.int64]
    rows: NDArray[np.int64]
    blocks: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    levels: int


class RadiusIndex:
    """Rows arranged so that radius questions are quick.

    >>> from wallflower.geometry.balls import Ball
    >>> index = RadiusIndex(np.array([[0], [3], [3], [9]]), [1])
    >>> index.counts(Ball((1,), 9), cap=10)
    array([3, 3, 3, 1])
    >>> index.counts(Ball((1,), 36), cap=2, queries=np.array([[6], [100]]))
    array([2, 0])
    """

    def __init__(self, points: NDArray[np.int64], weights: Sequence[int]) -> None:
        """`points` has one row per row and one column per weight; `weights` only guide the arrangement."""
        self._width = len(weights)
        heaviest = max(weights)
        self._shape = np.array([weight / heaviest for weight in weights])
        self._forest = _plant(self._checked(points), self._shape)

    @property
    def size(self) -> int:
        return int(self._forest.rows.shape[0])

    def counts(self, ball: Ball, *, cap: int, queries: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """For each query how many rows are within the ball around it, at most `cap`.

        Without queries: for each row of the index, in the given order; it counts itself.
        """
        forest = self._forest
        asked = forest if queries is None else _plant(self._checked(queries), self._shape)
        counts = np.zeros(asked.rows.shape[0], dtype=np.int64)
        if ball.limit >= 0 and forest.rows.size and asked.rows.size and cap > 0:
            counts[asked.order] = self._walk(ball, asked, min(cap, EVERYTHING))
        return counts

    def graph(self, ball: Ball, *, most: int = EVERYTHING) -> Graph | None:
        """Every pair of rows within the ball, once in each direction; None when these are more than `most`."""
        forest, size = self._forest, self.size
        starts = np.zeros(size + 1, dtype=np.int64)
        found = np.zeros(0, dtype=np.int32)
        if ball.limit >= 0 and size:
            np.cumsum(self._walk(ball, forest, EVERYTHING), out=starts[1:])
            if starts[-1] > most:
                return None
            found = np.empty(starts[-1], dtype=np.int32)
            self._walk(ball, forest, EVERYTHING, starts=starts, found=found)
        return Graph(order=forest.order, starts=starts, neighbours=found)

    def _checked(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = np.ascontiguousarray(points, dtype=np.int64)
        if rows.ndim != 2 or rows.shape[1] != self._width:
            raise ValueError(f"points must have {self._width} columns")
        if rows.size and (rows.max() > MOST or rows.min() < -MOST):
            raise ValueError("a coordinate is beyond 2^53")
        return rows

    def _walk(
        self,
        ball: Ball,
        asked: _Forest,
        cap: int,
        *,
        starts: NDArray[np.int64] | None = None,
        found: NDArray[np.int32] | None = None,
    ) -> NDArray[np.int64]:
        from wallflower.geometry.arrangement_kernels import threads_for
        from wallflower.geometry.kernels import neighbours

        if len(ball.weights) != self._width:
            raise ValueError(f"the ball must have {self._width} weights")
        forest = self._forest
        groups = asked.blocks.shape[0]
        places = _leaves(groups, asked.levels)
        leaf = (1 << asked.levels) - 1 + places
        homes = places if asked is forest else places[:0]
        # Dense and sparse regions lie together in tree order; threads share them evenly when they take turns.
        turns = np.argsort(np.arange(groups, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        with threads_for(len(asked.rows)):
            counts: NDArray[np.int64] = neighbours(
                (forest.blocks, forest.rows, forest.low, forest.high, forest.levels),
                (asked.blocks, asked.rows, asked.low[leaf], asked.high[leaf], turns, homes),
                _decision(ball),
                cap,
                (
                    np.zeros(0, dtype=np.int64) if starts is None else starts,
                    np.zeros(0, dtype=np.int32) if found is None else found,
                ),
            )
        return counts


def _plant(rows: NDArray[np.int64], shape: NDArray[np.float64]) -> _Forest:
    from wallflower.geometry.arrangement_kernels import BLOCK, arrange, threads_for

    size, width = rows.shape
    many = -(-size // BLOCK)
    levels = max(many - 1, 0).bit_length()
    columns = np.ascontiguousarray(rows.T, dtype=np.float64)
    with threads_for(size):
        order = arrange(columns, shape, many, levels)
    blocks = np.full((many * BLOCK, width), _FAR)
    blocks[:size] = arranged = rows[order]
    by_block = blocks.reshape(many, BLOCK, width)
    low, high = np.full(((2 << levels) - 1, width), np.inf), np.full(((2 << levels) - 1, width), -np.inf)
    if many:
        leaf = (1 << levels) - 1 + _leaves(many, levels)
        low[leaf] = by_block.min(axis=1)
        high[leaf] = np.where(by_block == _FAR, -np.inf, by_block).max(axis=1)
        for level in range(levels - 1, -1, -1):
            here, below = (1 << level) - 1, (2 << level) - 1
            children = slice(below, below + (2 << level))
            low[here : here + (1 << level)] = low[children].reshape(-1, 2, width).min(axis=1)
            high[here : here + (1 << level)] = high[children].reshape(-1, 2, width).max(axis=1)
    return _Forest(
        order=order,
        rows=arranged,
        blocks=np.ascontiguousarray(by_block.transpose(0, 2, 1)),
        low=low,
        high=high,
        levels=levels,
    )


def _leaves(blocks: int, levels: int) -> NDArray[np.int64]:
    """At which places of the last level the blocks hang; place p of level l holds blocks from blocks·p / 2^l on."""
    return np.flatnonzero(np.diff((blocks * np.arange((1 << levels) + 1)) >> levels))


def _decision(ball: Ball) -> tuple[NDArray[np.float64], tuple[float, float], tuple[Any, ...]]:
    """Doubles that decide most pairs, the band in which they do not, and the integers that decide the rest."""
    # One step in a column heavier than the limit already leaves the ball: beyond that the weight no longer matters.
    weights = [min(weight, ball.limit + 1) for weight in ball.weights]
    scaled = np.array([2 * weight / (2 * ball.limit + 1) for weight in weights])
    # Δ, its square, the product and the sum each round once, relatively by 2^-53: (d + 5)·2^-53 in all; doubled and more.
    slack = (len(weights) + 16) * 2.0**-52
    reach = np.array([math.isqrt(ball.limit // weight) for weight in weights], dtype=object)
    length = (max(*weights, ball.limit).bit_length() + 108 + len(weights).bit_length()) // 32 + 1
    fits = ball.limit < 2**62
    exactly = (
        np.array([min(far, 2 * MOST) for far in reach] if fits else [], dtype=np.int64),
        np.array(weights if fits else [], dtype=np.int64),
        ball.limit if fits else 0,
        np.array([_limbs(weight, length) for weight in weights], dtype=np.uint64),
        np.array(_limbs(ball.limit, length), dtype=np.uint64),
    )
    return scaled, (1.0 - slack, 1.0 + slack), exactly


def _limbs(number: int, length: int) -> list[int]:
    return [(number >> (32 * place)) & 0xFFFFFFFF for place in range(length)]
