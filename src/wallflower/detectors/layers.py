"""What a noised reading and its code say about the layer the true reading lay in: inference, which costs no privacy.

The model is public. In each layer a reading is taken to be anywhere evenly; a layer is the box of its radius about the
centre less the box of the layer inside it, cut to the declared bounds. The shares of the layers are declared, or
those that make what was received most likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.centre import Centre
from wallflower.errors import DeclarationError
from wallflower.schema.domains import Numbers

ROUNDS = 40
ENOUGH = 16384
"""Readings from which shares are estimated; more would settle digits that no decision depends on."""
LONGEST_TABLE = 2**20


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerLikelihood:
    """Posterior probability, reading by reading, that the true one lay beyond the core."""

    domains: tuple[Numbers, ...]
    noise: tuple[float, ...]
    """Scale of each column's Laplace noise, in steps."""
    answers: NDArray[np.float64]
    """P(code said | true layer), one row per layer told apart here; several may share one code."""
    centre: Centre
    radii: tuple[Fraction, ...]
    """Outer radius of every layer but the last, which ends at the bounds."""
    share: Fraction | None
    """Expected share of readings beyond the core; None to estimate it."""

    def __post_init__(self) -> None:
        if len(self.radii) + 1 != len(self.answers):
            raise DeclarationError.of(self, "radii", "one fewer than the rows of answers", self.radii)

    @cached_property
    def _boxes(self) -> list[tuple[float, list[_Side]]]:
        """Every layer with all inside it: its volume and its sides."""
        boxes = []
        for radius in (*self.radii, None):
            sides = [self._side(place, radius) for place in range(len(self.domains))]
            boxes.append((float(np.prod([side.length for side in sides])), sides))
        return boxes

    def _side(self, place: int, radius: Fraction | None) -> _Side:
        domain = self.domains[place]
        low, high = domain.lower, domain.upper
        if radius is not None:
            middle, reach = self.centre.centres[place], radius * self.centre.scales[place]
            low, high = max(low, middle - reach), min(high, middle + reach)
        return _Side(
            low=float(low / domain.step),
            high=float(high / domain.step),
            noise=self.noise[place],
            first=domain.first,
            last=domain.last,
        )

    def densities(self, noised: NDArray[np.int64]) -> NDArray[np.float64]:
        """One row per layer: how likely each noised reading is if the true one lay there, up to a common factor."""
        inside = np.zeros(len(noised))
        found, smaller = np.empty((len(self._boxes), len(noised))), 0.0
        for layer, (volume, sides) in enumerate(self._boxes):
            mass = np.ones(len(noised))
            for place, side in enumerate(sides):
                mass *= side.mass(noised[:, place])
            found[layer] = np.maximum(mass - inside, 0.0) / (volume - smaller) if volume > smaller else 0.0
            inside, smaller = mass, volume
        return found

    def posterior(self, noised: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(beyond the core) for each reading."""
        weights = self.densities(noised) * self.answers[:, codes]
        shares = self._shares(weights)
        total = shares @ weights
        core = np.divide(shares[0] * weights[0], total, out=np.ones_like(total), where=total > 0)
        return np.asarray(1.0 - core)

    def _shares(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expectation–maximisation: each round makes what was received more likely; a declared share stays as declared."""
        weights = weights[:, :: max(1, weights.shape[1] // ENOUGH)]
        shares = self._held(np.full(len(weights), 1 / len(weights)))
        for _ in range(ROUNDS):
            total = shares @ weights
            per_reading = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
            updated = self._held(shares * (weights @ per_reading) / len(total))
            if not updated.any():
                break
            moved = float(np.abs(updated - shares).max())
            shares = updated
            if moved < 1e-4:
                break
        return shares

    def _held(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.share is None:
            return shares
        beyond, outer = float(self.share), shares[1:]
        spread = outer / outer.sum() if outer.any() else np.full(len(outer), 1 / len(outer))
        return np.concatenate([[1 - beyond], beyond * spread])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Side:
    """One side of a box, in steps, and the chance that noise carries a point of it to where it was seen."""

    low: float
    high: float
    noise: float
    first: int
    last: int

    @cached_property
    def _table(self) -> NDArray[np.float64] | None:
        """The mass at every point where a reading can be seen, unless they are too many."""
        if self.last - self.first + 1 > LONGEST_TABLE:
            return None
        return self._mass(np.arange(self.first, self.last + 1, dtype=np.float64))

    @property
    def length(self) -> float:
        return self.high - self.low

    def mass(self, seen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Seen beyond the bounds says no more than seen at the bound: Laplace tails have one slope."""
        clipped = np.clip(seen, self.first, self.last)
        return self._mass(clipped.astype(np.float64)) if self._table is None else self._table[clipped - self.first]

    def _mass(self, seen: NDArray[np.float64]) -> NDArray[np.float64]:
        return _below((self.high - seen) / self.noise) - _below((self.low - seen) / self.noise)


def _below(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """The continuous Laplace distribution function, close enough to the discrete one for a decision."""
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z < 0, tail, 1.0 - tail)
