"""Answers to all questions from one noisy grid of counts, under a single charge. The proof is in `grid.md`.

A cell is a set of values that are near exactly the same questions, so that the ball of each question is a union of cells. A row
is in one cell at most: noise on every cell costs once, however many questions read it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError
from wallflower.identify.margins import anomalous
from wallflower.identify.questions import Questions
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import Entropy
from wallflower.schema.domains import Categories

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_PAIRS = 1_000_000
"""Up to so many pairs of a question and a value near it are listed."""
MOST_POINTS = 1 << 20
"""Up to so many numbers the law of a sum of noises is written with."""
FINEST = 16
"""The budget of a grid is a whole number of sixteenths of a question's."""
RAREST = 1e-12
"""Chances below this are not compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """The cells of a request: from the questions and the declaration alone."""

    keys: Ints
    """Every value near a question, as one number, in order."""
    cell_of: Ints
    """The cell of each of them."""
    cells: int
    read_by: tuple[Ints, ...]
    """The cells that each question reads."""
    own: Ints
    """The cell of each asked value itself."""
    low: tuple[int, ...]
    extents: tuple[int, ...]

    @property
    def most_read(self) -> int:
        """The most cells that one question adds up."""
        return max(len(cells) for cells in self.read_by)

    def counts(self, points: Ints) -> Ints:
        """How many rows are in each cell; rows near no question are in none."""
        inside = np.ones(len(points), dtype=bool)
        for place, (low, extent) in enumerate(zip(self.low, self.extents, strict=True)):
            inside &= (points[:, place] >= low) & (points[:, place] < low + extent)
        keys = _keys(points[inside], self.low, self.extents)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found = self.cell_of[at[self.keys[at] == keys]]
        return np.bincount(found, minlength=self.cells).astype(np.int64)


def grid_of(questions: Questions) -> Grid:
    """The cells, or a refusal where there is no grid to be had."""
    metric, asked = questions.metric, questions.asked
    if not all(metric.by_gap):
        raise UsageError(
            "a grid is for columns of numbers or dates that count by how far apart values are.",
            hint="Ask with --method dp: each question then has a coin of its own.",
        )
    reaches = [metric.ball.reach(place) for place in range(len(metric.columns))]
    if len(asked) * math.prod(2 * reach + 1 for reach in reaches) > 4 * MOST_PAIRS:
        raise _too_many()
    offsets = np.stack(np.meshgrid(*(np.arange(-r, r + 1) for r in reaches), indexing="ij"), axis=-1)
    offsets = offsets.reshape(-1, len(reaches))
    offsets = offsets[metric.near(np.zeros(len(reaches), dtype=np.int64), offsets)]
    if len(asked) * len(offsets) > MOST_PAIRS:
        raise _too_many()
    values = (asked[:, None, :] + offsets[None, :, :]).reshape(-1, len(reaches))
    question = np.repeat(np.arange(len(asked)), len(offsets))
    there = np.ones(len(values), dtype=bool)
    for place, name in enumerate(metric.columns):
        domain = questions.declaration.column(name).domain
        if domain is not None and not isinstance(domain, Categories):  # categories never count by gaps
            there &= (values[:, place] >= domain.first) & (values[:, place] <= domain.last)
    values, question = values[there], question[there]
    low = tuple(int(least) for least in values.min(axis=0))
    extents = tuple(int(most) - least + 1 for most, least in zip(values.max(axis=0), low, strict=True))
    if math.prod(extents) >= 2**62:
        raise _too_many()
    return _cells(_keys(values, low, extents), question, questions, box=(low, extents))


def _cells(keys: Ints, question: Ints, questions: Questions, *, box: tuple[tuple[int, ...], tuple[int, ...]]) -> Grid:
    asked = _keys(questions.asked, *box)
    order = np.lexsort((question, keys))
    keys, question = keys[order], question[order]
    found, starts = np.unique(keys, return_index=True)
    ends = np.append(starts[1:], len(keys))
    # Where an answer depends on copies, an asked value is a cell of its own.
    own_cells = set() if questions.model.included else set(asked.tolist())
    names: dict[tuple[bytes, int], int] = {}
    cell_of = np.empty(len(found), dtype=np.int64)
    for at, (key, start, end) in enumerate(zip(found.tolist(), starts.tolist(), ends.tolist(), strict=True)):
        near = question[start:end].tobytes()
        cell_of[at] = names.setdefault((near, key if key in own_cells else -1), len(names))
    pairs = np.unique(np.stack([question, cell_of[np.searchsorted(found, keys)]], axis=1), axis=0)
    edges = np.searchsorted(pairs[:, 0], np.arange(len(asked) + 1))
    read_by = tuple(pairs[edges[i] : edges[i + 1], 1] for i in range(len(asked)))
    own = cell_of[np.searchsorted(found, asked)]
    return Grid(keys=found, cell_of=cell_of, cells=len(names), read_by=read_by, own=own, low=box[0], extents=box[1])


def _keys(values: Ints, low: tuple[int, ...], extents: tuple[int, ...]) -> Ints:
    key = np.zeros(len(values), dtype=np.int64)
    for place, (least, extent) in enumerate(zip(low, extents, strict=True)):
        key = key * extent + (values[:, place] - least)
    return key


def _too_many() -> UsageError:
    return UsageError(
        "these questions have too many values near them for one grid.",
        hint="Ask with --method dp, or ask fewer of them.",
    )


@dataclass(frozen=True, kw_only=True)
class GridAnswers:
    """All answers from the grid's noisy counts: of the value itself, and of everything near it."""

    questions: Questions
    grid: Grid
    epsilon: Fraction
    """Budget of one question, as asked for; the grid is wrong no more often than an answer of that budget."""

    @property
    def budget(self) -> Fraction:
        """What the whole grid costs for one row that is added or removed."""
        times = equal_to_one_question(self.grid.most_read, self.epsilon, included=self.questions.model.included)
        return times * self.epsilon

    @property
    def noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(scale=1 / self.budget)

    def tell(self, counts: Ints, entropy: Entropy) -> list[bool]:
        """From the true counts of the grid's cells."""
        noise, model = self.noise, self.questions.model
        noisy = [noise(int(count), entropy) for count in counts]
        near = np.array([sum(noisy[cell] for cell in cells) for cells in self.grid.read_by], dtype=object)
        held = np.array([noisy[cell] for cell in self.grid.own], dtype=object)
        told: list[bool] = anomalous(held, near, beta=model.beta, included=model.included).tolist()
        return told


