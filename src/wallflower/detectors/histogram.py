"""A value in a nearly empty bar of its histogram."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError
from wallflower.schema.exact import exact, shown


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """⌈√N⌉ equal bins from the least to the largest value; the value stands out when its bin holds less than `rare`·N.

    Bins are closed on the left and open on the right, the last one closed on both sides, as numpy's; edges are compared as
    whole numbers. When all values are equal there is one bin.

    >>> Histogram(rare="0.3").stands_out(np.array([1, 1, 2, 2, 2, 3, 3, 3, 9]), 9, step=Fraction(1))
    True
    """

    rare: Fraction | str | int = Fraction(25, 10_000)
    """2.5e-3 is the published rule."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rare", exact(self.rare, name="rare"))
        if not 0 < self.share < 1:
            raise DeclarationError.of(self, "rare", "between 0 and 1", shown(self.share))

    @property
    def share(self) -> Fraction:
        return exact(self.rare)

    @property
    def text(self) -> str:
        return f"histogram(rare={shown(self.share)})"

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        if len(values) == 0:
            return False
        low, high = bar(len(values), int(values[0]), int(values[-1]), value)
        inside = sum(low <= int(y) < high for y in values)
        return inside * self.share.denominator < self.share.numerator * len(values)


def bar(size: int, least: int, most: int, value: int) -> tuple[int, int]:
    """The first whole number in the bin of `value`, and the first one past it."""
    width = most - least
    if width == 0:
        return least, least + 1
    bins = isqrt(size - 1) + 1  # ⌈√size⌉
    place = min(bins - 1, (value - least) * bins // width)
    low = least - (-place * width // bins)
    return low, most + 1 if place == bins - 1 else least - (-(place + 1) * width // bins)
