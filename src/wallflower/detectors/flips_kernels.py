"""Compiled loops behind `detectors.flips`: distances to flipping of many contexts."""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]

CLOSE = 1e-12
"""Relative distance within which a comparison of doubles is left to whole numbers."""


@kernel
def _flip_with(
    m: int, size: int, total: int, squares: float, low: int, high: int, least: int, kappa: NDArray[np.float64]
) -> int:
    """Whether m moves can end a context's validity: 1 yes, 0 no, 2 too close for doubles. See robust.md for the formulas."""
    answer = 0
    for b in range(m + 1):
        a = m - b
        n = size + a - b
        if n < least:
            return 1
        K = kappa[n]
        best = ((K + b) * (high - low) / 2.0 - total + a * low) / (high + low)
        for j in range(min(max(int(np.floor(best - 1e-6)), 0), a), min(max(int(np.floor(best + 1e-6)) + 1, 0), a) + 1):
            t = total + j * (high + low) - a * low
            q = squares + float(j) * high * high + float(a - j) * low * low
            if t > (K + b) * high:
                left, right = float(t - b * high) ** 2 + K * b * float(high) * high, K * q
            elif t < -(K + b) * low:
                left, right = float(t + b * low) ** 2 + K * b * float(low) * low, K * q
            else:
                left, right = float(t) * t, (K + b) * q
            if left <= right * (1 - CLOSE):
                return 1
            if left <= right * (1 + CLOSE):
                answer = 2
    return answer


@kernel(parallel=True)
def flips(
    sizes: Ints,
    totals: Ints,
    squares: NDArray[np.float64],
    low: int,
    high: int,
    least: int,
    cap: int,
    kappa: NDArray[np.float64],
    found: Ints,
) -> None:
    """The least number of moves that ends each context's validity, at most `cap`; -1 where doubles cannot tell."""
    for here in prange(len(sizes)):
        known, tried, step = -1, 0, 0
        answer = 0
        while True:  # the first of 0, 1, 3, 7, ... moves that suffices
            answer = _flip_with(tried, sizes[here], totals[here], squares[here], low, high, least, kappa)
            if answer != 0 or tried >= cap:
                break
            known = tried
            step = 2 * step + 1
            tried = min(step, cap)
        enough = tried
        while answer != 2 and enough - known > 1:
            middle = (known + enough) // 2
            answer = _flip_with(middle, sizes[here], totals[here], squares[here], low, high, least, kappa)
            if answer == 1:
                enough = middle
            elif answer == 0:
                known = middle
        found[here] = -1 if answer == 2 else enough
