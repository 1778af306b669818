"""Two passes over blocks: the same counts, the same law and the same contexts as one selection in memory; top H without replacement."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.explain.laws import plan
from tests.explain.tables import PlainRows, declaration, every_valid, random_table, view
from wallflower.audit.exact import exact_audit
from wallflower.detectors import Distance, Grubbs
from wallflower.explain import Context, Records, streaming
from wallflower.explain.landscape import Landscape
from wallflower.explain.utilities import Population
from wallflower.explain.validity import decider
from wallflower.mechanisms.exponential import Exponential
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.declaration import Budget

DETECTOR = Distance(p="0.5", radius=2)


def landscape(seed=1, shape=(3, 2, 2), size=40):
    table = random_table(random.Random(seed), shape, size, spread=9)
    sight = view([(*table[0][:-1], 30), *table[1:]], shape)
    return Landscape(sight, decider(sight, DETECTOR), Population())


def select(land, selection, h, entropy):
    return streaming.select(
        land.view, scores=land.block_scores, candidates=land.valid_places, selection=selection, h=h, entropy=entropy
    )


@pytest.mark.parametrize("block", [1, 3, 8, 2**18])
def test_level_counts_are_those_of_memory_in_any_slicing(block, monkeypatch):
    monkeypatch.setattr(streaming, "BLOCK", block)
    for seed in range(4):
        land = landscape(seed)
        valid, scores = land.every_valid, land.every_score
        counts = streaming._counted(land.view, land.block_scores, land.valid_places)
        assert counts == Counter(scores[valid].tolist())
        order = {level: valid[scores[valid] == level].tolist() for level in counts}
        wanted = {level: sorted({0, len(held) // 2, len(held) - 1}) for level, held in order.items()}
        found = streaming._found(land.view, land.block_scores, land.valid_places, wanted, counts)
        assert found == {(level, rank): order[level][rank] for level, ranks in wanted.items() for rank in ranks}


def ordered_law(scores, h, exponent):
    """P of every ordered choice of h without replacement, by multiplying."""
    weights = {index: math.exp(float(exponent) * (score - max(scores.values()))) for index, score in scores.items()}
    law = {}
    for choice in permutations(scores, min(h, len(scores))):
        left, chance = dict(weights), 1.0
        for index in choice:
            chance *= left[index] / math.fsum(left.values())
            del left[index]
        law[choice] = chance
    return law


@pytest.mark.statistics
@pytest.mark.parametrize("h", [1, 2])
def test_draws_follow_the_law_of_memory(h, monkeypatch):
    monkeypatch.setattr(streaming, "BLOCK", 3)
    land = landscape(2, shape=(2, 3), size=12)
    valid, scores = land.every_valid.tolist(), land.every_score
    assert len(valid) > 3
    exponent, entropy = Fraction(1, 4), SeededEntropy(h)
    law = ordered_law({index: int(scores[index]) for index in valid}, h, exponent)
    draws = 3000
    seen = Counter(tuple(select(land, Exponential(exponent=exponent, monotone=True), h, entropy)) for _ in range(draws))
    assert all(len(set(choice)) == h for choice in seen)  # raw ranks would repeat
    answers = [choice for choice, chance in law.items() if chance * draws > 5]

    def fit(law):
        observed = np.array([seen[choice] for choice in answers] + [draws - sum(seen[choice] for choice in answers)])
        likely = np.array([law[choice] for choice in answers])
        likely = np.append(likely, max(1 - likely.sum(), 1e-9))
        return chisquare(observed, likely / likely.sum() * draws).pvalue

    assert fit(law) > 1e-6
    wrong = ordered_law({index: int(scores[index]) for index in valid}, h, exponent * 3)
    assert fit(wrong) < 1e-12


@pytest.mark.parametrize("h", [2, 3])
def test_top_h_loses_epsilon_and_the_price_of_one_would_not_do(h):
    """The exact law of an ordered answer on neighbours with the same valid contexts."""
    shape = (2, 3)
    priced = plan("exact", top=h)
    assert priced.selection.exponent == Fraction(1, 2) / h
    assert priced.guarantee(holds_when="-").epsilon == Fraction(1, 2)
    dice, pairs = random.Random(h), []
    for _ in range(6):
        table = ((0, 0, 30), *random_table(dice, shape, 10, spread=6))
        valid = every_valid(view(table, shape), DETECTOR)
        pairs += [
            (table, (*table, row))
            for row in random_table(dice, shape, 8, spread=6)
            if valid.sum() > h and (every_valid(view((*table, row), shape), DETECTOR) == valid).all()
        ]
    assert len(pairs) > 8

    def law_at(exponent):
        def law(table):
            sight = view(table, shape)
            held = np.flatnonzero(every_valid(sight, DETECTOR)).tolist()
            return ordered_law({index: int(sight.population[index]) for index in held}, h, exponent)

        return law

    assert exact_audit(law_at(priced.selection.exponent), pairs).within(Fraction(1, 2))
    one, other = {0: 5, 1: 5, 2: 5, 3: 5}, {0: 6, 1: 6, 2: 5, 3: 5}
    found = exact_audit(lambda s: ordered_law(s, h, Fraction(1, 2)), [(one, other)])
    assert not found.within(Fraction(1, 2))


def rows():
    table = [(1, 0, 400), *random_table(random.Random(1), (3, 2), 120, spread=20), (2, 1, -400)]
    return PlainRows(declaration((3, 2)), tuple(table), 0)


def ask(**fields):
    return Context(
        **{"record": "asked", "metric": "y", "by": ("c0", "c1"), "detector": Grubbs(), "epsilon": 2, **fields}
    )


def test_top_contexts_are_different_and_said(monkeypatch):
    answer = ask(top=3).run(rows(), SeededEntropy(1))
    assert len({str(one["context"]) for one in answer["contexts"]}) == 3
    price = ask(top=3).price(declaration((3, 2)))
    assert price.mechanism == {"name": "exponential", "exponent": "2/3", "selections": "3"}
    assert "3 selections" in price.notes[1]
    assert len(ask(top=50).run(rows(), SeededEntropy(1))["contexts"]) <= 8  # no more than there are valid
    robust = ask(top=2, guarantee="full", larger=5, epsilon=20)
    assert len(robust.run(rows(), SeededEntropy(1))["contexts"]) == 2
    assert "lesser of its rows and 5 times" in robust.price(declaration((3, 2))).settings["utility"]
    monkeypatch.setattr("wallflower.explain.queries.IN_MEMORY", 1)
    streamed = ask().price(declaration((3, 2)))
    assert streamed.mechanism["name"] == "exponential"
    assert ask().run(rows(), SeededEntropy(1)) is not None
    assert ask(guarantee="full", epsilon=20).run(rows(), SeededEntropy(1)) is not None


@pytest.mark.parametrize("seed", range(5))
def test_contexts_that_score_alike_are_each_drawn_once(seed):
    """All rows are the record's neighbours in every column: every context has the same rows, and all of them are asked for."""
    table = ((0, 0, 400), *((0, 0, y % 7) for y in range(40)))
    alike = PlainRows(declaration((3, 2)), table)
    found = ask(top=8, by=("c0", "c1")).run(alike, SeededEntropy(seed))["contexts"]
    assert len({str(one["context"]) for one in found}) == len(found) == 8