@lru_cache(maxsize=256)
def equal_to_one_question(terms: int, epsilon: Fraction, *, included: bool) -> Fraction:
    """How many times a question's budget a grid needs so that a sum of `terms` noisy cells is wrong no more often.

    >>> equal_to_one_question(1, Fraction(1, 10), included=True)
    Fraction(1, 1)
    """
    if epsilon < Fraction(1, 1000) or epsilon > 40:
        raise UsageError("a grid is for an epsilon of a question from 0.001 to 40.", hint="Ask with --method dp.")
    low, high = FINEST, FINEST  # the first sixteenth that is known to be enough, by doubling, then by halving
    while not _is_enough(Fraction(high, FINEST), terms, epsilon, included=included):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _is_enough(Fraction(middle, FINEST), terms, epsilon, included=included):
            high = middle
        else:
            low = middle
    return Fraction(high, FINEST)


def _is_enough(times: Fraction, terms: int, epsilon: Fraction, *, included: bool) -> bool:
    """Whether at every margin a grid of this budget is wrong no more often than one question of `epsilon`."""
    fading = math.exp(-float(epsilon))
    most = max(2, math.ceil(-math.log(RAREST) / float(epsilon)))
    margins = np.arange(1, most + 1)
    allowed = fading**margins / (1 + fading)
    grid = math.exp(-float(times * epsilon))
    wrong = tails(terms, grid, most)
    if not included:  # a value is told anomalous only if a row holds it, and that is read off one cell
        wrong = wrong + grid**margins / (1 + grid)
    return bool(np.all(wrong <= allowed + RAREST))


def tails(terms: int, fading: float, most: int) -> Floats:
    """P(Z₁ + … + Z_n ≥ t) for t = 1 … most, where P(Z = z) is proportional to fading^|z|; up to rounding.

    From the characteristic function (1 − f)² / (1 − 2f·cos θ + f²), to the power n, by one transform. Its denominator is written as
    (1 − f)² + 4f·sin²(θ/2), where nothing cancels: an error would pass for a grid that is wrong too often, and cost budget.
    """
    spread = math.sqrt(2 * terms * fading) / (1 - fading)
    size = 1 << math.ceil(math.log2(max(64.0, 4.0 * most, 80.0 * spread)))
    if size > MOST_POINTS:
        raise _too_many()
    halves = np.pi * np.arange(size // 2 + 1) / size
    law = np.fft.irfft((1 + fading * (2 * np.sin(halves) / (1 - fading)) ** 2) ** -float(terms), size)
    from_the_end = np.cumsum(np.maximum(law[size // 2 : 0 : -1], 0.0))[::-1]  # from_the_end[t − 1] = P(sum ≥ t)
    return np.asarray(from_the_end[:most])
