"""Cells of the cube that the declared values of some columns span: their index, and exact sums within them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Cells, Nearest
from wallflower.errors import UsageError
from wallflower.schema.declaration import Declaration

MOST_CELLS = 2**31
LIMB = 32
"""Sums of 32-bit parts stay within 63 bits for up to 2^31 rows."""
HALF = 27
"""|z| < 2^54 in two parts of this many bits."""


def shape_of(declaration: Declaration, by: Sequence[str]) -> tuple[int, ...]:
    """How many declared values each column of `by` has."""
    shape = tuple(declaration.column(name).groups.size for name in by)
    if math.prod(shape) > MOST_CELLS:
        raise UsageError(
            f"the columns {', '.join(by)} span {math.prod(shape)} cells, more than can be held.",
            hint="Ask by fewer columns, or declare fewer values or bins.",
        )
    return shape


def most_distance(declaration: Declaration, metric: str, centre: int) -> int:
    """A public bound on |metric − centre|."""
    domain = declaration.column(metric).numeric
    if abs(centre) > 2**53:
        raise UsageError(f"'centre' must be within 2^53 steps of zero, got {centre}.")
    return max(abs(domain.first - centre), abs(domain.last - centre))


def flat_index(codes: NDArray[np.int32], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The row-major index of each row's cell."""
    index = np.zeros(len(codes), np.int64)
    for axis, size in enumerate(shape):
        index *= size
        index += codes[:, axis]
    return index


def cells_of(index: NDArray[np.int64], z: NDArray[np.int64], shape: tuple[int, ...], most: int) -> Cells:
    """Exact statistics of z per cell; `most` bounds |z|."""
    cells = math.prod(shape)
    counts = np.bincount(index, minlength=cells).astype(np.int64)
    magnitude = np.abs(z)
    # Shifted to be non-negative, so that parts can be added as they are.
    totals = _sums(index, z + most, cells) - counts.astype(object) * most
    if most < 2**31:
        squares = _sums(index, magnitude * magnitude, cells)
    else:
        high, low = magnitude >> HALF, magnitude & (2**HALF - 1)
        squares = (
            _sums(index, high * high, cells) * 2 ** (2 * HALF)
            + _sums(index, high * low, cells) * 2 ** (HALF + 1)
            + _sums(index, low * low, cells)
        )
    least = np.full(cells, np.iinfo(np.int64).max)
    largest = np.full(cells, np.iinfo(np.int64).min)
    np.minimum.at(least, index, z)
    np.maximum.at(largest, index, z)
    least[counts == 0] = 0
    largest[counts == 0] = 0
    return Cells(
        counts=counts.reshape(shape),
        totals=totals.reshape(shape),
        squares=squares.reshape(shape),
        least=least.reshape(shape),
        most=largest.reshape(shape),
    )


def nearest_of(index: NDArray[np.int64], values: NDArray[np.int64], cells: int, centre: int, per_side: int) -> Nearest:
    """The distinct values nearest to the centre on each side of it, per cell."""
    order = np.lexsort((values, index))
    index, values = index[order], values[order]
    fresh = np.ones(len(values), np.bool_)
    fresh[1:] = (values[1:] != values[:-1]) | (index[1:] != index[:-1])
    begins = np.flatnonzero(fresh)
    multiplicities = np.diff(np.append(begins, len(values)))
    index, values = index[begins], values[begins]
    starts = np.searchsorted(index, np.arange(cells + 1))
    place = np.arange(len(values))
    below = np.bincount(index[values < centre], minlength=cells)
    at_or_below = np.bincount(index[values <= centre], minlength=cells)
    low = (starts[:-1] + below)[index]
    high = (starts[:-1] + at_or_below)[index]
    keep = (place >= low - per_side) & (place < high + per_side)
    return assembled(index[keep], values[keep], multiplicities[keep], cells)


def assembled(
    index: NDArray[np.int64], values: NDArray[np.int64], multiplicities: NDArray[np.int64], cells: int
) -> Nearest:
    """From entries sorted by cell and value."""
    starts = np.searchsorted(index, np.arange(cells + 1)).astype(np.int64)
    return Nearest(starts=starts, values=values.astype(np.int64), multiplicities=multiplicities.astype(np.int64))


def _sums(index: NDArray[np.int64], values: NDArray[np.int64], cells: int) -> NDArray[np.object_]:
    """Σ of non-negative values per cell as Python integers, however large."""
    low, high = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    np.add.at(low, index, values & (2**LIMB - 1))
    np.add.at(high, index, values >> LIMB)
    sums: NDArray[np.object_] = low.astype(object) + high.astype(object) * 2**LIMB
    return sums
