"""What a noised reading and the randomised code of its layer cost together: less than their sum."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from wallflower.schema.domains import Numbers

MOST_COLUMNS = 8
"""Corners of the box are tried one by one; with more columns the sum is charged."""
SLACK = 1e-9
"""Radii are widened and narrowed by this, far beyond any rounding of a distance, so that no pair is missed."""
GRAIN = 10**6
"""The farthest pair is rounded up to a millionth."""


@dataclass(frozen=True, kw_only=True)
class LayerPrice:
    """The exact price of columns noised over their whole bounds, beside a code of the layer of the *clipped* reading.

    Guarantee
        Inputs        any two readings
        Bound         max(Σ ε_j, ε₂ + D), D the largest Σ ε_j |x_j − x'_j| / w_j between two readings of different layers
        Assumes       noise and code are drawn independently from the same clipped reading on the grid
        Numerics      D is rounded up
        Proof         layer_price.md
        Checked by    tests/mechanisms/test_layer_price.py
    """

    domains: tuple[Numbers, ...]
    centres: tuple[Fraction, ...]
    scales: tuple[Fraction, ...]
    epsilons: tuple[Fraction, ...]
    radii: tuple[Fraction, ...]
    code: Fraction
    """ε₂, what the code alone costs."""

    @property
    def noised(self) -> Fraction:
        return sum(self.epsilons, start=Fraction(0))

    @cached_property
    def farthest(self) -> Fraction | None:
        """D, rounded up; None when no two readings lie in different layers."""
        if not any(self.epsilons):
            return Fraction(0)
        if len(self.domains) > MOST_COLUMNS:
            return self.noised
        found = [self._across(float(radius)) for radius in self.radii]
        most = max((each for each in found if each is not None), default=None)
        return None if most is None else min(self.noised, Fraction(math.ceil(most * GRAIN + SLACK), GRAIN))

    @cached_property
    def epsilon(self) -> Fraction:
        apart = self.farthest
        return self.noised if apart is None else max(self.noised, self.code + apart)

    def _across(self, radius: float) -> float | None:
        """The largest weighted distance between a reading within `radius` and one beyond it; None when none is beyond."""
        best = None
        for signs in itertools.product((1.0, -1.0), repeat=len(self.domains)):
            slopes = [
                sign * float(epsilon / (domain.upper - domain.lower))
                for sign, epsilon, domain in zip(signs, self.epsilons, self.domains, strict=True)
            ]
            beyond = self._least_beyond(slopes, radius * (1 - SLACK))
            if beyond is not None:
                across = self._most_within(slopes, radius * (1 + SLACK)) - beyond
                best = across if best is None else max(best, across)
        return best

    def _most_within(self, slopes: list[float], radius: float) -> float:
        """An upper bound of max a·(x − m) over the ball and the box: along clip(λ a s²), with λ a little too large."""
        sides = self._sides()

        def at(stretch: float) -> list[float]:
            return [
                min(max(stretch * slope * scale * scale, low), high)
                for slope, (low, high, scale) in zip(slopes, sides, strict=True)
            ]

        low, high = 0.0, 1.0
        while self._size(at(high)) < radius and high < 1e300:
            high *= 2
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if self._size(at(middle)) < radius else (low, middle)
        return sum(slope * place for slope, place in zip(slopes, at(high), strict=True))

    def _least_beyond(self, slopes: list[float], radius: float) -> float | None:
        """min a·(x − m) over the box outside the open ball: at a corner, or where an edge leaves the ball."""
        sides = self._sides()
        best = None
        for corner in itertools.product((0, 1), repeat=len(sides)):
            places = [side[end] for side, end in zip(sides, corner, strict=True)]
            candidates = [places] if self._size(places) >= radius else []
            for column, (low, high, scale) in enumerate(sides):
                others = [place for at, place in enumerate(places) if at != column]
                scales = [side[2] for at, side in enumerate(sides) if at != column]
                rest = radius**2 - sum((place / unit) ** 2 for place, unit in zip(others, scales, strict=True))
                if rest < 0:
                    continue
                candidates += [
                    [*places[:column], crossing, *places[column + 1 :]]
                    for crossing in (-math.sqrt(rest) * scale, math.sqrt(rest) * scale)
                    if low <= crossing <= high
                ]
            for candidate in candidates:
                value = sum(slope * place for slope, place in zip(slopes, candidate, strict=True))
                best = value if best is None else min(best, value)
        return best

    def _sides(self) -> list[tuple[float, float, float]]:
        """Of each column: its bounds as seen from the centre, and its scale."""
        return [
            (float(domain.lower - centre), float(domain.upper - centre), float(scale))
            for domain, centre, scale in zip(self.domains, self.centres, self.scales, strict=True)
        ]

    def _size(self, places: list[float]) -> float:
        return math.sqrt(sum((place / float(scale)) ** 2 for place, scale in zip(places, self.scales, strict=True)))
