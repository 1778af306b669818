"""Local outlier factor on a line, with every tie included (Breunig, Kriegel, Ng, Sander 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError
from wallflower.schema.exact import exact, shown

FLOOR = 1e-10
"""Added to a mean reach, in steps, as scikit-learn does: copies at distance zero then have a huge but finite density."""


@dataclass(frozen=True, kw_only=True)
class LOF:
    """The value stands out when its local outlier factor exceeds `threshold`.

    The neighbours of a point are *all* others within its k-th smallest distance, so that the factor is a function of the values and
    not of their order (scikit-learn breaks ties by position). Distances and their sums are whole numbers; the few
    divisions left are done in double precision in ascending order of value, so the answer is the same everywhere.

    >>> LOF(neighbours=2).stands_out(np.array([1, 2, 3, 4, 5, 50]), 50, step=Fraction(1))
    True
    """

    neighbours: int = 20
    """k; with fewer other values than this, all of them. 20 is scikit-learn's."""
    threshold: Fraction | str | int = Fraction(3, 2)
    """1.5 is scikit-learn's."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", exact(self.threshold, name="threshold"))
        if (
            isinstance(self.neighbours, bool)
            or not isinstance(self.neighbours, int)
            or not 1 <= self.neighbours <= 1000
        ):
            raise DeclarationError.of(self, "neighbours", "a whole number from 1 to 1000", self.neighbours)
        if exact(self.threshold) <= 0:
            raise DeclarationError.of(self, "threshold", "above 0", shown(exact(self.threshold)))

    @property
    def limit(self) -> float:
        return float(exact(self.threshold))

    @property
    def text(self) -> str:
        return f"lof(neighbours={self.neighbours}, threshold={shown(exact(self.threshold))})"

    def stands_out(self, values: NDArray[np.int64], value: int, /, *, step: Fraction) -> bool:
        return len(values) > 1 and self.factor(values, value) > self.limit

    def factor(self, values: NDArray[np.int64], value: int) -> float:
        """The factor of one copy of `value` among `values`, by the definition; for clarity, not for speed."""
        distinct, copies = np.unique(values, return_counts=True)
        points = [(int(x), int(m)) for x, m in zip(distinct, copies, strict=True)]
        k = min(self.neighbours, len(values) - 1)
        around = _neighbourhood(points, value, k)
        own = _density(points, value, k)
        total = 0.0
        for x, m in around:
            total += m * _density(points, x, k)
        return total / sum(m for _, m in around) / own


def _distance(points: list[tuple[int, int]], centre: int, k: int) -> int:
    """Distance from one copy of `centre` to its k-th nearest other."""
    left = k
    for gap, m in sorted((abs(x - centre), m - (x == centre)) for x, m in points):
        left -= m
        if left <= 0:
            return gap
    raise ValueError(k)


def _neighbourhood(points: list[tuple[int, int]], centre: int, k: int) -> list[tuple[int, int]]:
    """Values and multiplicities of all others within the k-distance of one copy of `centre`, ascending."""
    reach = _distance(points, centre, k)
    others = [(x, m - (x == centre)) for x, m in points]
    return [(x, m) for x, m in others if m and abs(x - centre) <= reach]


def _density(points: list[tuple[int, int]], centre: int, k: int) -> float:
    around = _neighbourhood(points, centre, k)
    reaches = sum(m * max(_distance(points, x, k), abs(x - centre)) for x, m in around)
    return 1.0 / (reaches / sum(m for _, m in around) + FLOOR)
