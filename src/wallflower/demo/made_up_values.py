"""Made-up values for the demo, from a seed: no real person, and the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wallflower.noise.entropy import SeededEntropy


def uniform(count: int, *, seed: int) -> list[float]:
    """Values in (0, 1). These are made-up rows, not noise: floats are fine here."""
    source = SeededEntropy(seed)
    return [(source.bits(53) + 0.5) / 2**53 for _ in range(count)]


def normal(count: int, *, mean: float, deviation: float, seed: int) -> list[int]:
    """Whole numbers around `mean`."""
    first, second = uniform(count, seed=2 * seed), uniform(count, seed=2 * seed + 1)
    return bell(first, second, mean=mean, deviation=deviation)


def bell(first: Sequence[float], second: Sequence[float], *, mean: float, deviation: float) -> list[int]:
    """Whole numbers around `mean`, from pairs of values in (0, 1) (Box and Muller)."""
    return [
        round(mean + deviation * math.sqrt(-2 * math.log(a)) * math.cos(2 * math.pi * b))
        for a, b in zip(first, second, strict=True)
    ]
