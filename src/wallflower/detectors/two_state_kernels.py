"""The inner loop of `two_state`: one pass forwards and one back over a window of bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel


@kernel
def passes(  # noqa: PLR0917 - numba takes no keywords here
    bits: NDArray[np.bool_], keep: float, first: float, rise: float, fall: float, posterior: NDArray[np.float64]
) -> tuple[float, float, float, float, float]:
    """Fill P(state 1 | all bits); give the log-likelihood and the expected moves 0→0, 0→1, 1→0, 1→1.

    `first` is P(state 1) at the first bit, `rise` P(0→1), `fall` P(1→0), `keep` P(bit = state).
    """
    count = bits.shape[0]
    one = np.empty(count)  # P(state 1 | bits up to here)
    back = np.empty(count)  # of state 1 against state 0, scaled so that both add up to one
    likelihood = 0.0
    ahead = first
    for place in range(count):
        loud = keep if bits[place] else 1.0 - keep
        weight_one, weight_zero = ahead * loud, (1.0 - ahead) * (1.0 - loud)
        total = weight_one + weight_zero
        likelihood += np.log(total)
        one[place] = weight_one / total
        ahead = one[place] * (1.0 - fall) + (1.0 - one[place]) * rise
    moves = np.zeros((2, 2))
    back_one = 0.5
    back[count - 1] = back_one
    for place in range(count - 1, -1, -1):
        back_one = back[place]
        up, down = one[place] * back_one, (1.0 - one[place]) * (1.0 - back_one)
        posterior[place] = up / (up + down)
        if place == 0:
            break
        loud = keep if bits[place] else 1.0 - keep
        to_one, to_zero = loud * back_one, (1.0 - loud) * (1.0 - back_one)
        was = one[place - 1]
        m00, m01 = (1.0 - was) * (1.0 - rise) * to_zero, (1.0 - was) * rise * to_one
        m10, m11 = was * fall * to_zero, was * (1.0 - fall) * to_one
        total = m00 + m01 + m10 + m11
        moves[0, 0] += m00 / total
        moves[0, 1] += m01 / total
        moves[1, 0] += m10 / total
        moves[1, 1] += m11 / total
        from_one, from_zero = fall * to_zero + (1.0 - fall) * to_one, (1.0 - rise) * to_zero + rise * to_one
        back[place - 1] = from_one / (from_one + from_zero)
    return likelihood, moves[0, 0], moves[0, 1], moves[1, 0], moves[1, 1]
