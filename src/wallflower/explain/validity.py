"""In which contexts does the record stand out? One class per detector, each exact, each for all contexts or for a few."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors import LOF, Detector, Distance, Grubbs, Histogram
from wallflower.detectors.grubbs import LEAST, SCALE_BITS
from wallflower.detectors.histogram import bar
from wallflower.engines.base import Nearest, Rows
from wallflower.explain.cube import over_contexts, total_in
from wallflower.explain.space import Space
from wallflower.progress import report

ALL = 2**62
"""More distinct values than a cell can hold."""
LOW_BITS, MIDDLE_BITS = 7, 7
"""A slice of 2^14 contexts shares one list of entries, and each 2^7 of them a shorter one."""
CLOSE = 1e-12
"""Relative distance within which a comparison of doubles is repeated in whole numbers."""


class Validity(Protocol):
    """Which contexts are valid: at least `least` rows, and the record stands out in them."""

    def every(self) -> NDArray[np.bool_]:
        """One answer for each index."""
        ...

    def some(self, indices: NDArray[np.int64], /) -> NDArray[np.bool_]: ...


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The rows as seen from the asked-for record."""

    rows: Rows
    space: Space
    metric: str
    centre: int
    """The record's metric, in steps."""
    least: int
    """Public least population of a valid context."""

    @property
    def step(self) -> Fraction:
        return self.rows.declaration.column(self.metric).numeric.step

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The cell of each row, in row-major order of the cube."""
        codes = self.rows.codes(self.space.columns).astype(np.int64)
        return np.asarray(np.ravel_multi_index(tuple(codes.T), self.space.shape), dtype=np.int64)

    @cached_property
    def shifted(self) -> NDArray[np.int64]:
        """Metric minus centre of each row."""
        return self.rows.numbers((self.metric,))[:, 0] - self.centre

    def count(self, chosen: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Rows per cell, of those chosen."""
        cells = self.codes if chosen is None else self.codes[chosen]
        found = np.bincount(cells, minlength=len(self.space.cells)).astype(np.int64)
        return found.reshape(self.space.shape)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        return self.count()

    @cached_property
    def population(self) -> NDArray[np.int64]:
        """Rows of each context."""
        return over_contexts(self.counts, self.space.own)

    def some_population(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return total_in(self.counts.ravel(), self.space.cells, self.space.patterns(indices))


def validity(asked: Asked, detector: Detector) -> Validity:
    """The fast way to decide `detector`, or the slow one for a user's own."""
    if isinstance(detector, Grubbs):
        return GrubbsValidity(asked, detector)
    if isinstance(detector, LOF):
        return LOFValidity(asked, detector)
    if isinstance(detector, Histogram):
        return HistogramValidity(asked, detector)
    if isinstance(detector, Distance):
        return DistanceValidity(asked, detector)
    return SlowValidity(asked, detector)


class GrubbsValidity:
    """From N, Σz and Σz² of each context. Doubles decide all but the close calls, which are repeated in whole numbers."""

    def __init__(self, asked: Asked, detector: Grubbs) -> None:
        self.asked, self.detector = asked, detector
        self.cells = asked.rows.cells(asked.space.columns, asked.metric, asked.centre)
        self.totals = self.cells.totals.astype(np.int64)
        self.squares = self.cells.squares.astype(np.float64)
        empty = self.cells.counts == 0
        far = np.iinfo(np.int64).max
        self.lowest = np.where(empty, far, self.cells.least - asked.centre)
        self.highest = np.where(empty, -far, self.cells.most - asked.centre)

    def every(self) -> NDArray[np.bool_]:
        own = self.asked.space.own
        sizes = over_contexts(self.cells.counts, own)
        totals, squares = over_contexts(self.totals, own), over_contexts(self.squares, own)
        valid, close = self._compare(sizes, totals, squares)
        if self.detector.argmax:
            lowest, highest = over_contexts(self.lowest, own, np.minimum), over_contexts(self.highest, own, np.maximum)
            # 0 is furthest from a positive mean S/N when nothing is below 0 and N·most ≤ 2S; mirrored for a negative one.
            reach = np.where(totals > 0, highest, -lowest).astype(np.float64) * sizes
            one_sided = np.where(totals > 0, lowest >= 0, highest <= 0)
            bound = 2.0 * np.abs(totals)
            close |= (valid & one_sided) & (np.abs(reach - bound) <= CLOSE * bound)
            valid &= one_sided & (reach <= bound)
        valid[close] = self._exactly(np.flatnonzero(close))
        return valid

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        return self._exactly(indices)

    def _compare(
        self, sizes: NDArray[np.int64], totals: NDArray[np.int64], squares: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        populous = sizes >= max(LEAST, self.asked.least)
        top = int(sizes.max(initial=LEAST))
        if top < 2**22:
            kappa = np.zeros(top + 1)
            kappa[LEAST:] = self.detector.critical(np.arange(LEAST, top + 1)) * 2.0**-SCALE_BITS
            limit = kappa[sizes]
        else:
            limit = self.detector.critical(np.maximum(sizes, LEAST)) * 2.0**-SCALE_BITS
        limit *= squares
        reached = totals.astype(np.float64)
        reached *= reached
        valid = (reached > limit) & populous
        close = (np.abs(reached - limit) <= CLOSE * limit) & populous & (squares > 0)
        return valid, close

    def _exactly(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = np.zeros(len(indices), dtype=np.bool_)
        counts, cells = self.cells.counts.ravel(), self.asked.space.cells
        for place, word in enumerate(self.asked.space.patterns(indices)):
            inside = ((cells & ~word) == 0) & (counts > 0)
            size = int(counts[inside].sum())
            if size < max(LEAST, self.asked.least):
                continue
            total, squares = sum(self.cells.totals.ravel()[inside]), sum(self.cells.squares.ravel()[inside])
            found[place] = self.detector.exceeds(size, total, squares) and (
                not self.detector.argmax
                or self.detector.furthest(
                    size, total, int(self.lowest.ravel()[inside].min()), int(self.highest.ravel()[inside].max())
                )
            )
        return found


class Entries:
    """Distinct values per cell, below, at and above the record's, nearest first."""

    def __init__(self, asked: Asked, per_side: int) -> None:
        near: Nearest = asked.rows.nearest(asked.space.columns, asked.metric, asked.centre, per_side)
        cells = np.repeat(np.arange(len(asked.space.cells)), np.diff(near.starts))
        gaps = near.values - asked.centre
        words = asked.space.cells[cells]
        self.below = _side(gaps < 0, -gaps, near.multiplicities, words)
        self.above = _side(gaps > 0, gaps, near.multiplicities, words)
        here = gaps == 0
        same = np.bincount(cells[here], weights=near.multiplicities[here], minlength=len(asked.space.cells))
        self.same = same.astype(np.int64).reshape(asked.space.shape)


Side = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]


def _side(
    chosen: NDArray[np.bool_], gaps: NDArray[np.int64], copies: NDArray[np.int64], words: NDArray[np.uint64]
) -> Side:
    order = np.argsort(gaps[chosen], kind="stable")
    return gaps[chosen][order], copies[chosen][order].astype(np.int64), words[chosen][order]


def _inside(side: Side, word: np.uint64) -> Side:
    kept = (side[2] & ~word) == 0
    return side[0][kept], side[1][kept], side[2][kept]


def _slices(space: Space) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Words of the high, middle and low bits of an index; the record's own values are in the high ones."""
    low = min(space.free, LOW_BITS)
    middle = min(space.free - low, MIDDLE_BITS)
    own = np.uint64(space.own_pattern)
    lows = space.patterns(np.arange(2**low)) & ~own
    middles = space.patterns(np.arange(2**middle) << low) & ~own
    return space.patterns(np.arange(2 ** (space.free - low - middle)) << (low + middle)), middles, lows


class LOFValidity:
    """By walking outwards from the record's value, in slices of contexts that share most of their cells."""

    def __init__(self, asked: Asked, detector: LOF) -> None:
        self.asked, self.detector = asked, detector
        self.entries = Entries(asked, 2 * detector.neighbours)

    def every(self) -> NDArray[np.bool_]:
        from wallflower.explain.kernels import lof_slices

        asked = self.asked
        same = over_contexts(self.entries.same, asked.space.own)
        highs, middles, lows = _slices(asked.space)
        every_low = np.bitwise_or.reduce(lows) | np.bitwise_or.reduce(middles)
        valid = np.zeros(asked.space.count, dtype=np.bool_)
        width = len(middles) * len(lows)
        for place, word in enumerate(highs):
            here = slice(place * width, (place + 1) * width)
            lof_slices(
                _inside(self.entries.below, word | every_low),
                _inside(self.entries.above, word | every_low),
                middles | word,
                lows,
                asked.population[here],
                same[here],
                self.detector.neighbours,
                self.detector.limit,
                asked.least,
                valid[here],
            )
            report("contexts", (place + 1) * width, asked.space.count)
        return valid

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        from wallflower.explain.kernels import lof_some

        words = self.asked.space.patterns(indices)
        valid = np.zeros(len(indices), dtype=np.bool_)
        same = total_in(self.entries.same.ravel(), self.asked.space.cells, words)
        lof_some(
            self.entries.below,
            self.entries.above,
            words,
            self.asked.some_population(indices),
            same,
            self.detector.neighbours,
            self.detector.limit,
            self.asked.least,
            valid,
        )
        return valid


class HistogramValidity:
    """From N, least and largest value of each context, then the rows in the record's own bar, counted until they are too many."""

    def __init__(self, asked: Asked, detector: Histogram) -> None:
        self.asked, self.detector = asked, detector
        self.entries = Entries(asked, ALL)
        cells = asked.rows.cells(asked.space.columns, asked.metric, asked.centre)
        far = np.iinfo(np.int64).max
        self.lowest = np.where(cells.counts == 0, far, cells.least - asked.centre)
        self.highest = np.where(cells.counts == 0, -far, cells.most - asked.centre)

    def every(self) -> NDArray[np.bool_]:
        space = self.asked.space
        lowest = over_contexts(self.lowest, space.own, np.minimum)
        highest = over_contexts(self.highest, space.own, np.maximum)
        same = over_contexts(self.entries.same, space.own)
        highs, middles, lows = _slices(space)
        rest = (middles[:, None] | lows[None, :]).ravel()
        every_low = np.bitwise_or.reduce(rest)
        valid = np.zeros(space.count, dtype=np.bool_)
        for place, word in enumerate(highs):
            here = slice(place * len(rest), (place + 1) * len(rest))
            valid[here] = self._decide(
                rest | word,
                self.asked.population[here],
                lowest[here],
                highest[here],
                same[here],
                _inside(self.entries.below, word | every_low),
                _inside(self.entries.above, word | every_low),
            )
            report("contexts", (place + 1) * len(rest), space.count)
        return valid

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        words, cells = self.asked.space.patterns(indices), self.asked.space.cells
        inside = [(cells & ~word) == 0 for word in words]
        lowest = np.array([self.lowest.ravel()[kept].min() for kept in inside], dtype=np.int64)
        highest = np.array([self.highest.ravel()[kept].max() for kept in inside], dtype=np.int64)
        return self._decide(
            words,
            self.asked.some_population(indices),
            lowest,
            highest,
            total_in(self.entries.same.ravel(), cells, words),
            self.entries.below,
            self.entries.above,
        )

    def _decide(
        self,
        words: NDArray[np.uint64],
        sizes: NDArray[np.int64],
        lowest: NDArray[np.int64],
        highest: NDArray[np.int64],
        same: NDArray[np.int64],
        below: Side,
        above: Side,
    ) -> NDArray[np.bool_]:
        from wallflower.explain.kernels import bars

        populous = sizes >= max(1, self.asked.least)
        low, high = _bars(np.maximum(sizes, 1), np.where(populous, lowest, 0), np.where(populous, highest, 0))
        share = self.detector.share
        enough = -(-share.numerator * sizes // share.denominator)  # fewer than share·N is fewer than its ceiling
        rare = np.zeros(len(words), dtype=np.bool_)
        bars(below, above, words, -low, high - 1, same, enough, rare)
        return rare & populous


def _bars(
    sizes: NDArray[np.int64], least: NDArray[np.int64], most: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`detectors.histogram.bar` of the value 0 for many contexts; those whose products outgrow 64 bits one by one."""
    width = most - least
    bins = np.ceil(np.sqrt(sizes)).astype(np.int64)
    bins += np.where(bins * bins < sizes, 1, 0) - np.where((bins - 1) ** 2 >= sizes, 1, 0)
    safe = np.maximum(width, 1)
    place = np.minimum(bins - 1, -least * bins // safe)
    low = least - (-place * width // bins)
    high = np.where(place == bins - 1, most + 1, least - (-(place + 1) * width // bins))
    low, high = np.where(width == 0, least, low), np.where(width == 0, least + 1, high)
    for here in np.flatnonzero(width > 2**62 // (bins + 1)):
        low[here], high[here] = bar(int(sizes[here]), int(least[here]), int(most[here]), 0)
    return low, high


class DistanceValidity:
    """From how many rows each context has, and how many of them are near."""

    def __init__(self, asked: Asked, detector: Distance) -> None:
        self.asked, self.detector = asked, detector
        self.near = asked.count(np.abs(asked.shifted) <= detector.reach(asked.step))

    def margins(self) -> NDArray[np.int64]:
        """`Distance.margin` of every context."""
        share = self.detector.share
        near = over_contexts(self.near, self.asked.space.own) - 1  # the record itself is near and is not another
        return share.numerator * self.asked.population - share.denominator * near

    def every(self) -> NDArray[np.bool_]:
        return (self.margins() > 0) & (self.asked.population >= self.asked.least)

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        share = self.detector.share
        sizes = self.asked.some_population(indices)
        near = total_in(self.near.ravel(), self.asked.space.cells, self.asked.space.patterns(indices)) - 1
        return (share.numerator * sizes - share.denominator * near > 0) & (sizes >= self.asked.least)


class SlowValidity:
    """Hands the filtered, sorted values of each context to a user's own detector."""

    def __init__(self, asked: Asked, detector: Detector) -> None:
        self.asked, self.detector = asked, detector
        order = np.argsort(asked.shifted, kind="stable")
        self.values = asked.shifted[order] + asked.centre
        self.words = asked.space.cells[asked.codes[order]]

    def every(self) -> NDArray[np.bool_]:
        return self.some(np.arange(self.asked.space.count))

    def some(self, indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        valid = np.zeros(len(indices), dtype=np.bool_)
        for place, word in enumerate(self.asked.space.patterns(indices)):
            values = self.values[(self.words & ~word) == 0]
            if len(values) >= self.asked.least:
                valid[place] = self._ask(values)
            if place % 256 == 255:
                report("contexts", place + 1, len(indices))
        return valid

    def _ask(self, values: NDArray[np.int64]) -> bool:
        try:
            return bool(self.detector.stands_out(values, self.asked.centre, step=self.asked.step))
        except Exception:  # noqa: BLE001 - whatever a row makes a user's code do, a release does not fail because of a row
            return False
