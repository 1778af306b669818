"""The joint price against every pair of readings on small grids, and against its closed forms."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.mechanisms.layer_price import LayerPrice
from wallflower.schema.domains import Numbers


def priced(bounds, centres, scales, epsilons, radii, code):
    return LayerPrice(
        domains=tuple(Numbers(lower=Fraction(a), upper=Fraction(b), step=Fraction(1)) for a, b in bounds),
        centres=tuple(map(Fraction, centres)),
        scales=tuple(map(Fraction, scales)),
        epsilons=tuple(map(Fraction, epsilons)),
        radii=tuple(map(Fraction, radii)),
        code=Fraction(code),
    )


def worst(price):
    """The largest loss over every pair of the grid."""
    sides = [range(domain.first, domain.last + 1) for domain in price.domains]
    points = np.array(list(itertools.product(*sides)), dtype=float)
    centre, scale = np.array(price.centres, dtype=float), np.array(price.scales, dtype=float)
    distance = np.sqrt((((points - centre) / scale) ** 2).sum(axis=1))
    layer = np.searchsorted(np.array(price.radii, dtype=float), distance, side="left")
    weight = np.array([float(e / (d.upper - d.lower)) for e, d in zip(price.epsilons, price.domains, strict=True)])
    apart = (np.abs(points[:, None, :] - points[None, :, :]) * weight).sum(axis=2)
    return float((apart + float(price.code) * (layer[:, None] != layer[None, :])).max())


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_no_pair_loses_more_than_the_price_and_the_price_is_never_above_the_sum(data):
    columns = data.draw(st.integers(1, 3))
    most = {1: 60, 2: 12, 3: 5}[columns]
    bounds = [(low, low + data.draw(st.integers(1, most))) for low in data.draw(st.lists(st.integers(-9, 9), min_size=columns, max_size=columns))]  # fmt: skip
    centres = [data.draw(st.integers(low, high)) for low, high in bounds]
    scales = [data.draw(st.integers(1, 4)) for _ in bounds]
    epsilons = [Fraction(data.draw(st.integers(1, 8)), 4) for _ in bounds]
    radii = sorted(data.draw(st.sets(st.integers(1, 12), min_size=1, max_size=3)))
    price = priced(bounds, centres, scales, epsilons, [Fraction(radius, 2) for radius in radii], "3/2")
    assert worst(price) <= float(price.epsilon) + 1e-9
    assert price.noised <= price.epsilon <= price.noised + price.code


def test_one_column_with_both_ends_outside_has_a_closed_form():
    price = priced([(0, 100)], [40], [2], [1], [3], 2)
    closed = max(Fraction(40 + 6), Fraction(60 + 6)) / 100  # max(m + Rs − L, U − m + Rs) / (U − L)
    assert closed <= price.farthest <= closed + Fraction(2, 10**6)
    assert price.epsilon == 2 + price.farthest < 3


def test_a_ball_inside_the_box_has_a_closed_form():
    price = priced([(-100, 100), (-100, 100)], [0, 0], [5, 5], [1, "1/2"], [3], 2)
    closed = 0.5 + 0.25 + 3 * float(np.hypot(1 * 5 / 200, 0.5 * 5 / 200))
    assert float(price.farthest) == pytest.approx(closed, abs=2e-6)


def test_a_core_as_wide_as_the_bounds_costs_no_code():
    assert priced([(0, 10)], [5], [1], [1], [5], 2).farthest is not None  # its ends may be rounded either way
    assert priced([(0, 10)], [5], [1], [1], [6], 2).epsilon == 1


def test_a_layer_of_the_unclipped_reading_breaks_the_price():
    """The planted bug: raw 11 is noised as 10 but called outside; against 0 that loses ε₁ + ε₂."""
    price = priced([(0, 10)], [5], [1], [1], ["5.1"], 2)
    assert price.epsilon == 1
    lost = 1 * (10 - 0) / 10 + 2  # what such a sensor would lose between raw 11 and raw 0
    assert lost > price.epsilon
