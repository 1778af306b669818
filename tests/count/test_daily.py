"""Daily counts: how far one row can move them, the exact loss of whole series through the real code, and bugs that must be caught."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.count import twins
from wallflower.count.daily import DailyOutliers
from wallflower.count.sensitivity import stream_sensitivity
from wallflower.count.tree import Tree, reach_of_sum
from wallflower.engines.base import Fetched
from wallflower.geometry.balls import Ball
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.schema.declaration import Becomes, Clip, Column, Declaration
from wallflower.schema.domains import EPOCH, Dates, Numbers

START = date(2020, 1, 1)
FIRST = (START - EPOCH).days


def declared(columns=1, **changes):
    numbers = Numbers(lower=Fraction(-1000), upper=Fraction(1000), step=Fraction(1))
    days = Dates(lower=date(2019, 1, 1), upper=date(2031, 12, 31))
    made = {
        f"x{i}": Column(name=f"x{i}", role="sensitive", domain=numbers, outside=Clip(), missing=Becomes(0))
        for i in range(columns)
    }
    made["added"] = Column(name="added", role="insensitive", domain=days, outside=Clip(), missing=Becomes(FIRST))
    about = {
        "id": "stub", "source": None, "key": None, "neighbours": "add-remove", "max_rows": 100, "reviewed": True, "test": True,
        "ledger": Path("none"), "budgets": {}, "fingerprint": "", "grows": True, "columns": made,
    }  # fmt: skip
    return Declaration(**about | changes)


def question(columns=1, **changes):
    asked = {
        "measures": [f"x{i}" for i in range(columns)], "daily": "added", "start": START, "horizon": 4, "neighbours": 1,
        "radius": 1, "epsilon": 1,
    }  # fmt: skip
    return DailyOutliers(**asked | changes)


class Grown:
    """Rows are (place, day from 1 on), places tuples."""

    def __init__(self, rows, declaration):
        self.rows, self.declaration = rows, declaration

    def fetch(self, *, numbers):
        width = len(numbers) - 1
        cells = [[*place, FIRST - 1 + day] for place, day in self.rows]
        return Fetched(np.array(cells, dtype=np.int64).reshape(-1, width + 1), np.zeros((0, 0), dtype=np.int32))


class NoNoise:
    def __call__(self, value, _entropy):
        return value

    def reach(self, *, miss):
        return 0

    scale = Fraction(0)


class Silent(DailyOutliers):
    """The same question without noise: what its sums are before they are noised."""

    def noise(self, neighbours):
        return NoNoise()


def silent(columns=1, **changes):
    return Silent(**{name: getattr(question(columns, **changes), name) for name in ("measures", "daily", "start", "horizon", "neighbours", "radius", "epsilon")})  # fmt: skip


def sums_of(query, arrivals, moments, declaration):
    """The exact sums when rows ((place, day), moment of arrival) are read at every `moments`, each until its day."""
    kept = []
    for moment in moments:
        seen = [row for row, arrival in arrivals if arrival <= moment]
        until = START + timedelta(days=moment - 1)
        told = type(query)(**{**_held(query), "through": until})
        kept, _ = told.go_on(kept, Grown(seen, declaration), None)
    return kept


def _held(query):
    return {each.name: getattr(query, each.name) for each in fields(query)}


def loss_of(query, one, other, moments, declaration):
    """The exact worst loss of the whole series: sums of independent discrete Laplace draws lose |move|/scale each."""
    quiet = silent(
        len(query.measures), **{n: getattr(query, n) for n in ("horizon", "neighbours", "radius", "epsilon")}
    )
    first, second = (sums_of(quiet, rows, moments, declaration) for rows in (one, other))
    moved = sum(abs(a - b) for a, b in zip(first, second, strict=True))
    return moved / query.noise(declaration.neighbours).scale


def variation(with_row, without):
    increases = [np.diff([0, *counts]) for counts in (with_row, without)]
    return int(np.abs(increases[0] - increases[1]).sum())


def counts_along(chain, ball, k):
    return [
        twins.outliers(np.array(rows, dtype=np.int64).reshape(-1, len(ball.weights)), ball, k) if rows else 0
        for rows in chain
    ]


def moved_by(rows, ball, k):
    """How far the row "p", at the origin, moves the increases of the chain in which `rows` come one after another."""
    origin = (0,) * len(ball.weights)
    prefixes = [rows[:n] for n in range(1, len(rows) + 1)]
    with_row = [[origin if each == "p" else each for each in prefix] for prefix in prefixes]
    without = [[each for each in prefix if each != "p"] for prefix in prefixes]
    return variation(counts_along(with_row, ball, k), counts_along(without, ball, k))


@pytest.mark.parametrize(("k", "most"), [(1, 6), (2, 10), (3, 14)])
def test_the_bound_is_attained(k, most):
    """It comes as an outlier; the rows around it are inliers for its sake alone, until others come near them."""
    rows = ["p", *[(-1,)] * k, *[(1,)] * k, (-2,), (2,)]
    assert moved_by(rows, Ball(weights=(1,), limit=1), k) == most == stream_sensitivity(1, k)


def test_the_bound_is_attained_on_the_pentagon():
    """Five rows around the added one, pairwise further than r apart: 12 in two columns."""
    ring = [(round(100 * math.cos(2 * math.pi * i / 5)), round(100 * math.sin(2 * math.pi * i / 5))) for i in range(5)]
    far = [(2 * x, 2 * y) for x, y in ring]
    assert moved_by(["p", *ring, *far], Ball(weights=(1, 1), limit=101**2), 1) == 12 == stream_sensitivity(2, 1)


PLACES = st.integers(-3, 3).map(lambda x: (x,))
ARRIVALS = st.lists(
    st.tuples(st.tuples(PLACES, st.integers(-1, 6)), st.integers(1, 6)), max_size=9
)  # ((place, day it names), moment it arrives)


@settings(deadline=None, max_examples=250)
@given(
    arrivals=ARRIVALS,
    added=st.tuples(st.tuples(PLACES, st.integers(-1, 6)), st.integers(1, 6)),
    k=st.integers(1, 3),
    moments=st.sets(st.integers(1, 6), min_size=1).map(sorted),
)
def test_no_stream_moves_the_series_further_than_it_is_charged(arrivals, added, k, moments):
    """Whatever days rows name and whenever they arrive: late, early, before the start; read daily or seldom."""
    declaration = declared()
    query = question(neighbours=k, horizon=6)
    assert loss_of(query, [*arrivals, added], arrivals, moments, declaration) <= query.epsilon
    assert query.price(declaration).guarantee.epsilon == query.epsilon


@settings(deadline=None, max_examples=150)
@given(arrivals=ARRIVALS, two=st.lists(st.tuples(st.tuples(PLACES, st.integers(1, 6)), st.integers(1, 6)), min_size=2, max_size=2), k=st.integers(1, 2))  # fmt: skip
def test_replacing_a_row_costs_no_more_than_is_charged(arrivals, two, k):
    declaration = declared(neighbours="replace-one")
    query = question(neighbours=k, horizon=6)
    moments = range(1, 7)
    assert loss_of(query, [*arrivals, two[0]], [*arrivals, two[1]], moments, declaration) <= query.epsilon


@pytest.mark.parametrize("levels", [1, 2])
def test_every_small_stream_through_the_real_code(levels, monkeypatch):
    """All streams of up to three rows and one more, over three days, with one level and with two."""
    tree = Tree(horizon=3, arity=2, levels=levels)
    monkeypatch.setattr(Tree, "best", classmethod(lambda _cls, _horizon: tree))
    declaration, query, worst = declared(), question(horizon=3), 0
    cells = [((place,), day) for place in range(3) for day in range(1, 4)]

    @cache
    def sums(stream):
        return sums_of(silent(horizon=3), [(row, row[1]) for row in stream], (1, 2, 3), declaration)

    for number in range(4):
        for stream in itertools.combinations_with_replacement(cells, number):
            for row in cells:
                with_row = sums(tuple(sorted((*stream, row))))
                worst = max(worst, sum(abs(a - b) for a, b in zip(with_row, sums(stream), strict=True)))
    scale = query.noise("add-remove").scale
    assert worst / scale <= query.epsilon
    assert worst >= 4, "the search must reach streams in which rows cross and cross back"


def attained():
    """A stream in which rows cross on one day and back on another, the row that is added to it, and when it is read."""
    rows = [((-1,), 2), ((1,), 3), ((-2,), 5), ((2,), 6)]
    return [(row, row[1]) for row in rows], (((0,), 1), 1), range(1, 7)


def test_noise_for_one_level_only_would_be_caught(monkeypatch):
    tree = Tree(horizon=6, arity=2, levels=2)
    monkeypatch.setattr(Tree, "best", classmethod(lambda _cls, _horizon: tree))
    arrivals, added, moments = attained()
    query, declaration = question(horizon=6), declared()
    honest = loss_of(query, [*arrivals, added], arrivals, moments, declaration)
    assert honest <= 1

    class OneLevel(DailyOutliers):
        def _distance(self, neighbours):
            return super()._distance(neighbours) // self.tree.levels

    assert loss_of(OneLevel(**_held(query)), [*arrivals, added], arrivals, moments, declaration) == 2 * honest > 1


def test_a_bound_without_the_two_would_be_caught(monkeypatch):
    """The added row comes as an outlier and ceases to be one: one level, sums of single days."""
    monkeypatch.setattr(Tree, "best", classmethod(lambda _cls, horizon: Tree(horizon=horizon, arity=2, levels=1)))
    arrivals, added, moments = attained()
    query, declaration = question(horizon=6), declared()
    assert loss_of(query, [*arrivals, added], arrivals, moments, declaration) == 1

    class WithoutTwo(DailyOutliers):
        def _distance(self, neighbours):
            return super()._distance(neighbours) - 2

    assert loss_of(WithoutTwo(**_held(query)), [*arrivals, added], arrivals, moments, declaration) > 1


def test_a_node_that_is_drawn_again_would_be_caught():
    """Two draws of one sum lose twice: the exact law of what is told when kept sums are not gone on from."""
    declaration, query = declared(), question(horizon=1)
    one, other = [], [(((0,), 1), 1)]
    moved = abs(
        sums_of(silent(horizon=1), one, (1,), declaration)[0] - sums_of(silent(horizon=1), other, (1,), declaration)[0]
    )
    noise = query.noise("add-remove")
    honest = noise.log_probability(0) - noise.log_probability(moved)
    assert honest <= float(query.epsilon)
    enough = math.ceil(float(query.epsilon) / honest) + 1
    assert enough * honest > float(query.epsilon), "as many draws of one stretch would break the promise"
    kept, told = query.go_on([7], Grown([], declaration), None)  # entropy is never asked: nothing is drawn
    assert (kept, told["days"][0]["count"]) == ([7], 7)


@pytest.mark.parametrize("days", [8, 16, 40])
def test_edits_would_move_every_day(days):
    """A row near the added one that comes and goes, or moves away and back: L1 grows with the number of days."""
    ball = Ball(weights=(1,), limit=1)
    chain = [[(2,)] if day % 2 else [(50,)] for day in range(days)]
    with_row = [[*rows, (1,)] for rows in chain]
    found = variation(counts_along(with_row, ball, 1), counts_along(chain, ball, 1))
    assert found > days > stream_sensitivity(1, 1)


@pytest.mark.parametrize("window", [12, 24])
def test_a_window_would_break_the_bound(window):
    """Rows leave it and others come, in turn: the rows near the added one cross again and again while it is there."""
    ball, k = Ball(weights=(1,), limit=1), window // 2
    # Arrived before the added row, these leave on odd days; as many come on even days.
    near = [-window + day for day in range(1, window, 2)] + list(range(0, window, 2))

    def inside(day, *, added):
        rows = [(1,) for arrival in near if day - window < arrival <= day]
        return [*rows, *([(0,)] if added else [])]

    days = range(window)
    with_row, without = ([inside(day, added=added) for day in days] for added in (True, False))
    assert variation(counts_along(with_row, ball, k), counts_along(without, ball, k)) > 2 * stream_sensitivity(1, k)


def test_a_late_row_is_seen_by_sums_that_close_after_it_came():
    declaration, query = declared(), silent(horizon=4)
    on_time, late = ([(((5,), 1), 1)], [(((5,), 1), 3)])
    assert query.tree.levels == 1
    assert sums_of(query, on_time, (1, 2, 3, 4), declaration) == [1, 0, 0, 0]
    # Its day was told before it came: both ends of every later sum hold it.
    assert sums_of(query, late, (1, 2, 3, 4), declaration) == [0, 0, 0, 0]
    # A series that is asked seldom sees it where it belongs.
    assert sums_of(query, late, (4,), declaration) == [1, 0, 0, 0]
    # The day on which it was added, in place of its own, makes it count from when it is seen.
    assert sums_of(query, [(((5,), 3), 3)], (1, 2, 3, 4), declaration) == [0, 0, 1, 0]


@pytest.mark.parametrize("horizon", [1, 7, 30, 90, 365, 3660])
def test_the_tree_adds_up_to_every_day(horizon):
    tree = Tree.best(horizon)
    values = list(range(1, horizon + 1))
    sums = [sum(values[day - tree.length(day) : day]) for day in values]
    assert tree.totals(sums) == list(itertools.accumulate(values))
    for day in range(1, horizon + 1, 7):
        assert len(list(tree.path(day))) == tree.terms(day)
    assert tree.mean_terms == Fraction(sum(tree.terms(day) for day in values), horizon)


def test_the_best_tree_is_the_best_of_all():
    for horizon in (1, 2, 5, 20, 60):
        every = [Tree(horizon=horizon, arity=b, levels=n) for n in range(1, 7) for b in range(2, horizon + 2) if b ** (n - 1) <= horizon]  # fmt: skip
        least = min(tree.levels**2 * tree.mean_terms for tree in every)
        best = Tree.best(horizon)
        assert best.levels**2 * best.mean_terms == least


def test_a_row_is_in_at_most_one_stretch_of_each_length():
    tree = Tree.best(365)
    for length in {tree.length(day) for day in range(1, 366)}:
        ends = [day for day in range(1, 366) if tree.length(day) == length]
        assert all(b - a >= length for a, b in itertools.pairwise(ends))
    assert len({tree.length(day) for day in range(1, 366)}) == tree.levels == 2


def test_the_figures_of_the_price():
    """A(2)·5 = 25, 365 days, ε = 1: 626 instead of 12,905."""
    price = question(columns=2, neighbours=5, radius=10, horizon=365).price(declared(columns=2))
    assert price.mechanism["arity"] == "20"
    assert price.mechanism["scale"] == str(2 * 52)
    assert "626 rows; 365 separate counts at the same price would have 12905" in price.expected["error_over_all_days"]
    assert price.guarantee.parameters == {"epsilon": "1"}
    twice = question(columns=2, neighbours=5, radius=10, horizon=365).price(
        declared(columns=2, neighbours="replace-one")
    )
    assert (twice.mechanism["scale"], twice.guarantee.parameters) == (str(4 * 52), {"epsilon": "1"})


@pytest.mark.parametrize(("terms", "scale"), [(1, 3), (2, 1), (2, 10), (5, 4), (12, 20), (30, 6)])
def test_the_interval_covers_what_it_says(terms, scale):
    """The exact law of a sum of discrete draws, by convolution: 19 times out of 20, and hardly a row more."""
    noise = DiscreteLaplace(scale=Fraction(scale))
    reach = DailyOutliers._reach(terms, noise)
    wide = 60 * scale
    one = np.exp([noise.log_probability(z) for z in range(-wide, wide + 1)])
    law = np.array([1.0])
    for _ in range(terms):
        law = np.convolve(law, one)
    middle = len(law) // 2
    covered = law[middle - reach : middle + reach + 1].sum()
    assert covered >= 0.95
    assert law[middle - reach + 1 + scale // 4 : middle + reach - scale // 4].sum() < 0.95 + 0.02 / scale
    assert reach_of_sum(terms, Fraction(1, 20)) < reach_of_sum(terms + 1, Fraction(1, 20))
