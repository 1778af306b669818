"""One of many scored candidates, drawn exactly: weight e^(exponent·score), integer scores, a rational exponent.

Candidates are grouped into bands of neighbouring scores about 1/exponent wide. A band is drawn with the weight of its best
possible score (`levels`), then a candidate uniformly inside it, which is kept with probability e^(−exponent·its distance from that
score) and otherwise all is drawn again. A kept candidate has exactly the weight asked for; at least e^(−1) are kept; and for an
exponent above 1/2 a band is one score and all are. So neither a huge range of scores nor a tiny exponent costs anything.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from operator import sub

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.coins import bernoulli_exp
from wallflower.noise.entropy import Entropy
from wallflower.noise.levels import draw_level
from wallflower.noise.permute_and_flip import permute_and_flip
from wallflower.noise.scores import checked, gaps_below_top
from wallflower.noise.uniform import below

__all__ = ["choose_level", "permute_and_flip", "select", "select_many"]


def choose_level(counts: Mapping[int, int], exponent: Fraction, entropy: Entropy) -> int:
    """A score s with probability proportional to counts[s]·e^(exponent·s): its candidates are drawn uniformly by the caller."""
    levels = {int(score): int(count) for score, count in counts.items() if count}
    if exponent <= 0 or not levels or min(levels.values()) < 0:
        raise ValueError("choose_level needs an exponent above 0 and at least one candidate, none of them negative.")
    top = max(levels)
    band = _band(exponent)

    @cache
    def within(reach: int) -> list[int]:
        found = [0] * reach
        for score, count in levels.items():
            where = (top - score) // band
            if where < reach:
                found[where] += count
        return found

    total = sum(levels.values())
    while True:
        chosen = draw_level(within, total, exponent * band, entropy)
        members = [(score, count) for score, count in levels.items() if (top - score) // band == chosen]
        score = _nth_member(members, below(sum(count for _, count in members), entropy))
        if bernoulli_exp(exponent * (top - score - chosen * band), entropy):
            return score


def select(scores: NDArray[np.int64], exponent: Fraction, entropy: Entropy) -> int:
    """The index of a candidate, drawn with probability proportional to e^(exponent·score). Time is linear, without a sort."""
    scores = checked(scores, exponent)
    gaps = gaps_below_top(scores)
    band = _band(exponent)
    bands = gaps // np.uint64(band) if band < 2**64 else np.zeros_like(gaps)  # a gap has 64 bits, a band may have more

    @cache
    def within(reach: int) -> list[int]:
        near = bands[bands < np.uint64(reach)].astype(np.int64)
        return [int(count) for count in np.bincount(near, minlength=reach)]

    while True:
        chosen = draw_level(within, len(scores), exponent * band, entropy)
        members = np.flatnonzero(bands == np.uint64(chosen))
        index = int(members[below(len(members), entropy)])
        if bernoulli_exp(exponent * (int(gaps[index]) - chosen * band), entropy):
            return index


def select_many(scores: NDArray[np.int64], h: int, exponent: Fraction, entropy: Entropy) -> list[int]:
    """`h` indices in the order drawn: each is `select` among those left. One sort, then little work per draw."""
    scores = checked(scores, exponent)
    if not 1 <= h <= len(scores):
        raise ValueError("select_many needs h between 1 and the number of candidates.")
    left = _Left(gaps_below_top(scores))
    return [left.take(exponent, entropy) for _ in range(h)]


class _Left:
    """The candidates that are left, best first: taken ones are a short list of places and never moved."""

    def __init__(self, gaps: NDArray[np.uint64]) -> None:
        self._order = np.argsort(gaps, kind="stable")
        self._gaps = gaps[self._order]
        self._taken: list[int] = []

    def take(self, exponent: Fraction, entropy: Entropy) -> int:
        first = next((i for i, place in enumerate(self._taken) if place != i), len(self._taken))
        top = int(self._gaps[first])
        left, lowest, band = len(self._gaps) - len(self._taken), int(self._gaps[-1]), _band(exponent)
        starts: list[int] = []

        def within(reach: int) -> list[int]:
            """And in `starts`, how many of those left come before each level and before the first one out of reach."""
            edges = range(top, min(top + reach * band, lowest) + 1, band)
            places = np.searchsorted(self._gaps, np.array(edges, dtype=np.uint64)).tolist()
            starts[:] = [place - bisect_left(self._taken, place) for place in places]
            starts.extend([left] * (reach + 1 - len(edges)))  # all are above the levels below the lowest
            return list(map(sub, starts[1:], starts))

        while True:
            chosen = draw_level(within, left, exponent * band, entropy)
            place = self._nth_left(starts[chosen] + below(starts[chosen + 1] - starts[chosen], entropy))
            if bernoulli_exp(exponent * (int(self._gaps[place]) - top - chosen * band), entropy):
                insort(self._taken, place)
                return int(self._order[place])

    def _nth_left(self, n: int) -> int:
        for taken in self._taken:
            if taken > n:
                break
            n += 1
        return n


def _nth_member(levels: list[tuple[int, int]], n: int) -> int:
    for score, count in levels:
        if n < count:
            return score
        n -= count
    raise IndexError(n)


def _band(exponent: Fraction) -> int:
    return max(1, exponent.denominator // exponent.numerator)
