"""The made-up rows of the demo are what they are said to be: visits that come to what was asked, readings as declared."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stream import support
from wallflower.demo.made_up_values import normal, uniform
from wallflower.demo.visits import HEADER, made_up_visits
from wallflower.stream.made_up_readings import SHARE, made_up


def test_visits_add_up_to_their_patients():
    patients = [(50, 9, 41), (30, 5, 7), (0, 0, 0), (77, 130, 52), (18, 1, 3)] * 20
    lines = [dict(zip(HEADER.split(","), line.split(","), strict=True)) for line in made_up_visits(patients)]
    days = [line["day"] for line in lines]
    assert days == sorted(days)
    assert len(lines) == 250
    for place, (age, stay, cost) in enumerate(patients):
        own = [line for line in lines if line["patient"] == f"P{place + 1:04}"]
        assert len(own) == place % 4 + 1
        assert int(own[-1]["age"]) == age
        assert [sum(int(line[name]) for line in own) for name in ("stay", "cost")] == [stay, cost]
        assert len({line["day"] for line in own}) == len(own)


def test_made_up_numbers_are_spread_as_they_are_named():
    even, bell = np.array(uniform(2000, seed=3)), np.array(normal(2000, mean=500, deviation=40, seed=3))
    assert ((even > 0) & (even < 1)).all()
    assert np.histogram(even, bins=4, range=(0, 1))[0].min() > 400
    assert (bell.mean(), bell.std()) == (pytest.approx(500, abs=4), pytest.approx(40, abs=3))


def test_made_up_readings_are_a_core_and_a_tenth_beyond_it_in_the_declared_scales():
    declared = support.declared(window=300)
    readings = np.concatenate(list(made_up(declared, 2000, seed=1)))
    assert readings.shape == (2000, 2)
    scaled = (readings - [float(column.centre) for column in declared.columns]) / [
        float(column.scale) for column in declared.columns
    ]
    radius, core = np.linalg.norm(scaled, axis=1), float(declared.core_radius)
    beyond = radius > core
    assert beyond.mean() == pytest.approx(SHARE, abs=0.03)
    assert radius[beyond].min() >= 1.5 * core * (1 - 1e-9)
    for column, values in zip(declared.columns, readings.T, strict=True):
        assert float(column.domain.lower) <= values.min() < values.max() <= float(column.domain.upper)
