"""The joint price against every pair of readings on small grids, and against its closed forms."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.detectors.centre import Centre
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


@pytest.mark.parametrize(("width", "radius"), [(100, "3"), (100, "3.000000001"), (10**8, "3e6")])
def test_one_column_with_both_ends_outside_has_a_closed_form(width, radius):
    """The second comes to a hair more than a whole number of millionths."""
    price = priced([(0, width)], [Fraction(width * 2, 5)], [2], [1], [radius], 2)
    within = 2 * Fraction(radius)
    closed = (Fraction(width * 3, 5) + within) / width  # max(m + Rs − L, U − m + Rs) / (U − L), where m is nearer to L
    assert closed <= price.farthest <= closed + Fraction(2, 10**6)
    assert price.epsilon == 2 + price.farthest < 3


@pytest.mark.parametrize("scales", [(5, 5), (20, 2)])
def test_a_ball_inside_the_box_has_a_closed_form(scales):
    price = priced([(-100, 100), (-100, 100)], [0, 0], scales, [1, "1/2"], [3], 2)
    closed = 0.5 + 0.25 + 3 * float(np.hypot(1 * scales[0] / 200, 0.5 * scales[1] / 200))
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


@pytest.mark.parametrize(
    ("low", "width", "step", "scale", "radius"),
    [
        (8999999999999900, 5, "1", "7/10", "21/10"),
        (3 * 10**15, 270, "3", "7/10", "21/5"),
        ("-89999999999999.9", 3, "1/10", "7/10", "7/50"),
        (1_700_000_000, 600, "1/1000", "3", "1/3"),
        (-5, 30, "1", "3", "4/3"),
    ],
)
@pytest.mark.parametrize("part", [0, Fraction(1, 3), Fraction(1, 2)], ids=str)
def test_far_from_zero_the_layers_that_sensors_tell_lose_no_more_than_the_price(low, width, step, scale, radius, part):
    """Losses in fractions, over the layers as a sensor decides them: in doubles, which are coarse where numbers are large."""
    domain = Numbers(lower=Fraction(low), upper=Fraction(low) + width, step=Fraction(step))
    centre, scale, radius = domain.lower + width * part, Fraction(scale), Fraction(radius)
    numbers = np.unique(np.linspace(0, domain.last - domain.first, 4001).astype(np.int64)) + domain.first
    metre = Centre(steps=(domain.step,), centres=(centre,), scales=(scale,))
    outside = metre.distance(numbers[:, None]) > float(radius)
    exactly = [abs(domain.value(int(number)) - centre) / scale for number in numbers]
    close = [abs(far - radius) <= radius * Fraction(1, 10**14) for far in exactly]
    assert all(near or found == (far > radius) for far, found, near in zip(exactly, outside, close, strict=True))
    price = LayerPrice(
        domains=(domain,),
        centres=(centre,),
        scales=(scale,),
        epsilons=(Fraction(1),),
        radii=(radius,),
        code=Fraction(1),
    )
    beyond, within = numbers[outside].tolist(), numbers[~outside].tolist()
    across = max(max(beyond) - min(within), max(within) - min(beyond)) * domain.step / width
    assert 1 <= 1 + across <= price.epsilon


def test_no_word_that_others_send_wraps_a_distance():
    metre = Centre(steps=(Fraction(1),), centres=(Fraction(-(2**52)),), scales=(Fraction(1),))
    words = np.array([[2**63 - 1], [-(2**63)], [2**62], [-(2**52)]])
    assert metre.distance(words).tolist() == [2.0**62 + 2.0**52, 2.0**62 - 2.0**52, 2.0**62 + 2.0**52, 0.0]
