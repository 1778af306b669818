"""The one compiled loop of the bulk samplers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel


@kernel
def add_digits(  # noqa: PLR0917 - numba calls by position
    words: NDArray[np.uint32],
    thresholds: NDArray[np.uint32],
    guide: NDArray[np.int32],
    shift: int,
    weight: int,
    out: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:
    """Add `weight` times the digit of each word to `out`; list the words that sit on a threshold, and count them.

    The digit is the number of thresholds below the word. `guide` holds that number for the word with its low `shift`
    bits cleared, so that the walk is short.
    """
    last = thresholds.size
    found = 0
    for place in range(words.size):
        word = words[place]
        digit = guide[word >> shift]
        while digit < last and thresholds[digit] < word:
            digit += 1
        if digit < last and thresholds[digit] == word:
            undecided[found] = place
            found += 1
        else:
            out[place] += weight * digit
    return found
