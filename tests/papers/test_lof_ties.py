"""Scikit-learn's local outlier factor depends on the order of tied rows; the one here does not.

PCOR's promise is about sets of contexts in which a record stands out. With a detector that sees the order of rows, the same table has
several such sets.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor

from wallflower.detectors import LOF


def orders(seed: int) -> list[list[int]]:
    """The value 5 among nine others on both sides of it, with ties; then the others in other orders."""
    chance = random.Random(seed)
    others = [chance.randrange(11) for _ in range(9)]
    return [[5, *chance.sample(others, len(others))] for _ in range(12)]


def of_first(values: list[int]) -> float:
    """Scikit-learn's factor of the first row, larger is stranger."""
    return -LocalOutlierFactor(n_neighbors=3).fit(np.array(values, dtype=float)[:, None]).negative_outlier_factor_[0]


@pytest.mark.filterwarnings("ignore:Duplicate values are leading to incorrect results")
def test_the_library_sees_the_order_of_tied_rows():
    changed = [seed for seed in range(60) if np.ptp([of_first(values) for values in orders(seed)]) > 1e-6]
    assert changed


def test_the_factor_here_does_not():
    for seed in range(60):
        assert len({LOF(neighbours=3).factor(np.array(values), 5) for values in orders(seed)}) == 1
