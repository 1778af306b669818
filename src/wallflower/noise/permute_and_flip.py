"""Permute-and-flip (McKenna and Sheldon, 2020), exactly and without walking through millions of candidates.

The mechanism visits the candidates in random order and returns the first whose coin of probability e^(−exponent·gap) comes up; the
best has gap 0 and always does. The coins do not depend on the order, so all may be flipped first. A coin is a uniform number
compared with e^(−exponent·gap) bit by bit: a gap far from the top needs its first k bits to be zero, and how many of all
candidates of such a class pass that is a matter of counting fair bits. The few that pass are then visited in random order.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.entropy import Entropy
from wallflower.noise.scores import checked, gaps_below_top
from wallflower.noise.uniform import below, fair_heads

_CLASSES = 64
_BITS_PER_NAT = Fraction(36, 25)  # 1.44 < 1/ln 2, so 2^(−k) >= e^(−x) for k = floor(1.44·x)


def permute_and_flip(scores: NDArray[np.int64], exponent: Fraction, entropy: Entropy) -> int:
    """The index that permute-and-flip returns on coins of probability e^(−exponent·(best − score))."""
    gaps = gaps_below_top(checked(scores, exponent))
    classes = _leading_zeros(gaps, exponent)
    sizes = np.bincount(classes, minlength=_CLASSES)
    passed = [_all_zero(size, zeros, entropy) if size else 0 for zeros, size in enumerate(sizes.tolist())]
    visited: set[int] = set()
    while True:  # ends: the best is of class 0, passes, and its coin comes up
        place = below(sum(passed), entropy)
        zeros = 0
        while place >= passed[zeros]:
            place -= passed[zeros]
            zeros += 1
        passed[zeros] -= 1
        index = _unvisited(classes, zeros, visited, entropy)
        visited.add(index)
        if remaining_coin(exponent * int(gaps[index]), zeros, entropy):
            return index


def _all_zero(coins: int, bits: int, entropy: Entropy) -> int:
    """How many of `coins` uniform numbers start with `bits` zeros: Binomial(coins, 2^(−bits))."""
    for _ in range(bits):
        if not coins:
            break
        coins = fair_heads(coins, entropy)
    return coins


def _leading_zeros(gaps: NDArray[np.uint64], exponent: Fraction) -> NDArray[np.intp]:
    """For each gap the largest k below 64 that `_BITS_PER_NAT` can vouch for: 2^(−k) >= e^(−exponent·gap)."""
    return np.searchsorted(np.array(_edges(exponent), dtype=np.uint64), gaps, side="right")


@lru_cache(maxsize=16)
def _edges(exponent: Fraction) -> list[int]:
    """The least gap of each class from 1 up, as far as a gap can be that large."""
    edges = [-(-Fraction(k) // (_BITS_PER_NAT * exponent)) for k in range(1, _CLASSES)]
    return [edge for edge in edges if edge < 2**64]


def _unvisited(classes: NDArray[np.intp], zeros: int, visited: set[int], entropy: Entropy) -> int:
    """Those that passed are a uniformly random subset of their class, so the next of them is any member not yet visited."""
    members = np.flatnonzero(classes == zeros)
    while True:
        index = int(members[below(len(members), entropy)])
        if index not in visited:
            return index


def remaining_coin(x: Fraction, zeros: int, entropy: Entropy) -> bool:
    """True with probability 2^zeros·e^(−x), which must not exceed 1: the coin e^(−x) once `zeros` of its bits came out zero."""
    precision = 64
    uniform = entropy.bits(precision)
    while True:
        low, high = exp_bounds(x, precision + zeros)
        if uniform < low:  # uniform + 1 <= low: the whole interval lies below
            return True
        if uniform >= high:
            return False
        uniform = uniform << precision | entropy.bits(precision)
        precision *= 2
