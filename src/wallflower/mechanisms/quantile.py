"""A quantile of numbers on a public grid, by the exponential mechanism, drawn exactly however long the grid is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError
from wallflower.mechanisms.checks import ADD_REMOVE, positive_fraction
from wallflower.mechanisms.exponential import Exponential
from wallflower.noise.entropy import Entropy
from wallflower.noise.uniform import below
from wallflower.privacy.guarantees import EVERY_ROW, PureDP

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Quantile:
    """Select v of first … last with weight e^(−exponent·|(d − n)·below − n·above|), n/d the share, below and above the rows on either side of v.

    Guarantee
        Inputs        integers between first and last, one a row
        Bound         PureDP(2·exponent·max(n, d − n)) under add-remove, PureDP(2·exponent·d) under replace-one
        Numerics      exact: integers and fractions only
        Proof         quantile.md

    >>> median = Quantile(share=Fraction(1, 2), first=0, last=10, exponent=Fraction(1, 4))
    >>> median.guarantee(neighbours="add-remove").epsilon, median.guarantee(neighbours="replace-one").epsilon
    (Fraction(1, 2), Fraction(1, 1))
    """

    share: Fraction
    first: int
    last: int
    exponent: Fraction

    def __post_init__(self) -> None:
        positive_fraction(self, "exponent", self.exponent)
        if not 0 < self.share < 1:
            raise DeclarationError.of(self, "share", "between 0 and 1", str(self.share))
        if self.first > self.last:
            raise DeclarationError.of(self, "last", "at least first", self.last)

    @classmethod
    def of(cls, epsilon: Fraction, *, share: Fraction, first: int, last: int, neighbours: str) -> Quantile:
        """The one that costs exactly `epsilon`."""
        unit = cls(share=share, first=first, last=last, exponent=Fraction(1)).guarantee(neighbours=neighbours).epsilon
        return cls(share=share, first=first, last=last, exponent=epsilon / unit)

    def guarantee(self, *, neighbours: str, protects: str = EVERY_ROW) -> PureDP:
        n, d = self.share.numerator, self.share.denominator
        distance = max(n, d - n) if neighbours == ADD_REMOVE else d
        return self._selection.guarantee(distance=distance, neighbours=neighbours, protects=protects)

    @property
    def _selection(self) -> Exponential:
        return Exponential(exponent=self.exponent, monotone=False)

    def pieces(self, ordered: Ints) -> tuple[Ints, Ints, Ints]:
        """Runs of the grid with one score each: where each begins, how long it is, and the score. `ordered` ascend, within the grid."""
        values, counts = np.unique(ordered, return_counts=True)
        begins = np.empty(2 * len(values) + 1, dtype=np.int64)
        begins[0], begins[1::2], begins[2::2] = self.first, values, values + 1
        lengths = np.diff(np.append(begins, self.last + 1))
        under = np.concatenate([[0], np.cumsum(counts)])
        below_it, above_it = np.empty_like(begins), np.empty_like(begins)
        below_it[0::2], below_it[1::2] = under, under[:-1]
        above_it[0::2], above_it[1::2] = under[-1] - under, under[-1] - under[1:]
        n, d = self.share.numerator, self.share.denominator
        return begins, lengths, -np.abs((d - n) * below_it - n * above_it)

    def __call__(self, numbers: Ints, entropy: Entropy) -> int:
        begins, lengths, scores = self.pieces(np.sort(numbers))
        levels, which = np.unique(scores, return_inverse=True)
        totals = np.zeros(len(levels), dtype=np.int64)
        np.add.at(totals, which, lengths)
        chosen = self._selection.level(dict(zip(levels.tolist(), totals.tolist(), strict=True)), entropy)
        members = np.flatnonzero(scores == chosen)
        place = below(int(lengths[members].sum()), entropy)
        run = int(np.searchsorted(np.cumsum(lengths[members]), place, side="right"))
        before = int(lengths[members[:run]].sum())
        return int(begins[members[run]]) + place - before

    def log_probabilities(self, numbers: Ints) -> dict[int, float]:
        """The natural logarithm of the probability of every grid value, for audits of short grids."""
        begins, lengths, scores = self.pieces(np.sort(numbers))
        found = {
            value: float(self.exponent * int(score))
            for begin, length, score in zip(begins.tolist(), lengths.tolist(), scores.tolist(), strict=True)
            for value in range(begin, begin + length)
        }
        total = math.log(math.fsum(math.exp(weight) for weight in found.values()))
        return {value: weight - total for value, weight in found.items()}

    def rank_error(self, *, miss: Fraction) -> int:
        """What is drawn is at most so many rows further from its rank than the best value there is, but for `miss`; public."""
        nats = math.log(self.last - self.first + 1) + math.log(1 / miss)
        return math.ceil(Fraction(nats) / self.exponent / self.share.denominator)
