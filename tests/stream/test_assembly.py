"""The parties as pure machines: Figure 2 by a slow twin, decisions by the posterior, strangers dropped."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stream import support
from wallflower.detectors.centre import Beyond
from wallflower.noise.entropy import SeededEntropy
from wallflower.stream import assembly
from wallflower.stream.corrector import Corrector, split
from wallflower.stream.messages import Candidates, Corrected, Differences, Noised, Presumed, Receipt, Threshold, Window
from wallflower.stream.parser import loads

WINDOW = Window(stream=bytes(8), sensor="s", series=bytes(8), number=0)


def figure_two(differences, presumed, distances, width):
    """Steps 3 to 5 of Figure 2 as they are printed, index by index; where they are ambiguous, as the docstring of each party reads them."""
    everything = range(len(differences))
    inside = [i for i in everything if presumed[i]]
    if not inside:
        return set(), set(), set(), set()
    ordered = sorted(inside, key=lambda i: differences[i])
    gaps = [
        differences[ordered[k + 1]] - differences[ordered[k]] if k + 1 < len(ordered) else 0
        for k in range(len(ordered))
    ]
    t = ordered[gaps.index(max(gaps))]
    false_positives = {i for i in inside if differences[i] > differences[t]}
    true_positives = set(inside) - false_positives
    if len(inside) == 1:
        true_positives = set(inside)
    inner = min(differences[i] for i in true_positives)
    outer = inner + width
    others = [i for i in everything if not presumed[i]]
    second = {i for i in others if distances[i] >= inner}
    third = {i for i in others if distances[i] >= outer}
    return (
        true_positives,
        {i for i in others if differences[i] < 0},
        {i for i in second if 0 <= differences[i] <= inner},
        {i for i in third if inner <= differences[i] <= outer},
    )


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_corrector_does_what_figure_two_says(data):
    count = data.draw(st.integers(1, 25))
    numbers = st.integers(-6, 6).map(lambda n: n / 2)  # many ties
    differences = np.array(data.draw(st.lists(numbers, min_size=count, max_size=count)))
    presumed = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    distances = np.array(data.draw(st.lists(numbers.map(abs), min_size=count, max_size=count)))
    corrector = Corrector(stream=bytes(8), outlier_width=1.5)
    opening = [Differences(window=WINDOW, differences=differences), Presumed(window=WINDOW, outliers=presumed)]
    if data.draw(st.booleans()):
        opening.reverse()  # whichever comes first
    assert corrector.receive(opening[0]) == []
    (reply,) = corrector.receive(opening[1])
    if isinstance(reply, Threshold):
        candidates = Candidates(
            window=WINDOW,
            second=~presumed & (distances >= reply.inner),
            third=~presumed & (distances >= reply.outer),
        )
        (reply,) = corrector.receive(candidates)
        (again,) = corrector.receive(candidates)  # a repeated message gets the same answer
        assert again.encode() == reply.encode()
    assert isinstance(reply, Corrected)
    found = [set(np.flatnonzero(part)) for part in (reply.true_positives, reply.first, reply.second, reply.third)]
    assert found == list(figure_two(differences, presumed, distances, 1.5))
    assert set(np.flatnonzero(reply.outliers)) == set().union(*found)


def test_one_presumed_outlier_is_a_true_positive():
    true_positives, inner = split(np.array([5.0, -1.0]), np.array([True, False]))
    assert true_positives.tolist() == [True, False]
    assert inner == 5.0


def test_the_corrector_forgets_at_the_receipt_and_is_bounded():
    corrector = Corrector(stream=bytes(8), outlier_width=1.0, most_open=3)
    for number in range(10):
        window = Window(stream=bytes(8), sensor="s", series=bytes(8), number=number)
        corrector.receive(Differences(window=window, differences=np.zeros(2)))
    assert len(corrector._open) == 3
    last = Window(stream=bytes(8), sensor="s", series=bytes(8), number=9)
    corrector.receive(Receipt(window=last, digest=bytes(16)))
    assert len(corrector._open) == 2


def test_strangers_and_misfits_are_dropped_counted_and_harmless():
    stream = support.declared("paper")
    analyst, corrector = assembly.analyst(stream), assembly.corrector(stream)
    own = Window(stream=stream.fingerprint, sensor="s", series=bytes(8), number=0)
    strange = [
        Noised(window=WINDOW, readings=np.zeros((3, 2), dtype=np.int64), codes=None, layers=0),
        Noised(window=own, readings=np.zeros((3, 5), dtype=np.int64), codes=None, layers=0),
        Noised(window=own, readings=np.zeros((3, 2), dtype=np.int64), codes=np.zeros(3, dtype=np.uint8), layers=2),
        Presumed(window=own, outliers=np.ones(3, dtype=bool)),
        Receipt(window=own, digest=bytes(16)),
    ]
    for message in strange:
        assert analyst.receive(message, bytes(16)) == ([], None)
    assert analyst.dropped["foreign"] == len(strange)
    assert analyst.receive(Threshold(window=own, inner=0.0, outer=1.0), bytes(16)) == ([], None)
    assert analyst.dropped["unasked"] == 1
    assert corrector.receive(strange[0]) == []
    assert corrector.receive(Differences(window=own, differences=np.zeros(3))) == []
    assert corrector.receive(Presumed(window=own, outliers=np.ones(4, dtype=bool))) == []
    assert corrector.dropped["foreign"] == 2


@pytest.mark.parametrize("layers", ["", 'layers = ["6", "12"]'])
def test_the_analyst_decides_by_the_posterior(layers):
    """Against a slow twin that integrates the model reading by reading, with the shares held."""
    text = support.text().replace("test = true", f'test = true\noutlier_share = "0.2"\n{layers}')
    stream = loads(text)
    sensor, analyst = assembly.sensor(stream, "s"), assembly.analyst(stream)
    rng = np.random.default_rng(2)
    readings = sensor.quantise(rng.normal(size=(60, 2)) * 20)
    noised, _ = sensor.say(readings, series=bytes(8), number=0, entropy=SeededEntropy(3))
    _, decision = analyst.receive(noised, bytes(16))
    model = analyst.likelihood
    weights = model.densities(noised.readings) * model.answers[:, noised.codes]
    shares = model._shares(weights)
    assert shares[1:].sum() == pytest.approx(0.2)
    for place in range(0, 60, 7):
        slow = [
            shares[layer]
            * slow_density(stream, model, layer, noised.readings[place])
            * model.answers[layer, noised.codes[place]]
            for layer in range(len(shares))
        ]
        assert decision.probability[place] == pytest.approx(1 - slow[0] / sum(slow), rel=1e-6)
    assert np.array_equal(decision.decided, decision.probability > 0.5)


def slow_density(stream, model, layer, seen):
    """The mean of the noise's density over a box less the box inside it, by the midpoint rule in each column."""

    def box(place):
        if place < 0:
            return 0.0, 0.0
        volume, mass = 1.0, 1.0
        for column, noise, y in zip(stream.columns, model.noise, seen, strict=True):
            domain, step = column.domain, float(column.domain.step)
            low, high = float(domain.lower), float(domain.upper)
            if place < len(model.radii):
                reach = float(model.radii[place] * column.scale)
                low, high = max(low, -reach), min(high, reach)
            nearest = min(max(y, domain.first), domain.last)
            edges = np.linspace(low / step, high / step, 40_001)
            middles = (edges[1:] + edges[:-1]) / 2
            mass *= float(np.sum(np.exp(-np.abs(middles - nearest) / noise)) / (2 * noise) * (edges[1] - edges[0]))
            volume *= (high - low) / step
        return volume, mass

    (outer_volume, outer), (inner_volume, inner) = box(layer), box(layer - 1)
    return (outer - inner) / (outer_volume - inner_volume)


