"""Made-up sensor readings for `stream simulate` and the demo: no real sensor, and the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.entropy import SeededEntropy
from wallflower.stream.declaration import StreamDeclaration

SHARE = 0.1
"""Share of made-up readings that lie beyond the core."""


def made_up(declared: StreamDeclaration, readings: int, *, seed: int) -> Iterator[NDArray[np.float64]]:
    """A round core and a tenth of readings beyond it, as the declaration places them; the same on every machine."""
    source = SeededEntropy(seed)
    middles = np.array([float(column.centre) for column in declared.columns])
    scales = np.array([float(column.scale) for column in declared.columns])
    bounds = [(float(column.domain.lower), float(column.domain.upper)) for column in declared.columns]
    reach = min(
        max(high - middle, middle - low) / scale
        for (low, high), middle, scale in zip(bounds, middles, scales, strict=True)
    )
    core = float(declared.core_radius)
    for start in range(0, readings, declared.window):
        count = min(declared.window, readings - start)
        directions = _normal(source, (count, len(middles)))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        far = _uniform(source, (count,)) < SHARE
        near, beyond = min(1.5 * core, reach), max(reach, 1.5 * core)
        place = _uniform(source, (count,))
        radius = np.where(far, near + (beyond - near) * place, core * place**0.7)
        yield middles + directions * radius[:, None] * scales


def _uniform(source: SeededEntropy, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Values in (0, 1). These are made-up readings, not noise: floats are fine here."""
    whole = np.frombuffer(source.block(8 * math.prod(shape)), dtype="<u8") >> np.uint64(11)
    return np.asarray((whole + 0.5) * 2.0**-53, dtype=np.float64).reshape(shape)


def _normal(source: SeededEntropy, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Box and Muller."""
    size = np.sqrt(-2 * np.log(_uniform(source, shape)))
    return np.asarray(size * np.cos(2 * np.pi * _uniform(source, shape)))
