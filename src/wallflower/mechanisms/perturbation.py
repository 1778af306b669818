"""Noise on each reading at its source, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import DeclarationError
from wallflower.noise.bulk import LARGEST_SCALE, SMALLEST_SCALE, bulk_laplace
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import LocalDP, MetricPrivacy
from wallflower.schema.domains import Numbers
from wallflower.schema.exact import shown

FARTHEST = 2**61
"""A noised reading is clamped to this many steps on either side: post-processing that keeps it in 64 bits."""


@dataclass(frozen=True, kw_only=True)
class NoisyColumn:
    """One column's public bounds, grid and noise."""

    domain: Numbers
    epsilon: Fraction
    width: Fraction
    """Readings this far apart in this column lose `epsilon`; the bounds' distance makes that hold for every two."""

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise DeclarationError.of(self, "epsilon", "above 0", shown(self.epsilon))
        if self.width <= 0:
            raise DeclarationError.of(self, "width", "above 0", shown(self.width))
        if not SMALLEST_SCALE <= self.scale <= LARGEST_SCALE:
            raise DeclarationError(
                f"noise of {shown(self.scale)} steps cannot be drawn: width / (step · epsilon) must be from 1/1024 to 2^40.",
                hint="Choose another step for this column.",
            )

    @property
    def scale(self) -> Fraction:
        """The noise's scale in steps of the grid."""
        return self.width / (self.domain.step * self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """Clip each column to its public bounds and add discrete Laplace noise on its grid.

    Guarantee
        Inputs        two readings x, x' on the grid
        Bound         sum over columns of epsilon |x - x'| / width, distances taken after clipping
        Assumes       bounds, grid and width are public; entropy.private
        Numerics      exact: integers and fractions only
        Proof         perturbation.md
        Checked by    tests/mechanisms/test_perturbation.py

    >>> bounds = Numbers(lower=Fraction(0), upper=Fraction(10), step=Fraction(1))
    >>> two = Perturbation(columns=(NoisyColumn(domain=bounds, epsilon=Fraction(1, 2), width=Fraction(10)),) * 2)
    >>> two.loss((0, 0), (10, 5)), two.local().epsilon, two.metric().epsilon
    (Fraction(3, 4), Fraction(1, 1), Fraction(1, 1))
    """

    columns: tuple[NoisyColumn, ...]

    def loss(self, one: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
        """The exact privacy loss between two readings, in steps of each grid."""
        return sum(
            (
                abs(_clipped(a, column.domain) - _clipped(b, column.domain)) / column.scale
                for a, b, column in zip(one, other, self.columns, strict=True)
            ),
            start=Fraction(0),
        )

    def local(self) -> LocalDP:
        """The promise for every two readings: columns add up, each by how many widths its bounds are apart."""
        worst = tuple(column.domain.first for column in self.columns), tuple(c.domain.last for c in self.columns)
        return LocalDP(epsilon=self.loss(*worst))

    def metric(self) -> MetricPrivacy:
        """The promise by distance: epsilon for two readings one width apart in every column."""
        return MetricPrivacy(epsilon=sum((column.epsilon for column in self.columns), start=Fraction(0)))

    def __call__(self, readings: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        """One row per reading, one column per declared column, in steps; so is the answer."""
        noised = np.empty(readings.shape, dtype=np.int64)
        for place, column in enumerate(self.columns):
            clipped = np.clip(readings[:, place], column.domain.first, column.domain.last)
            noise = bulk_laplace(column.scale).draw(len(clipped), entropy)
            noised[:, place] = np.clip(clipped + noise, -FARTHEST, FARTHEST)
        return noised


def _clipped(steps: int, domain: Numbers) -> int:
    return min(max(steps, domain.first), domain.last)
