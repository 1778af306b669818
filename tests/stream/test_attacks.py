"""What each party can learn beyond what it is promised: everything under the paper's protocol, nothing under the private one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tests.stream import support
from wallflower.mechanisms.perturbation import NoisyColumn, Perturbation
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.domains import Numbers
from wallflower.stream import assembly, promises
from wallflower.stream.corrector import split

SERIES = bytes(8)


def at_radius(stream, radius, count):
    """Readings at one scaled distance from the centre."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    scale = float(stream.columns[0].scale)
    values = radius * scale * np.column_stack([np.cos(angles), np.sin(angles)])
    return assembly.sensor(stream, "s").quantise(values)


def said(stream, readings, seed):
    sensor = assembly.sensor(stream, "s")
    return sensor.say(readings, series=SERIES, number=0, entropy=SeededEntropy(seed))


@pytest.fixture
def paper():
    """Generous noise budgets, so that distances move little enough to show the supports within a few draws."""
    return support.declared("paper", guarantee="metric-privacy")


def test_the_corrector_tells_radii_apart_under_paper(paper):
    """A difference below −s proves a radius above s: an event with probability 0 for one reading and not for another."""
    near = said(paper, at_radius(paper, 1.0, 20_000), 1)[1].differences
    far = said(paper, at_radius(paper, 6.0, 20_000), 2)[1].differences
    slack = 0.01  # the grid
    assert (near < -1.0 - slack).sum() == 0
    assert (far < -1.0 - slack).sum() > 1000  # so no finite epsilon bounds the ratio


def test_the_corrector_has_nothing_to_see_under_private():
    stream = support.declared("private")
    assert said(stream, at_radius(stream, 6.0, 100), 1)[1] is None
    with pytest.raises(Exception, match="no corrector"):
        assembly.corrector(stream)


def test_collusion_recovers_every_radius_under_paper(paper):
    rng = np.random.default_rng(3)
    readings = assembly.sensor(paper, "s").quantise(rng.normal(size=(5000, 2)) * 10)
    noised, differences = said(paper, readings, 4)
    centre = assembly.centre(paper)
    recovered = centre.distance(noised.readings) - differences.differences
    assert np.abs(recovered - centre.distance(readings)).max() < 1e-9


def test_collusion_recovers_nothing_more_under_private():
    """All that is sent is the noised reading and the code; the same attack is left with noise as wide as the bounds."""
    stream = support.declared("private")
    rng = np.random.default_rng(3)
    readings = assembly.sensor(stream, "s").quantise(rng.normal(size=(5000, 2)) * 10)
    noised, differences = said(stream, readings, 4)
    assert differences is None
    centre = assembly.centre(stream)
    errors = np.abs(centre.distance(noised.readings) - centre.distance(readings))
    assert np.median(errors) > 10  # in units of the scale: readings themselves have radii of about 2.5


def test_the_threshold_leaks_a_radius_to_the_analyst_under_paper(paper):
    """d_c(T) = d_c(T') − d_TP for one of the presumed outliers: the analyst guesses which, and is exactly right once."""
    readings = assembly.sensor(paper, "s").quantise(np.random.default_rng(5).normal(size=(400, 2)) * 10)
    noised, differences = said(paper, readings, 6)
    centre = assembly.centre(paper)
    presumed = np.ones(400, dtype=bool)
    _, threshold = split(differences.differences, presumed)
    guesses = centre.distance(noised.readings) - threshold
    assert np.abs(guesses - centre.distance(readings)).min() < 1e-9


def exact_log_ratios(stream, one, other):
    """Every log ratio of what all parties together see, (noised reading, code), between two readings; from the laws."""
    noise = promises.perturbation(stream)
    code = promises.response(stream)
    layers = [
        np.searchsorted([float(r) for r in stream.layers], assembly.centre(stream).distance(np.array([x]))[0])
        for x in (one, other)
    ]
    table = code.likelihood()
    codes = [math.log(table[layers[0], c] / table[layers[1], c]) for c in range(code.layers)]
    columns = []
    for place, column in enumerate(noise.columns):
        scale = float(column.scale)
        seen = np.array(
            [
                column.domain.first * 3,
                column.domain.first,
                0,
                one[place],
                other[place],
                column.domain.last,
                column.domain.last * 3,
            ]
        )
        columns.append((np.abs(seen - other[place]) - np.abs(seen - one[place])) / scale)
    return [sum(parts) for parts in itertools.product(codes, *columns)]


def test_no_view_under_private_exceeds_epsilon_and_the_worst_attains_it():
    stream = support.declared("private")
    budget = float(stream.event_epsilon)
    corners = [(a, b) for a in (-10_000, 0, 10_000) for b in (-10_000, 0, 10_000)]
    worst = max(max(exact_log_ratios(stream, one, other)) for one in corners for other in corners)
    assert worst <= budget + 1e-9
    same_layer = max(exact_log_ratios(stream, (-10_000, -10_000), (10_000, 10_000)))
    assert same_layer == pytest.approx(1.5)  # equal codes lose nothing
    edge = (-1341, -671)  # the far side of the core, as seen from the corner: the pair that the price is about
    farthest = max(exact_log_ratios(stream, edge, (10_000, 10_000)))
    assert budget - 0.001 < farthest <= budget + 1e-9


def test_the_drawn_view_under_private_stays_within_epsilon():
    """A black-box look at what is really drawn: no event among many is more than e^ε as likely, up to sampling error."""
    stream = support.declared("private")
    budget = float(stream.event_epsilon)
    count = 60_000
    edge = stream.columns[0].domain.last
    views = []
    for place, reading in enumerate(((0, 0), (edge, edge))):
        noised, _ = said(stream, np.tile(np.array(reading), (count, 1)), 10 + place)
        views.append((noised.readings[:, 0] > 0) * 4 + (noised.readings[:, 1] > 0) * 2 + noised.codes)
    one, other = (np.bincount(view, minlength=8) for view in views)
    for a, b in itertools.chain(zip(one, other, strict=True), zip(other, one, strict=True)):
        assert a - 5 * math.sqrt(a + 1) <= math.exp(budget) * (b + 5 * math.sqrt(b + 1))
    assert one[0] + one[1] > 0


def test_two_columns_cost_twice():
    """The paper's epsilon in each of two columns is 2 epsilon for a reading."""
    bounds = Numbers(lower=Fraction(0), upper=Fraction(10), step=Fraction(1))
    column = NoisyColumn(domain=bounds, epsilon=Fraction(1, 10), width=Fraction(10))
    one, two = Perturbation(columns=(column,)), Perturbation(columns=(column, column))
    assert one.local().epsilon == Fraction(1, 10)
    assert two.local().epsilon == Fraction(1, 5)
    assert two.loss((0, 0), (10, 10)) == Fraction(1, 5)


def test_standardising_by_the_readings_own_mean_and_deviation_doubles_the_loss():
    """One reading moves the mean, the mean moves all others: summed over the window, as much again as its own move.

    The public centre and scale of a declaration leave every other reading where it was.
    """
    rng = np.random.default_rng(8)
    window = rng.normal(size=100_000)
    changed = window.copy()
    changed[0] += 1.0

    def own(values):
        return (values - values.mean()) / values.std()

    def public(values):
        return values / 1.0

    moved_by_own = np.abs(own(changed) - own(window)).sum() * window.std()
    moved_by_public = np.abs(public(changed) - public(window)).sum()
    assert moved_by_public == pytest.approx(1.0)
    assert moved_by_own > 1.99
