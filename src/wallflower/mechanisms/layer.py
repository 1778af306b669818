"""A randomised code for how far out a reading lies: the private stand-in for the paper's distance differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from wallflower.noise.bulk import BulkResponse, bulk_response
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import LocalDP


@dataclass(frozen=True, kw_only=True)
class LayerResponse:
    """Keep a layer's code with probability e^ε / (e^ε + layers − 1), else say any other evenly.

    Guarantee
        Inputs        any two codes
        Bound         LocalDP(epsilon), and 0 between equal codes
        Assumes       the layers' radii are public; entropy.private
        Numerics      exact coin
        Proof         layer.md
        Checked by    tests/mechanisms/test_perturbation.py
    """

    epsilon: Fraction
    layers: int = 2
    """Two layers make the radius bit: core or not."""

    def __post_init__(self) -> None:
        BulkResponse(self.epsilon, self.layers)  # refuses what it cannot draw

    def guarantee(self) -> LocalDP:
        return LocalDP(epsilon=self.epsilon)

    def __call__(self, codes: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        return bulk_response(self.epsilon, self.layers).draw(codes, entropy)

    def likelihood(self) -> NDArray[np.float64]:
        """P(said | true), one row per true layer; for decisions, where a float is good enough."""
        keep = 1 / (1 + (self.layers - 1) * math.exp(-float(self.epsilon)))
        table = np.full((self.layers, self.layers), (1 - keep) / (self.layers - 1))
        np.fill_diagonal(table, keep)
        return table
