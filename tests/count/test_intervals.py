"""The interval that is bought: what is released, exactly, on neighbouring tables; coverage on tables nobody tuned it on; its price."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from tests.count import twins
from tests.count.stub import Table, declared
from wallflower.audit.exact import exact_audit
from wallflower.count import Outliers
from wallflower.count.intervals import NarrowInterval
from wallflower.count.noise import Noise
from wallflower.count.queries import measure
from wallflower.errors import UsageError
from wallflower.noise.entropy import SeededEntropy

ADJACENCIES = ["add-remove", "replace-one"]


def at_least(m, scale):
    """P(rounded Lomax noise ≥ m)."""
    return 1 - at_least(1 - m, scale) if m <= 0 else (1 + (m - Fraction(1, 2)) / scale) ** -8 / 2


def pairs_of(tables, neighbours):
    rests = {t: {t[:i] + t[i + 1 :] for i in range(len(t))} for t in tables}
    if neighbours == "add-remove":
        return [(t, rest) for t in tables for rest in rests[t]]
    return [(t, u) for t in tables for u in tables if len(t) == len(u) and rests[t] & rests[u]]


@pytest.mark.parametrize("neighbours", ADJACENCIES)
def test_the_count_and_its_interval_together_keep_the_promise(neighbours):
    """The exact law of what is released, both parts, over every table of up to three rows on five places."""
    epsilon, bought, most = Fraction(4), Fraction(8, 5), 40
    k, ball = 1, twins.Ball((1,), 1)
    noise = Noise(epsilon=epsilon, dimension=1, k=k, neighbours=neighbours, max_rows=most, wanted="lomax")
    interval = NarrowInterval(noise=noise, epsilon=bought)
    sigma = interval.lomax.sigma
    tables = [t for n in range(4) for t in itertools.combinations_with_replacement(range(5), n)]

    def law(table, *, open_scale=False):
        points = np.array(table, dtype=np.int64).reshape(-1, 1)
        horizon = min(noise.horizon, noise.cap)
        profile = twins.bounds_of(points, ball, k=k, neighbours=neighbours, cap=noise.cap, horizon=horizon)
        count, bound = twins.outliers(points, ball, k), interval.lomax.smooth(profile)
        scale = bound / sigma
        counts = {y: at_least(y - count, scale) - at_least(y + 1 - count, scale) for y in range(1, most)}
        counts |= {0: 1 - at_least(1 - count, scale), most: at_least(most - count, scale)}
        reaches = defaultdict(float)
        for rung, chance in enumerate(interval.scale.chances(interval.scale.rung(bound))):
            reaches[interval.reach(interval.scale.scale(rung))] += chance
        if open_scale:  # a planted bug: the interval of the table's own smooth bound
            reaches = {interval.reach(bound): 1.0}
        found = defaultdict(float)
        for (y, one), (reach, other) in itertools.product(counts.items(), reaches.items()):
            found[y, max(y - reach, 0), min(y + reach, most)] += float(one) * other
        return found

    pairs = pairs_of(tables, neighbours)
    found = exact_audit(law, pairs)
    assert found.within(epsilon + bought)
    assert found.loss > 2
    assert not exact_audit(lambda table: law(table, open_scale=True), pairs).within(epsilon + bought)


def shapes(seed):
    """Tables of many kinds, made after the interval was: clumps, lines, lattices, heavy tails, shells, copies."""
    rng = np.random.default_rng(20_260 + seed)
    width, size = 1 + seed % 6, 300 + 150 * (seed % 4)
    kind = ["clumps", "cauchy", "lattice", "shell", "copies", "line"][(seed // 2) % 6]
    if kind == "clumps":
        points = rng.normal(rng.integers(-200, 200, (9, width))[rng.integers(0, 9, size)], 12)
    elif kind == "cauchy":
        points = rng.standard_cauchy((size, width)) * 15
    elif kind == "lattice":
        points = 10 * rng.integers(-4, 5, (size, width))
    elif kind == "shell":
        points = rng.normal(size=(size, width))
        points *= 120 / np.linalg.norm(points, axis=1, keepdims=True)
    elif kind == "copies":
        points = np.repeat(rng.integers(-90, 90, (size // 6, width)), 6, axis=0)
    else:
        points = rng.normal(0, 4, (size, width)) + np.arange(size)[:, None]
    return np.clip(points, -(10**5), 10**5).astype(np.int64)


@pytest.mark.parametrize("neighbours", ADJACENCIES)
@pytest.mark.parametrize("seed", range(24))
def test_the_truth_is_inside_nineteen_times_out_of_twenty(seed, neighbours):
    """Exactly, not by sampling, on 24 tables of 300 to 750 rows in one to six columns."""
    points = shapes(seed)
    width = points.shape[1]
    declaration = declared(width, neighbours=neighbours, max_rows=100_000)
    query = Outliers(
        columns=[f"c{i}" for i in range(width)], neighbours=4, radius="9", epsilon="1", noise="lomax",
        interval_epsilon="auto",
    )  # fmt: skip
    noise = query.noise_for(declaration)
    interval = NarrowInterval(noise=noise, epsilon=query.interval_epsilon)
    _, profile = measure(Table(points, declaration), query.columns, query.radius, noise)
    bound = interval.lomax.smooth(profile)
    scale = float(bound / interval.lomax.sigma)
    inside = math.fsum(
        chance * (1 - (1 + (interval.reach(interval.scale.scale(rung)) + 0.5) / scale) ** -8)
        for rung, chance in enumerate(interval.scale.chances(interval.scale.rung(bound)))
    )
    assert inside >= 0.95


def narrow(**changes):
    return Outliers(
        **{
            "columns": [f"c{i}" for i in range(4)], "neighbours": 8, "radius": "9", "epsilon": "1", "noise": "lomax",
            "interval_epsilon": "0.4",
        } | changes
    )  # fmt: skip


def test_what_is_released_is_narrow_and_true():
    declaration = declared(4, neighbours="add-remove", max_rows=10**5)
    rng = np.random.default_rng(3)
    table = Table(np.concatenate([rng.normal(0, 5, (900, 4)), rng.normal(0, 400, (60, 4))]).astype(int), declaration)
    truth, _ = measure(table, narrow().columns, Fraction(9), narrow().noise_for(declaration))
    told = [narrow().run(table, SeededEntropy(seed)) for seed in range(200)]
    assert sum(low <= truth <= high for low, high in (answer["interval"] for answer in told)) >= 185
    free = narrow(interval_epsilon=None).run(table, SeededEntropy(0))["interval"]
    widths = sorted(high - low for low, high in (answer["interval"] for answer in told))
    assert widths[100] * 5 < free[1] - free[0]


def test_the_interval_is_in_the_price():
    declaration = declared(4, neighbours="add-remove", max_rows=10**5)
    price = narrow().price(declaration)
    assert price.guarantee.epsilon == Fraction(7, 5)
    assert price.mechanism["interval"] == "noisy-scale"
    assert price.mechanism["interval_scale"] == "2.5"
    assert price.settings["budget"] == "1 to count, 0.4 for the interval"
    assert "not worth" not in price.notes[1]
    assert narrow(interval_epsilon="auto").price(declaration).guarantee.epsilon == Fraction(7, 5)
    assert "can be bought" in narrow(interval_epsilon=None).price(declaration).notes[1]


def test_where_it_is_not_worth_its_price_the_price_says_so():
    small = declared(1, neighbours="add-remove", max_rows=10**5)
    query = narrow(columns=["c0"], neighbours=5)
    assert query.price(small).notes[1].endswith("It is not worth its price here.")
    assert len(narrow(columns=["c0"], neighbours=5, interval_epsilon=None).price(small).notes) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise": "laplace"}, "for nothing"),
        ({"noise": "inverse"}, "has no interval"),
        ({"interval_epsilon": "0"}, "above 0"),
        ({"interval_epsilon": "1/100000000"}, "wider than the free one"),
        ({"epsilon": "10000", "interval_epsilon": "1"}, "wider than the free one"),
    ],
)
def test_an_interval_that_makes_no_sense_is_refused_before_it_costs_anything(changes, message):
    with pytest.raises(UsageError, match=message):
        narrow(**changes).price(declared(4))


@pytest.mark.parametrize("epsilon", ["10000", "40", "1/1000000"])
@pytest.mark.parametrize("bought", ["10000", "3", "1/1000"])
def test_every_pair_of_budgets_is_priced_or_refused(epsilon, bought):
    query = narrow(epsilon=epsilon, interval_epsilon=bought)
    try:
        price = query.price(declared(4, neighbours="add-remove"))
    except UsageError:
        return
    assert price.guarantee.epsilon == Fraction(epsilon) + Fraction(bought)
    assert query.run(Table([[0] * 4] * 9, declared(4, neighbours="add-remove")), SeededEntropy(2))["interval"]
