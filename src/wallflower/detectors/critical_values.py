"""Critical values of Grubbs' test as whole numbers: a table that is the same on every machine."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError

SCALE_BITS = 20
"""Critical values are whole multiples of 2^-20: validity is then a comparison of integers."""
LEAST = 3
"""Below three values the test is not defined, and nothing stands out."""
_EVERY_SIZE_TO = 4096
_KNOTS = 1024
"""Beyond 4096 rows each doubling has this many tabulated sizes, with straight lines between them."""


def critical_values(alpha: Fraction, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """κ(N)·2^20 as whole numbers, for N of at least 3.

    >>> critical_values(Fraction(5, 100), np.array([3, 10, 51_000])) / 2**20
    array([1.99954319e+00, 8.53512955e+00, 4.89568393e+04])
    """
    every, coarse = sizes <= _EVERY_SIZE_TO, sizes > _EVERY_SIZE_TO
    found = np.empty(sizes.shape, dtype=np.int64)
    found[every] = _fine(alpha)[sizes[every]]
    if coarse.any():
        large = sizes[coarse]
        octave = np.frexp(large.astype(np.float64))[1].astype(np.int64) - 13  # 4096 = 2^12 begins octave 0
        width = np.int64(4) << octave
        place = (large - (np.int64(_EVERY_SIZE_TO) << octave)) // width
        table = _coarse(alpha, int(octave.max()) + 1)
        low, high = table[octave * _KNOTS + place], table[octave * _KNOTS + place + 1]
        found[coarse] = low + (high - low) * (large % width) // width
    return found


def tables(alpha: Fraction, largest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All that `critical_values` looks up for sizes up to `largest`: every size to 4,096, then the knots of each doubling."""
    octaves = max(int(largest).bit_length() - _EVERY_SIZE_TO.bit_length() + 1, 1)
    return _fine(alpha), _coarse(alpha, octaves)


@lru_cache(maxsize=8)
def _fine(alpha: Fraction) -> NDArray[np.int64]:
    table = np.zeros(_EVERY_SIZE_TO + 1, dtype=np.int64)
    table[LEAST:] = _tabulated(alpha, np.arange(LEAST, _EVERY_SIZE_TO + 1))
    return _rising(table, LEAST)


@lru_cache(maxsize=8)
def _coarse(alpha: Fraction, octaves: int) -> NDArray[np.int64]:
    starts = (np.int64(_EVERY_SIZE_TO) << np.arange(octaves))[:, None]
    knots = (starts + (starts // _KNOTS) * np.arange(_KNOTS)).ravel()
    knots = np.append(knots, np.int64(_EVERY_SIZE_TO) << octaves)
    return _rising(np.maximum(_tabulated(alpha, knots), _fine(alpha)[-1]), 0)


def _rising(table: NDArray[np.int64], first: int) -> NDArray[np.int64]:
    """The table from `first` on, which the distance to flipping needs above 1 and never decreasing (robust.md)."""
    if table[first] <= 1 << SCALE_BITS or (np.diff(table[first:]) < -1).any():  # a unit down is rounding
        raise DeclarationError(
            "critical values of this alpha cannot be computed.", hint="Choose an alpha from 0.001 to 0.5."
        )
    return np.maximum.accumulate(table)


def _tabulated(alpha: Fraction, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    from scipy.special import stdtrit

    n = sizes.astype(np.float64)
    t2 = stdtrit(n - 2, float(alpha) / (2 * n)) ** 2  # the lower tail, by symmetry: 1 − α/(2N) would lose its digits
    kappa: NDArray[np.int64] = np.rint(n * (n - 1) * t2 / (n - 2 + n * t2) * 2**SCALE_BITS).astype(np.int64)
    return kappa
