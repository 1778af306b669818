"""A uniformly random order: the only draw of a publication."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.entropy import Entropy


def shuffled(count: int, entropy: Entropy) -> NDArray[np.int64]:
    """A uniform permutation of 0 … count − 1, exactly.

    Every place gets an independent 128-bit key and the keys are sorted. Given that all keys differ, every order is equally
    likely; when two keys are equal all are drawn again, so that this is always given.
    """
    while True:
        keys = np.frombuffer(entropy.block(16 * count), dtype=np.uint64).reshape(count, 2)
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        drawn = keys[order]
        if not (drawn[1:] == drawn[:-1]).all(axis=1).any():
            return np.asarray(order, dtype=np.int64)
