"""Compiled loops behind `detectors.histogram`: rows in a bar, counted until they are too many."""

# ruff: noqa: PLR0917 - compiled functions take what they need by place

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Side = tuple[Ints, Ints, Words]


@kernel
def _within(side: Side, size: int, outside: np.uint64, limit: int, enough: int) -> int:
    """Rows of a context at distance 1 to `limit` on one side, counted up to `enough`."""
    found = 0
    for entry in range(size):
        if side[0][entry] > limit or found >= enough:
            break
        if not side[2][entry] & outside:
            found += side[1][entry]
    return found


@kernel(parallel=True)
def bars(
    below: Side,
    above: Side,
    words: Words,
    reach_below: Ints,
    reach_above: Ints,
    same: Ints,
    enough: Ints,
    rare: NDArray[np.bool_],
) -> None:
    """Whether each context has fewer than `enough` rows within the reaches of its bar, its own copies included."""
    for here in prange(len(words)):
        outside = ~words[here]
        found = same[here]
        if found < enough[here]:
            found += _within(below, len(below[0]), outside, reach_below[here], enough[here] - found)
        if found < enough[here]:
            found += _within(above, len(above[0]), outside, reach_above[here], enough[here] - found)
        rare[here] = found < enough[here]
