"""Made-up sensor readings for simulations and the demo: no real sensor, and the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.entropy import SeededEntropy
from wallflower.stream.declaration import StreamDeclaration

SHARE = 0.1
"""Share of made-up readings that lie beyond the core."""
LOUD_SHARE = 0.25
"""Share of made-up periods that misbehave."""


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


def made_up_slots(
    declared: StreamDeclaration, periods: int, per_slot: int, *, seed: int, loud: Callable[[int], object]
) -> Iterator[NDArray[np.float64]]:
    """The readings of slot after slot; a quarter of periods misbehave from some slot on for an eighth of the period.

    `loud` is told the number of each period that does.
    """
    slots = declared.slots
    if slots is None:
        raise AssertionError("this protocol speaks in windows.")
    source = SeededEntropy(1_000_003 * (seed + 1))
    middles = np.array([float(column.centre) for column in declared.columns])
    scales = np.array([float(column.scale) for column in declared.columns])
    core = float(declared.core_radius)
    for period in range(periods):
        misbehaves, onset = _uniform(source, (2,))
        begins = int(onset * slots.count) if misbehaves < LOUD_SHARE else slots.count
        if begins < slots.count:
            loud(period)
        for slot in range(slots.count):
            far = begins <= slot < begins + max(1, slots.count // 8)
            directions = _normal(source, (per_slot, len(middles)))
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
            place = _uniform(source, (per_slot,))
            radius = core * (1.3 + place) if far else 0.9 * core * place**0.7
            yield middles + directions * radius[:, None] * scales


def _uniform(source: SeededEntropy, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Values in (0, 1). These are made-up readings, not noise: floats are fine here."""
    whole = np.frombuffer(source.block(8 * math.prod(shape)), dtype="<u8") >> np.uint64(11)
    return np.asarray((whole + 0.5) * 2.0**-53, dtype=np.float64).reshape(shape)


def _normal(source: SeededEntropy, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Box and Muller."""
    size = np.sqrt(-2 * np.log(_uniform(source, shape)))
    return np.asarray(size * np.cos(2 * np.pi * _uniform(source, shape)))
