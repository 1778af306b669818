"""Which sensitive values are normal at some corner of a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.face_kernels import Blocks
from wallflower.publish.corner_kernels import some_corner
from wallflower.publish.range_kernels import values_at

Whole = NDArray[np.int64]
PATIENCE = 20_000
"""Faces looked at before a group is given up as not plain; only boxes with a dozen wide columns come near it."""


def central_corner(blocks: Blocks, low: Whole, high: Whole) -> Whole:
    centre = blocks.centre[: len(low)]
    return np.where(np.abs(low - centre) <= np.abs(high - centre), low, high)


def each_at_some_corner(blocks: Blocks, guide: Blocks, low: Whole, high: Whole, values: Whole) -> bool:
    """Whether every value is normal at some corner of the box."""
    good = np.zeros(len(values), dtype=np.bool_)
    values_at(blocks, guide, central_corner(blocks, low, high), values, good)
    if not good.all():
        some_corner(blocks, guide, low, high, values, good, PATIENCE)
    return bool(good.all())
