"""What every selection asks of its scores."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def checked(scores: NDArray[np.int64], exponent: Fraction) -> NDArray[np.int64]:
    """The scores as they are; a float score would be compared inexactly, so it is refused and not rounded."""
    if scores.ndim != 1 or not len(scores) or scores.dtype.kind != "i":
        raise ValueError("selection needs a non-empty one-dimensional array of signed integer scores.")
    if exponent <= 0:
        raise ValueError("selection needs an exponent above 0.")
    return scores.astype(np.int64, copy=False)


def gaps_below_top(scores: NDArray[np.int64]) -> NDArray[np.uint64]:
    """How far each score lies below the best, which can be up to 2^64 − 1: the subtraction wraps and is read as unsigned."""
    gaps: NDArray[np.uint64] = np.subtract(scores.max(), scores).view(np.uint64)
    return gaps
