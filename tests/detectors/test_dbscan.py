"""Every route of DBSCAN against the definition, by brute force, on random, tied and adversarial rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.detectors.dbscan import DBSCAN
from wallflower.errors import DeclarationError


def brute_force(rows: np.ndarray, radius: float, least: int) -> np.ndarray:
    near = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2) <= radius**2
    dense = near.sum(axis=1) >= least
    return ~(near & dense[None, :]).any(axis=1)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_flags_what_the_definition_flags_with_ties(columns, data):
    """Whole coordinates, so that many rows lie exactly on the radius and every route computes without rounding."""
    count = data.draw(st.integers(1, 60))
    spread = data.draw(st.integers(1, 6))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rows = np.random.default_rng(seed).integers(-spread, spread + 1, (count, columns)).astype(float)
    radius, least = float(data.draw(st.integers(1, 5))), data.draw(st.integers(1, 8))
    flagged = DBSCAN(radius=radius, least=least).score(rows) > 0
    assert np.array_equal(flagged, brute_force(rows, radius, least))


@pytest.mark.parametrize("columns", [1, 2, 5, 8])
def test_flags_what_the_definition_flags_on_real_numbers(columns):
    rng = np.random.default_rng(columns)
    for count, radius in ((400, 0.4 * columns), (400, 0.9 * columns), (37, 3.0)):
        rows = rng.normal(size=(count, columns)) * rng.choice([1.0, 4.0], (count, 1))
        flagged = DBSCAN(radius=radius, least=6).score(rows) > 0
        assert np.array_equal(flagged, brute_force(rows, radius, 6))
        order = rng.permutation(count)
        assert np.array_equal(DBSCAN(radius=radius, least=6).score(rows[order]) > 0, flagged[order])


@pytest.mark.parametrize("columns", [1, 2, 5, 8])
def test_all_rows_in_one_place_and_no_rows_at_all(columns):
    same = np.ones((50, columns))
    assert not DBSCAN(radius=0.5, least=50).score(same).any()
    assert DBSCAN(radius=0.5, least=51).score(same).all()
    assert DBSCAN(radius=0.5, least=2).score(same[:0]).shape == (0,)
    assert DBSCAN(radius=0.5, least=2).score(same[:1]).all()
    assert not DBSCAN(radius=0.5, least=1).score(same[:1]).any()


@pytest.mark.parametrize(("radius", "least"), [(0.0, 3), (1.0, 0)])
def test_impossible_settings_are_refused(radius, least):
    with pytest.raises(DeclarationError):
        DBSCAN(radius=radius, least=least)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e7, 1e9, 1e12, 1e15])
@pytest.mark.parametrize("columns", [2, 3])
def test_far_away_rows_do_not_confuse_the_grid(columns, far):
    """One noised reading can be as far out as noise goes; a grid numbered in 32 bits breaks there."""
    rng = np.random.default_rng(3)
    rows = np.concatenate([rng.normal(size=(300, columns)), rng.normal(size=(20, columns)) * far])
    flagged = DBSCAN(radius=0.5, least=5).score(rows) > 0
    assert np.array_equal(flagged, brute_force(rows, 0.5, 5))