def test_with_little_noise_the_decision_is_the_truth_and_with_much_it_is_nothing():
    for epsilon, exact in (("1000", True), ("1/1000", False)):
        text = (
            support.text(window=2000)
            .replace('epsilon = "1"', f'epsilon = "{epsilon}"')
            .replace('epsilon = "1/2"', f'epsilon = "{epsilon}"')
        )
        stream = loads(text.replace('epsilon2 = "2"', f'epsilon2 = "{epsilon}"\noutlier_share = "0.1"'))
        sensor, analyst = assembly.sensor(stream, "s"), assembly.analyst(stream)
        readings = sensor.quantise(np.random.default_rng(0).normal(size=(2000, 2)) * 12)
        noised, _ = sensor.say(readings, series=bytes(8), number=0, entropy=SeededEntropy(1))
        _, decision = analyst.receive(noised, bytes(16))
        truth = assembly.centre(stream).distance(readings) > 3
        if exact:
            assert (decision.decided == truth).mean() > 0.999
        else:
            assert not decision.decided.any()


def test_another_detector_plugs_in():
    stream = support.declared()

    class Everything:
        def score(self, rows, /):
            return np.ones(len(rows))

    sensor = assembly.sensor(stream, "s")
    noised, _ = sensor.say(np.zeros((5, 2), dtype=np.int64), series=bytes(8), number=0, entropy=SeededEntropy(1))
    _, decision = assembly.analyst(stream, Everything()).receive(noised, bytes(16))
    assert decision.presumed.all()
    assert assembly.detector("beyond(radius=7)", Fraction(3)) == Beyond(radius=7.0)


def test_readings_are_rounded_clipped_and_never_missing():
    sensor = assembly.sensor(support.declared(), "s")
    values = np.array([[0.004, 0.006], [1e9, -1e9], [math.nan, math.inf], [-0.005, 99.999]])
    assert sensor.quantise(values).tolist() == [[0, 1], [10_000, -10_000], [0, 10_000], [0, 10_000]]


def test_the_bit_is_the_side_of_the_core_radius():
    text = support.text().replace('epsilon2 = "2"', 'epsilon2 = "60"')  # a coin that practically never flips
    stream = loads(text)
    sensor = assembly.sensor(stream, "s")
    readings = sensor.quantise(np.array([[14.99, 0.0], [15.0, 0.0], [15.01, 0.0], [0.0, -16.0]]))
    noised, _ = sensor.say(readings, series=bytes(8), number=0, entropy=SeededEntropy(1))
    assert noised.codes.tolist() == [0, 0, 1, 1]
