"""Grubbs' test for one value: is it further from the mean than chance allows in a normal sample?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError
from wallflower.schema.exact import exact, shown

SCALE_BITS = 20
"""Critical values are whole multiples of 2^-20: validity is then a comparison of integers."""
LEAST = 3
"""Below three values the test is not defined, and nothing stands out."""
_EVERY_SIZE_TO = 4096
_KNOTS = 1024
"""Beyond 4096 rows each doubling has this many tabulated sizes, with straight lines between them."""


@dataclass(frozen=True, kw_only=True)
class Grubbs:
    """Two-sided Grubbs test of the asked-for value, at level `alpha`.

    With z = y − v over all values y (v itself gives 0), N their number, S = Σz and Q = Σz², v stands out exactly when
    N ≥ 3 and S² > κ(N)·Q, where κ(N) = N(N−1)t²/(N−2+Nt²) and t is the upper α/(2N) quantile of Student's t with N−2
    degrees of freedom: the usual |v − mean|/s against its critical value, without a root or a cancellation. κ is rounded to multiples
    of 2^-20, and beyond 4,096 values interpolated (relative error below 2e-7 in all): that table *is* the detector's definition.

    >>> Grubbs().stands_out(np.array([1, 2, 2, 3, 3, 3, 4, 4, 5, 60]), 60, step=Fraction(1))
    True
    """

    alpha: Fraction | str | int = Fraction(5, 100)
    """Level of the test; the customary 0.05."""
    argmax: bool = False
    """Whether the value must also be (one of) the furthest from the mean."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", exact(self.alpha, name="alpha"))
        if not 0 < self.level < 1:
            raise DeclarationError.of(self, "alpha", "between 0 and 1", shown(self.level))

    @property
    def level(self) -> Fraction:
        return exact(self.alpha)

    @property
    def text(self) -> str:
        return f"grubbs(alpha={shown(self.level)}{', argmax=true' if self.argmax else ''})"

    def critical(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """κ of each size (at least 3), in units of 2^-20. Never decreasing, and above 1."""
        return critical_values(self.level, np.asarray(sizes, dtype=np.int64))

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        shifted = [int(y) - value for y in values]
        size, total, squares = len(shifted), sum(shifted), sum(z * z for z in shifted)
        if not self.exceeds(size, total, squares):
            return False
        return not self.argmax or self.furthest(size, total, min(shifted), max(shifted))

    def exceeds(self, size: int, total: int, squares: int) -> bool:
        """Whether a value stands out among `size` values with these sums of z and z²; exact."""
        if size < LEAST:
            return False
        return total * total << SCALE_BITS > int(self.critical(np.array([size]))[0]) * squares

    @staticmethod
    def furthest(size: int, total: int, least: int, most: int) -> bool:
        """Whether 0 is (one of) the furthest from the mean total/size among values from `least` to `most`."""
        return max(abs(size * least - total), abs(size * most - total)) <= abs(total)


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


@lru_cache(maxsize=8)
def _fine(alpha: Fraction) -> NDArray[np.int64]:
    table = np.zeros(_EVERY_SIZE_TO + 1, dtype=np.int64)
    table[LEAST:] = _tabulated(alpha, np.arange(LEAST, _EVERY_SIZE_TO + 1))
    return np.maximum.accumulate(table)


@lru_cache(maxsize=8)
def _coarse(alpha: Fraction, octaves: int) -> NDArray[np.int64]:
    starts = (np.int64(_EVERY_SIZE_TO) << np.arange(octaves))[:, None]
    knots = (starts + (starts // _KNOTS) * np.arange(_KNOTS)).ravel()
    knots = np.append(knots, np.int64(_EVERY_SIZE_TO) << octaves)
    return np.maximum.accumulate(np.maximum(_tabulated(alpha, knots), _fine(alpha)[-1]))


def _tabulated(alpha: Fraction, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    from scipy.special import stdtrit

    n = sizes.astype(np.float64)
    t2 = stdtrit(n - 2, float(alpha) / (2 * n)) ** 2  # the lower tail, by symmetry: 1 − α/(2N) would lose its digits
    kappa: NDArray[np.int64] = np.rint(n * (n - 1) * t2 / (n - 2 + n * t2) * 2**SCALE_BITS).astype(np.int64)
    return kappa
