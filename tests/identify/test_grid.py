"""One noisy grid for many questions: its cells, the exact law of all answers together, how often it is wrong, prices, planted bugs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.audit.exact import exact_audit
from wallflower.errors import UsageError
from wallflower.identify import Anomalies
from wallflower.identify.answers import FadingAnswers
from wallflower.identify.counts import of_values
from wallflower.identify.grid import GridAnswers, equal_to_one_question, grid_of, tails
from wallflower.identify.margins import anomalous
from wallflower.identify.questions import Questions
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.declaration import Becomes, Clip, Column, Declaration, Model
from wallflower.schema.domains import Numbers


def declared(*, columns=1, last=6, radius=1, beta=2, included=False, neighbours="add-remove"):
    names = tuple("xyz"[:columns])
    domain = Numbers(lower=Fraction(0), upper=Fraction(last), step=Fraction(1))
    model = Model(
        name="default", columns=names, beta=beta, radius=Fraction(radius), k=1, epsilon=Fraction(9), included=included
    )
    return Declaration(
        id="stub", source=None, key=None, neighbours=neighbours, max_rows=100, reviewed=True, test=True, ledger=Path("none"),
        budgets={}, fingerprint="", models={"default": model},
        columns={
            name: Column(name=name, role="sensitive", domain=domain, outside=Clip(), missing=Becomes(0)) for name in names
        },
    )  # fmt: skip


def asked(values, declaration):
    names = declaration.models["default"].columns
    return Questions.read([dict(zip(names, map(str, value), strict=True)) for value in values], "default", declaration)


POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@settings(deadline=None, max_examples=100)
@given(
    rows=POINTS,
    values=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6),
    included=st.booleans(),
    radius=st.sampled_from(["0", "1", "3/2", "3"]),
)
def test_cells_add_up_to_every_ball_and_a_row_is_in_one_at_most(rows, values, included, radius):
    questions = asked(values, declared(columns=2, radius=radius, included=included))
    grid = grid_of(questions)
    points = np.array(rows, dtype=np.int64).reshape(-1, 2)
    counts = grid.counts(points)
    held, near = of_values(questions.metric, points, questions.asked, cap=100)
    assert [int(counts[cells].sum()) for cells in grid.read_by] == near.tolist()
    if not included:
        assert counts[grid.own].tolist() == held.tolist()
    for row in rows[:3]:
        alone = grid.counts(np.array([row], dtype=np.int64))
        assert alone.sum() == int(any(questions.metric.near(value, np.array([row]))[0] for value in questions.asked))


def law(answers, points, *, counts=None, factor=1):
    """The exact law of all answers together, noise cut where hardly any is left."""
    noise = DiscreteLaplace(scale=answers.noise.scale / factor)
    reach = noise.reach(miss=Fraction(1, 10**4))
    chances = np.exp([noise.log_probability(z) for z in range(-reach, reach + 1)])
    chances /= chances.sum()
    true = answers.grid.counts(points) if counts is None else counts
    model, found = answers.questions.model, {}
    for drawn in itertools.product(range(2 * reach + 1), repeat=len(true)):
        noisy = [int(count) + z - reach for count, z in zip(true, drawn, strict=True)]
        near = np.array([sum(noisy[cell] for cell in cells) for cells in answers.grid.read_by])
        held = np.array([noisy[cell] for cell in answers.grid.own])
        told = tuple(anomalous(held, near, beta=model.beta, included=model.included).tolist())
        found[told] = found.get(told, 0.0) + math.prod(chances[z] for z in drawn)
    return found


def tables(places, most):
    return [t for n in range(most + 1) for t in itertools.combinations_with_replacement(places, n)]


def points_of(table):
    return np.array(table, dtype=np.int64).reshape(-1, 1)


def small(neighbours="add-remove"):
    """Two questions that share values: three cells."""
    questions = asked([(1,), (2,)], declared(last=4, included=True, neighbours=neighbours))
    answers = GridAnswers(questions=questions, grid=grid_of(questions), epsilon=Fraction(3, 2))
    assert answers.grid.cells == 3
    return answers


def pairs_of(found, neighbours):
    if neighbours == "add-remove":
        return [(t, t[:i] + t[i + 1 :]) for t in found for i in range(len(t))]
    return [(a, b) for a, b in itertools.combinations(found, 2) if len(a) == len(b) and len(set(a) - set(b)) <= 1 and sum((np.bincount(a, minlength=5) - np.bincount(b, minlength=5)).clip(0)) == 1]  # fmt: skip


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_all_answers_together_keep_their_promise(neighbours):
    answers = small(neighbours)
    query = Anomalies(values=({"x": 1}, {"x": 2}), epsilon="3/2", method="grid")
    charged = query.price(answers.questions.declaration).guarantee.epsilon
    assert charged == (2 if neighbours == "replace-one" else 1) * answers.budget
    every = tables(range(4), 3)
    laws = {table: law(answers, points_of(table)) for table in every}
    pairs = pairs_of(every, neighbours)
    worst = exact_audit(laws.__getitem__, pairs)
    assert worst.within(charged)
    if neighbours == "add-remove":
        bugged = {table: law(answers, points_of(table), factor=4) for table in every}
        assert not exact_audit(bugged.__getitem__, pairs).within(charged), "noise for a quarter of the budget"


def test_a_row_in_a_cell_of_every_question_would_be_caught():
    """Planted: a histogram of balls, in which a row between two questions is counted twice."""
    answers = small()
    balls = replace(answers.grid, cells=2, read_by=(np.array([0]), np.array([1])), own=np.array([0, 1]))

    class Once(GridAnswers):
        budget = Fraction(3, 2)  # what one count of one ball would cost

    planted = Once(questions=answers.questions, grid=balls, epsilon=Fraction(3, 2))
    every = tables(range(4), 3)

    def counts(table):
        return of_values(answers.questions.metric, points_of(table), answers.questions.asked, cap=9)[1]

    laws = {table: law(planted, None, counts=counts(table)) for table in every}
    assert not exact_audit(laws.__getitem__, pairs_of(every, "add-remove")).within(planted.budget)


@pytest.mark.parametrize("included", [True, False])
def test_it_is_wrong_no_more_often_than_one_question_alone(included):
    """Every table of up to four rows: the exact chance of each answer against `dp` at the ε of a question."""
    epsilon = Fraction(3, 2)
    questions = asked([(1,)] if not included else [(1,), (2,)], declared(last=4, included=included, beta=2))
    answers = GridAnswers(questions=questions, grid=grid_of(questions), epsilon=epsilon)
    alone = FadingAnswers(model=questions.model, epsilon=epsilon, bound="dp")
    for table in tables(range(4), 4):
        points = points_of(table)
        held, near = of_values(questions.metric, points, questions.asked, cap=100)
        truth = alone.true(held, near)
        no, yes = alone.log_chances(held, near)
        allowed = np.exp(np.where(truth, no, yes))
        chances = law(answers, points)
        for i, right in enumerate(truth):
            wrong = sum(chance for told, chance in chances.items() if told[i] != right)
            assert wrong <= allowed[i] + 2e-4


@pytest.mark.parametrize("terms", [1, 2, 7])
def test_the_tails_are_those_of_a_convolution(terms):
    fading = 0.6
    one = np.array([fading ** abs(z) for z in range(-60, 61)]) * (1 - fading) / (1 + fading)
    whole = np.array([1.0])
    for _ in range(terms):
        whole = np.convolve(whole, one)
    middle = len(whole) // 2
    expected = [whole[middle + t :].sum() for t in range(1, 30)]
    assert np.allclose(tails(terms, fading, 29), expected, atol=1e-12)


def test_one_cell_needs_the_budget_of_one_question():
    assert equal_to_one_question(1, Fraction(1, 10), included=True) == 1
    grows = [equal_to_one_question(n, Fraction(1, 10), included=False) for n in (1, 2, 9, 60, 300)]
    assert grows == sorted(grows)
    for epsilon in ("1/1000", "1/100", "40"):  # rounding would let one cell cost more than the question it is equal to
        assert equal_to_one_question(1, Fraction(epsilon), included=True) == 1
    for epsilon in ("999/1000000", "41"):
        with pytest.raises(UsageError, match="from 0\\.001 to 40"):
            equal_to_one_question(3, Fraction(epsilon), included=True)


def lattice(side, **changes):
    declaration = declared(columns=2, last=60, radius=9, beta=20, **changes)
    return tuple({"x": x, "y": y} for x in range(side) for y in range(side)), declaration


@pytest.mark.parametrize(("included", "cost"), [(True, "2.28125"), (False, "3.58125")])
def test_many_questions_cost_a_tenth_of_their_sum(included, cost):
    values, declaration = lattice(50, included=included)
    price = Anomalies(values=values, epsilon="0.1", method="cheapest-dp").price(declaration)
    assert price.guarantee.parameters == {"epsilon": cost}
    assert price.settings["method"].startswith("grid")
    assert price.settings["charges"] == f"question by question 25.3, from one grid {cost}"


def test_all_three_ways_say_both_prices():
    values, declaration = lattice(9)
    prices = [
        Anomalies(values=values, epsilon="0.1", method=m).price(declaration) for m in ("dp", "grid", "cheapest-dp")
    ]
    assert len({price.settings["charges"] for price in prices}) == 1
    costs = [price.guarantee.epsilon for price in prices]
    assert costs[2] == min(costs[:2])
    assert "charges" not in Anomalies(values=values, epsilon="0.1").price(declaration).settings


def test_few_questions_are_cheaper_one_by_one():
    query = Anomalies(values=({"x": 1}, {"x": 5}), epsilon="0.5", method="cheapest-dp")
    price = query.price(declared())
    assert price.guarantee.epsilon == Fraction(1, 2)
    assert price.settings["method"].startswith("dp")
    assert price.mechanism["name"] == "fading-response"


class Held:
    def __init__(self, table, declaration):
        self.table, self.declaration = table, declaration

    def fetch(self, *, numbers):
        from wallflower.engines.base import Fetched

        return Fetched(np.array(self.table, dtype=np.int64).reshape(-1, len(numbers)), np.zeros((0, 0), dtype=np.int32))


def test_with_a_large_budget_the_answers_are_true():
    values, declaration = tuple({"x": x} for x in range(7)), declared(beta=2)
    rows = Held([(0,), (3,), (3,), (4,), (6,)], declaration)
    told = Anomalies(values=values, epsilon="40", method="grid").run(rows, SeededEntropy(1))
    alone = Anomalies(values=values, epsilon="40", method="dp").run(rows, SeededEntropy(1))
    assert told == alone
    assert [one["anomalous"] for one in told["answers"]] == [True, False, False, False, False, False, True]
    Anomalies(values=values, epsilon="40", method="grid").prepare(rows, SeededEntropy(1))


def test_what_has_no_grid_says_so():
    values, declaration = ({"x": 1, "y": 1},), declared(columns=2, last=10**6, radius=10**5)
    with pytest.raises(UsageError, match="too many values near"):
        Anomalies(values=values, epsilon="1", method="grid").price(declaration)
    price = Anomalies(values=values, epsilon="1", method="cheapest-dp").price(declaration)
    assert price.settings["charges"] == "question by question 1, and no grid for these questions"


def test_questions_too_far_apart_for_one_number_each_have_no_grid():
    """Two corners of a plane of 2^66 values: their numbers would pass 64 bits, and values would share one."""
    values = ({"x": 0, "y": 0}, {"x": 2**33 - 1, "y": 2**33 - 1})
    with pytest.raises(UsageError, match="too many values near"):
        Anomalies(values=values, epsilon="1", method="grid").price(declared(columns=2, last=2**33, radius=1))


def test_the_cheaper_way_that_was_charged_is_the_one_that_answers(monkeypatch):
    """A coin for every question would lose 25.3, where one grid of 2.28 was charged."""
    values, declaration = lattice(6, included=True)
    query = Anomalies(values=values, epsilon="0.1", method="cheapest-dp")
    assert query.price(declaration).mechanism["name"] == "noisy-grid"
    monkeypatch.setattr(FadingAnswers, "tell", lambda *_: pytest.fail("a question had a coin of its own"))
    assert len(query.run(Held([(1, 2)], declaration), SeededEntropy(1))["answers"]) == 36


@pytest.mark.parametrize("method", ["sensitive", "dp", "grid"])
def test_a_rehearsal_knows_that_a_crowded_value_is_normal(method):
    rows = Held([(3,)] * 5, declared(beta=2))
    stage = Anomalies(values=({"x": 3},), epsilon="1", method=method).trial().on(rows)
    assert [one["anomalous"] for one in stage.truth["answers"]] == [False]
