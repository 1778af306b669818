"""A value with few others near it (Knorr and Ng 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError
from wallflower.schema.exact import exact, shown


@dataclass(frozen=True, kw_only=True)
class Distance:
    """The value stands out when fewer than `p`·N of the others lie within `radius`; N counts every value, its own included.

    >>> Distance(p="0.2", radius=5).stands_out(np.array([10, 11, 12, 12, 13, 60]), 60, step=Fraction(1))
    True
    """

    p: Fraction | str | int
    """Share of the values, between 0 and 1."""
    radius: Fraction | str | int
    """How near is near, in the metric's own units."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", exact(self.p, name="p"))
        object.__setattr__(self, "radius", exact(self.radius, name="radius"))
        if not 0 < self.share < 1:
            raise DeclarationError.of(self, "p", "between 0 and 1", shown(self.share))
        if exact(self.radius) < 0:
            raise DeclarationError.of(self, "radius", "at least 0", shown(exact(self.radius)))

    @property
    def share(self) -> Fraction:
        return exact(self.p)

    @property
    def text(self) -> str:
        return f"distance(p={shown(self.share)}, radius={shown(exact(self.radius))})"

    def reach(self, step: Fraction) -> int:
        """The radius in whole steps."""
        return int(exact(self.radius) / step)

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        near = sum(abs(int(y) - value) <= self.reach(step) for y in values) - 1
        return self.margin(len(values), near) > 0

    def margin(self, size: int, near: int) -> int:
        """p·N − (others within the radius), times the denominator of p; above 0 when the value stands out."""
        return self.share.numerator * size - self.share.denominator * near
