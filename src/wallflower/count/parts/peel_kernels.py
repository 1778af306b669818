"""The compiled loop behind `count.parts.core`; its slow twin is in the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel
def peel(starts: Ints, neighbours: NDArray[np.int32], alive: Flags, frozen: Flags, depth: int) -> Flags:
    """Who is left when those with fewer than `depth` others alive near them go, again and again; the frozen never go."""
    size = alive.size
    left = alive.copy()
    degrees = np.zeros(size, dtype=np.int64)
    queue = np.empty(size, dtype=np.int64)
    waiting = 0
    for place in range(size):
        if not alive[place] or frozen[place]:
            continue
        for edge in range(starts[place], starts[place + 1]):
            degrees[place] += alive[neighbours[edge]] and neighbours[edge] != place
        if degrees[place] < depth:
            left[place] = False
            queue[waiting] = place
            waiting += 1
    turn = 0
    while turn < waiting:
        place = queue[turn]
        turn += 1
        for edge in range(starts[place], starts[place + 1]):
            other = neighbours[edge]
            if left[other] and not frozen[other]:
                degrees[other] -= 1
                if degrees[other] < depth:
                    left[other] = False
                    queue[waiting] = other
                    waiting += 1
    return left
