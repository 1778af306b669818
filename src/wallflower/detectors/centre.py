"""Distances from a public centre in public units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import Written
from wallflower.detectors.registry import register
from wallflower.schema.domains import Numbers


@dataclass(frozen=True, kw_only=True)
class Centre:
    """Turns steps of a grid into scaled coordinates about a public centre.

    Nothing here comes from the rows: standardising by their own mean and deviation lets one row move all the others.

    >>> metre = Centre(steps=(Fraction(1, 2),), centres=(Fraction(10),), scales=(Fraction(5),))
    >>> metre.distance(np.array([[0], [20], [30]]))
    array([2., 0., 1.])
    """

    steps: tuple[Fraction, ...]
    centres: tuple[Fraction, ...]
    scales: tuple[Fraction, ...]

    def points(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Right to a few units in the last place however far from 0 the centre is: whole steps are subtracted before doubles round anything."""
        wholes = [round(centre / step) for step, centre in zip(self.steps, self.centres, strict=True)]
        factors = np.array([float(step / scale) for step, scale in zip(self.steps, self.scales, strict=True)])
        shifts = np.array(
            [
                float((centre - whole * step) / scale)
                for step, scale, centre, whole in zip(self.steps, self.scales, self.centres, wholes, strict=True)
            ]
        )
        # A declared grid ends below 2^53 steps; what others send may be any word, and must not wrap.
        gaps = np.clip(numbers, -(2**62), 2**62) - np.array(wholes, dtype=np.int64)
        scaled: NDArray[np.float64] = gaps * factors - shifts
        return scaled

    def distance(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        points = self.points(numbers)
        squares: NDArray[np.float64] = np.einsum("ij,ij->i", points, points)
        return np.sqrt(squares)


def on_grid(values: NDArray[np.float64], domains: Sequence[Numbers], centre: Centre) -> NDArray[np.int64]:
    """Readings in the columns' own units to steps of each grid, within the bounds; a missing one counts as the centre."""
    numbers = np.empty(values.shape, dtype=np.int64)
    for place, (domain, middle) in enumerate(zip(domains, centre.centres, strict=True)):
        steps = np.floor(values[:, place] / float(domain.step) + 0.5)
        steps = np.where(np.isnan(steps), float(domain.number(middle)), steps)
        numbers[:, place] = np.clip(steps, domain.first, domain.last).astype(np.int64)
    return numbers


@register("beyond")
@dataclass(frozen=True, kw_only=True)
class Beyond(Written):
    """Flag a point further than `radius` from the origin; the score is how much further.

    >>> Beyond(radius=2.0).score(np.array([[1.0, 1.0], [3.0, 4.0]]))
    array([0., 3.])
    """

    radius: float

    def score(self, rows: NDArray[np.float64], /) -> NDArray[np.float64]:
        squares: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows)
        return np.maximum(np.sqrt(squares) - self.radius, 0.0)
