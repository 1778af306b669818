"""The paper's claims and ours on every table over up to four values, from the definitions alone."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest

from tests.identify.universe import LINE, Universe, universes
from wallflower.identify.margins import capped, every_row, paper, star, threshold
from wallflower.mechanisms.logistic import FadingResponse

EPSILON = Fraction(7, 10)
ALL = list(universes(largest=3))
FOUR = [world for world in universes(largest=4) if world.size == 4]


def name(world):
    return f"{world.size}-{world.distances[0][-1]}-r{world.radius}-b{world.beta}-k{world.k}"


@cache
def log_chances(margin, *, answer):
    """ln P(False), ln P(True): of few margins and millions of tables."""
    wrong = FadingResponse(epsilon=EPSILON).log_flip(margin)
    right = math.log1p(-math.exp(wrong))
    return (wrong, right) if answer else (right, wrong)


def worst_loss(world, margins, edges, value, answer):
    worst = 0.0
    for one, other, _ in edges:
        here, there = (log_chances(margins[t], answer=answer(value, t)) for t in (one, other))
        worst = max(worst, abs(here[0] - there[0]), abs(here[1] - there[1]))
    return worst


def check(world):
    """Everything that is claimed of one universe; returns the worst loss of each construction and what star gained."""
    losses, gained = {"star": 0.0, "paper": 0.0, "dp": 0.0}, 0
    sensitive, every = list(world.edges(sensitive_only=True)), list(world.edges(sensitive_only=False))
    for value in range(world.size):
        dp, lam, lam_star = (world.margins(margin, value) for margin in (every_row, paper, star))
        true_dp = world.distances_to_another_answer(value, sensitive_only=False)
        true_sp = world.distances_to_another_answer(value, sensitive_only=True)
        for table in world.tables:
            if sum(table) + dp[table] <= world.most:  # no shortest path is cut off by the edge of the universe
                assert true_dp[table] == dp[table], (table, value)
            assert 1 <= lam[table] <= lam_star[table]
            if table in true_sp:
                assert lam_star[table] <= true_sp[table], (table, value)
            gained += lam_star[table] > lam[table]
        for margins, edges in ((dp, every), (lam, sensitive), (lam_star, sensitive)):
            assert all(abs(margins[one] - margins[other]) <= 1 for one, other, _ in edges)
        losses["star"] = max(losses["star"], worst_loss(world, lam_star, sensitive, value, world.answer))
        losses["paper"] = max(losses["paper"], worst_loss(world, lam, sensitive, value, world.answer))
        losses["dp"] = max(losses["dp"], worst_loss(world, dp, every, value, world.answer))
    return losses, gained


@pytest.mark.parametrize("world", ALL, ids=name)
def test_margins_on_every_table(world):
    losses, _ = check(world)
    for loss in losses.values():
        assert loss == pytest.approx(float(EPSILON), abs=1e-12)  # never above, and attained


@pytest.mark.slow
@pytest.mark.parametrize("world", FOUR, ids=name)
def test_margins_on_every_table_over_four_values(world):
    losses, _ = check(world)
    assert max(losses.values()) == pytest.approx(float(EPSILON), abs=1e-12)


def test_the_new_bound_is_larger_somewhere():
    _, gained = check(Universe(LINE[2], 1, 4, 3, 9))
    assert gained > 0


@pytest.mark.parametrize("world", [w for w in ALL if w.size < 3 or w.beta < 3], ids=name)
def test_lemma_1(world):
    for table in world.tables:
        if max(table) + world.k <= world.most:
            for value in range(world.size):
                assert world.sensitive_by_definition(value, table) == world.sensitive(value, table)


@pytest.mark.parametrize("world", ALL, ids=name)
def test_the_graph_of_k_at_least_beta_is_the_graph_of_differential_privacy(world):
    same = list(world.edges(sensitive_only=True)) == list(world.edges(sensitive_only=False))
    if world.k >= world.beta:
        assert same
        for value in range(world.size):
            assert world.margins(star, value) == world.margins(every_row, value)
            assert world.margins(paper, value) == world.margins(every_row, value)
    else:
        assert not same


@pytest.mark.parametrize("world", ALL, ids=name)
def test_with_the_asked_value_included_every_row_is_protected(world):
    def answer(value, table):
        return world.within(value, table) + 1 <= world.beta

    edges = list(world.edges(sensitive_only=False))
    for value in range(world.size):
        margins = world.margins(threshold, value)
        loss = worst_loss(world, margins, edges, value, answer)
        assert loss == pytest.approx(float(EPSILON), abs=1e-12)


@pytest.mark.parametrize("cap", [2, 3, 5])
@pytest.mark.parametrize("margin", [star, paper, every_row])
def test_capped_margins_keep_the_promise(margin, cap):
    for world in ALL:
        if world.size == 2:

            def cut(copies, within, *, beta, k):
                few_copies, few = copies.clip(max=beta + cap), within.clip(max=beta + cap)
                return capped(margin(few_copies, few, beta=beta, k=k), few, beta=beta, most=cap)

            edges = list(world.edges(sensitive_only=margin is not every_row))
            for value in range(2):
                loss = worst_loss(world, world.margins(cut, value), edges, value, world.answer)
                assert loss <= float(EPSILON) + 1e-12


@pytest.mark.parametrize(
    "broken",
    [
        lambda copies, within, *, beta, k: star(copies, within, beta=beta, k=k) + 1,
        lambda copies, within, *, beta, k: paper(copies, within, beta=beta, k=k) + (copies == 0),
        lambda copies, within, *, beta, k: star(copies, within, beta=beta, k=max(k - 1, 0)),
    ],
    ids=["one too sure", "too sure of absence", "k off by one"],
)
def test_a_planted_bug_is_seen(broken):
    world = Universe(LINE[2], 1, 3, 1, 8)
    edges = list(world.edges(sensitive_only=True))
    worst = max(worst_loss(world, world.margins(broken, value), edges, value, world.answer) for value in range(2))
    assert worst > float(EPSILON) + 0.1


def test_joint_answers_cost_as_many_epsilons_as_a_row_influences():
    """Three questions on a line with radius 1: one row in the middle moves all three answers."""
    world = Universe(LINE[3], 1, 2, 3, 3)
    margins = [world.margins(star, value) for value in range(3)]
    worst = 0.0
    for one, other, _ in world.edges(sensitive_only=True):
        total = 0.0
        for value in range(3):
            here, there = (log_chances(margins[value][t], answer=world.answer(value, t)) for t in (one, other))
            total += max(abs(here[0] - there[0]), abs(here[1] - there[1]))
        worst = max(worst, total)
    assert worst <= 3 * float(EPSILON) + 1e-12
    assert worst > 2 * float(EPSILON)