def test_a_larger_context_is_preferred_among_robust_ones():
    small, large = (
        ask(guarantee="full", epsilon=200, larger=larger).run(rows(), SeededEntropy(3)) for larger in (None, 1000)
    )
    table = rows().table

    def held(answer):
        codes = [{int(value[1:]) for value in answer["context"][name]} for name in ("c0", "c1")]
        return sum(row[0] in codes[0] and row[1] in codes[1] for row in table)

    assert held(large) >= held(small)


def test_several_records_share_epsilon_and_each_gets_its_answer():
    question = Records(records=("asked", "nobody"), question=ask())
    price = question.price(declaration((3, 2)))
    assert price.guarantee.epsilon == 2
    assert price.mechanism["exponent"] == "1"
    assert "'asked'" in price.guarantee.holds_when
    assert "'nobody'" in price.guarantee.holds_when
    answer = question.run(rows(), SeededEntropy(1))
    assert [one["record"] for one in answer["records"]] == ["asked", "nobody"]
    assert answer["records"][0]["answer"]["text"]
    assert answer["records"][1]["answer"] is None
    assert Records(records=("x", "y"), question=ask()).run(rows(), SeededEntropy(1)) is None


def test_several_records_are_made_ready_as_one_is(monkeypatch):
    """Before the charge, with the loops that each of them runs."""
    ready = []
    monkeypatch.setattr(Context, "prepare", lambda one, *given: ready.append((one.metric, one.detector, given[0])))
    made_up = rows()
    Records(records=("asked", "nobody"), question=ask()).prepare(made_up, SeededEntropy(1))
    assert (ask().metric, ask().detector, made_up) in ready


@pytest.mark.parametrize("guarantee", ["output-constrained", "full"])
def test_concentrated_losses_of_several_records_add_up(guarantee):
    """Two selections with half of epsilon each, and not one loss of ε²/2 for both."""
    counted = Budget(epsilon=Fraction(9), delta=Fraction("1e-6"), accounting="zcdp")
    declared = replace(declaration((3, 2)), budgets={"dp": counted, "output-constrained-dp": counted})
    question = ask(guarantee=guarantee)
    alone = question.price(declared).guarantee
    both = Records(records=("asked", "nobody"), question=question).price(declared).guarantee
    assert (alone.rho, both.rho) == (question.epsilon**2 / 8, question.epsilon**2 / 16)


def test_what_each_of_several_contexts_falls_short_of_is_the_best_that_is_left():
    """Where two contexts are valid and one holds far more rows, the other is released as well, however far it falls short."""
    alone, both = (ask(top=top).price(declaration((3, 2))).expected["shortfall"] for top in (1, 2))
    assert "below that of the best valid context, 19" in alone
    assert "below that of the best valid context that is not released before it, for each of them, 19" in both
    larger = ask(top=2, guarantee="full", larger=2).price(declaration((3, 2))).expected["shortfall"]
    assert "below that of the best that is not released before it, for each of them, 19" in larger


def test_settings_of_other_searches_are_said_to_be_idle():
    notes = " ".join(ask(samples=7, start="c0=v1").price(declaration((3, 2))).notes)
    assert "samples and start play no part in the exact search" in notes
    assert "play no part" not in " ".join(ask().price(declaration((3, 2))).notes)
    assert "none is known" in ask(search="bfs").price(declaration((3, 2))).expected["shortfall"]
