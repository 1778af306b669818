"""Full differential privacy: exact audits of the selection and of the certificate, and the three ways to break the score."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from experiments.pcor_2021.variants import argmax_score

from tests.explain.tables import view
from wallflower.audit.exact import exact_audit
from wallflower.audit.properties import lipschitz_violations, one_direction_violations
from wallflower.detectors import IQR, LOF, MAD, Distance, Grubbs, Histogram
from wallflower.detectors.distance import Margins
from wallflower.detectors.flips import Flips
from wallflower.errors import UsageError
from wallflower.explain.full import Certificate, Plan, supported
from wallflower.explain.prices import price_full
from wallflower.mechanisms.laplace import DiscreteLaplace

SHAPE, LOWER, UPPER = (2, 3), -4, 12
CELLS = list(np.ndindex(*SHAPE))


def plan(detector, *, epsilon="1/2", least=1, neighbours="add-remove", certificate=None):
    return Plan(
        detector=detector,
        least=least,
        epsilon=Fraction(epsilon),
        neighbours=neighbours,
        contexts_log2=3,
        max_rows=10_000,
        certificate=certificate,
    )


def tables(dice, *, size, count):
    """Tables in which the first row, at 0, is a strong outlier of some contexts and not of others."""
    for _ in range(count):
        others = [
            (*dice.choice(CELLS), dice.choice([9, 10, 10, 10, 11, 12, 0, -4][: dice.choice([5, 8])]))
            for _ in range(size)
        ]
        yield ((0, 0, 0), *others)


def neighbours_of(table):
    """The table with any one row more."""
    for cell in CELLS:
        for y in (LOWER, -1, 0, 3, 10, UPPER):
            yield (*table, (*cell, y))


def law_of(priced):
    def law(table):
        scores = priced.scores(view(table, SHAPE, least=priced.least, lower=LOWER, upper=UPPER))
        logs = priced.selection.log_probabilities(scores.tolist())
        chances = dict(enumerate(math.exp(log) for log in logs))
        if priced.certificate is None:
            return chances
        passed = {c: p * passing(priced.certificate, int(scores[c]) // priced.unit) for c, p in chances.items()}
        return {**passed, None: 1 - math.fsum(passed.values())}

    return law


def passing(certificate, distance):
    """P(distance + noise > threshold), from the noise's own law."""
    q = math.exp(-1 / float(certificate.noise.scale))
    gap = certificate.threshold - distance
    return q ** (gap + 1) / (1 + q) if gap >= 0 else 1 - q ** (-gap) / (1 + q)


PLANS = [
    plan(Grubbs()),
    plan(Grubbs(), least=15),
    plan(Distance(p="0.3", radius=4)),
    plan(Distance(p="0.3", radius=4), least=10),
    plan(IQR(factor="0.5")),
    plan(IQR(factor="0.5"), least=10),
    plan(MAD(threshold=1)),
    plan(
        MAD(threshold=1),
        certificate=Certificate(epsilon=Fraction(1, 2), failure=Fraction(1, 20), neighbours="add-remove"),
    ),
    plan(Grubbs(), certificate=Certificate(epsilon=Fraction(1, 2), failure=Fraction(1, 20), neighbours="add-remove")),
    plan(
        Distance(p="0.3", radius=4),
        certificate=Certificate(epsilon=Fraction(1, 2), failure=Fraction(1, 20), neighbours="add-remove"),
    ),
]


@pytest.mark.parametrize("priced", PLANS, ids=lambda p: f"{p.detector.text} {p.least} {p.certificate is not None}")
def test_no_row_but_the_asked_for_one_sees_more_than_epsilon(priced):
    dice = random.Random(repr(priced))
    pairs = [
        (table, other)
        for size in (8, 25, 60)
        for table in tables(dice, size=size, count=2)
        for other in neighbours_of(table)
    ]
    found = exact_audit(law_of(priced), pairs)
    promised = priced.guarantee().epsilon
    assert found.within(promised)
    assert found.loss > 0.1


@pytest.mark.parametrize(
    "detector", [Grubbs(), Distance(p="0.3", radius=4), IQR(factor="0.5"), MAD(threshold=1)], ids=lambda d: d.text
)
def test_replacing_a_row_is_priced_for(detector):
    priced = plan(detector, neighbours="replace-one")
    dice, pairs = random.Random(3), []
    for table in tables(dice, size=40, count=3):
        for _ in range(60):
            place = dice.randrange(1, len(table))
            swapped = (*table[:place], (*dice.choice(CELLS), dice.randint(LOWER, UPPER)), *table[place + 1 :])
            pairs.append((table, swapped))
    assert exact_audit(law_of(priced), pairs).within(priced.epsilon)
    assert priced.selection.exponent <= plan(detector).selection.exponent / 2


def test_scores_move_by_at_most_one_and_margins_in_one_direction():
    dice = random.Random(9)
    pairs = [(t, o) for t in tables(dice, size=30, count=4) for o in neighbours_of(t)]

    def scores(priced):
        return cache(
            lambda table: priced.scores(view(table, SHAPE, least=priced.least, lower=LOWER, upper=UPPER)).tolist()
        )

    grubbs, near = plan(Grubbs(), least=12), plan(Distance(p="0.3", radius=4))
    robust = scores(grubbs)
    for context in range(8):
        assert not lipschitz_violations(lambda t: robust(t)[context], pairs, distance=1)  # noqa: B023 - used at once
    assert not one_direction_violations(scores(near), pairs, distance=near.unit)
    assert near.robustness.monotone
    populous = plan(Distance(p="0.3", radius=4), least=25)
    assert not populous.robustness.monotone
    assert one_direction_violations(scores(populous), pairs, distance=populous.unit)  # so it pays twice


@pytest.mark.parametrize(
    "detector", [Distance(p="1e-11", radius=1), Histogram(rare="1e-11", width=1)], ids=lambda d: d.text
)
def test_a_least_population_whose_margin_leaves_64_bits_costs_no_more(detector):
    """So many rows short of it that unit times them wraps, on one side of one added row and not on the other."""
    unit = 10**11 - 1
    for least in range(2**63 // unit, 2**63 // unit + 6):
        priced = plan(detector, epsilon="1/10", least=least)
        assert priced.unit == unit
        held = [((0, 0, 0), *(((1, 1, 9),) * rows)) for rows in range(6)]
        found = exact_audit(law_of(priced), list(pairwise(held)))
        assert found.within(Fraction(1, 10))


def test_margins_that_leave_64_bits_cost_no_more():
    """Far more rows than are declared: near ones make a context the less valid, however many there are."""
    share = Fraction(499_999_999_999_999, 10**15)
    for near in (9_223, 9_224, 18_446, 18_447, 36_894, 10**6):
        rows = np.array([near + 1, 3 * near])
        batch = SimpleNamespace(population=rows, over=lambda cells: cells)
        exact = [int(share * 10**15) * int(many) - 10**15 * near for many in rows]
        for least in (1, 5):
            found = Margins(SimpleNamespace(least=least), share, np.array([near + 1, near]), cap=10**18).scores(batch)
            assert np.clip(found, -(10**18), 10**18).tolist() == [min(max(each, -(10**18)), 10**18) for each in exact]


def test_a_planted_bug_in_the_exponent_is_caught():
    """Selecting by a score that moves either way at the price of one that moves one way."""
    priced = plan(Grubbs(), epsilon="4")
    wrong = priced.selection.exponent * 2
    rho = np.array([6, 6, 6, 6, 6, 6, 6, 0])

    def law(scores):
        weights = np.exp(float(wrong) * (np.array(scores) - max(scores)))
        return dict(enumerate((weights / weights.sum()).tolist()))

    up = rho + np.array([1, -1, -1, -1, -1, -1, -1, 0])
    assert not exact_audit(law, [(tuple(rho.tolist()), tuple(up.tolist()))]).within(priced.epsilon)


def test_a_separate_test_of_validity_breaks_the_score():
    """Three published options outside the flip condition: the most extreme value, raw values, a least population."""
    others = [4] * 75 + [5] * 150 + [6] * 75
    state = (301, sum(others), sum(z * z for z in others))
    flips = Flips(detector=Grubbs(), low=2, high=12, least=3, cap=60)
    before = flips.distance(*state)
    added = (302, state[1] + 12, state[2] + 144)
    after = flips.distance(*added)
    assert before > 5
    assert abs(before - after) <= 1  # ours
    mean = Fraction(added[1], added[0])
    assert 12 - mean > mean  # the new row is further from the mean than the asked-for one
    assert abs(before - argmax_score(after, most_extreme=12 - mean <= mean)) > 5
    assert not flips.detector.exceeds(302, state[1] + 5000, state[2] + 5000**2)  # the raw value of a clipped row: 0
    assert flips.detector.exceeds(*added)
    populous = Flips(detector=Grubbs(), low=2, high=12, least=301, cap=60)
    assert populous.distance(*state) == 1  # ours: a population at the least is one row from flipping
    removed = flips.distance(300, state[1] - 5, state[2] - 25)
    assert removed > 5  # tested outside, the removal of one row would have taken the score from `before` to 0


@pytest.mark.parametrize("detector", [LOF(), Grubbs(argmax=True)])
def test_detectors_without_a_known_distance_are_refused(detector):
    with pytest.raises(UsageError, match="full"):
        supported(detector, 1)


@pytest.mark.parametrize(("epsilon", "failure"), [("1/2", "1/100"), ("2", "1/1000000"), ("1/10", "1/4")])
def test_the_certificate_lets_an_invalid_context_past_no_more_often_than_it_says(epsilon, failure):
    certificate = Certificate(epsilon=Fraction(epsilon), failure=Fraction(failure), neighbours="add-remove")
    assert passing(certificate, 0) <= float(certificate.failure)
    if certificate.threshold > 0:
        one_less = passing(certificate, 1)
        assert one_less > float(certificate.failure) * 0.999  # a threshold one lower would not do
    noise = DiscreteLaplace(scale=certificate.noise.scale)
    tail = math.fsum(
        math.exp(noise.log_probability(x)) for x in range(certificate.threshold + 1, certificate.threshold + 4000)
    )
    assert tail == pytest.approx(passing(certificate, 0), rel=1e-9)


@pytest.mark.parametrize("top", [1, 3])
@pytest.mark.parametrize("larger", [None, 2, 50])
def test_with_what_the_price_says_it_needs_an_invalid_context_is_selected_once_in_twenty_times_at_most(larger, top):
    priced = replace(plan(Grubbs()), larger=larger, top=top)
    said = price_full(priced, {}).expected["needs"]
    changes = int(re.search(r"while any (\d+) rows change", said)[1])
    size = re.search(r"of at least (\d+) rows", said)
    rows = (
        int(size[1]) if size else changes + 1
    )  # no size is named: the smallest context that so many changes leave valid
    score = changes * priced.unit if larger is None else min(rows, larger * changes)
    robust = int(found[1]) if (found := re.search(r"^(\d+) contexts", said)) else 1
    for taken in range(top):  # of several each is drawn from those that are left, and a robust one must be among them
        left = [score] * (robust - taken) + [0] * (2**priced.contexts_log2 - robust)
        good = priced.selection.log_probabilities(left)[: max(robust - taken, 0)]
        assert 1 - sum(map(math.exp, good)) <= 1 / 20
