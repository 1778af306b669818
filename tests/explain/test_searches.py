"""Exact audits of every search, as shipped: on all neighbours of small tables, at their bound, and one step beyond it."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.explain.laws import Small, begin, law, looked_at, plan
from wallflower.audit.exact import exact_audit
from wallflower.audit.universes import add_remove_pairs, replace_one_pairs
from wallflower.detectors import Distance
from wallflower.explain import searches
from wallflower.explain.distributions import distribution
from wallflower.mechanisms.exponential import Exponential
from wallflower.noise.entropy import SeededEntropy

ALL = ("exact", "uniform", "walk", "dfs", "bfs")
DETECTOR = Distance(p="0.5", radius=1)
WITNESSES = {
    "bfs": (3, (0, 2, 3, 5, 6, 7), (40, 0, 20, 0, 100, 60, 100, 60), (41, 1, 21, 0, 100, 61, 100, 60), 2),
    "dfs": (3, (1, 2, 3, 5, 6, 7), (100, 100, 20, 0, 0, 40, 0, 40), (100, 101, 20, 0, 1, 41, 1, 41), 2),
}


def rows_of(shape):
    """Every cell, near the asked-for value and far from it."""
    return [(*cell, y) for cell in np.ndindex(*shape) for y in (0, 9)]


def same_contexts(pairs, shape):
    """Pairs of tables (asked-for row first) with the same valid contexts, at least one."""
    asked_for = (*(0 for _ in shape), 0)
    for one, other in pairs:
        tables = ((asked_for, *one), (asked_for, *other))
        first, second = (looked_at(table, shape, DETECTOR, 1) for table in tables)
        if first[1] and first[1] == second[1]:
            yield tables


def audit(search, pairs, shape, exponent):
    def law_of(table):
        bits, valid, scores = looked_at(table, shape, DETECTOR, 1)
        return law(search, bits, valid, scores, exponent, 2)

    return exact_audit(law_of, pairs)


@pytest.mark.parametrize("search", ALL)
@pytest.mark.parametrize(("shape", "most"), [((2, 3), 3), ((3, 3), 2), ((5,), 2)])
def test_no_neighbour_with_the_same_contexts_sees_more_than_epsilon(search, shape, most):
    priced = plan(search)
    assert priced.guarantee(holds_when="-").epsilon == Fraction(1, 2)
    pairs = list(same_contexts(add_remove_pairs(rows_of(shape), most), shape))
    assert len(pairs) > 40
    assert audit(search, pairs, shape, priced.selection.exponent).within(Fraction(1, 2))


@pytest.mark.parametrize("search", ALL)
def test_replacing_a_row_costs_twice_as_much_and_is_priced_so(search):
    shape = (2, 3)
    priced = plan(search, neighbours="replace-one")
    assert priced.selection.exponent == plan(search).selection.exponent / 2
    pairs = list(same_contexts(replace_one_pairs(rows_of(shape), 2), shape))
    assert audit(search, pairs, shape, priced.selection.exponent).within(Fraction(1, 2))


def test_the_price_of_adding_is_too_low_for_replacing_and_the_audit_says_so():
    """The planted bug: halving for monotone utilities where a replaced row moves two contexts in opposite directions."""
    valid, exponent = frozenset(range(8)), plan("exact").selection.exponent
    one, other = (5, 4, 4, 4, 4, 4, 4, 4), (4, 5, 5, 5, 5, 5, 5, 5)
    found = exact_audit(lambda scores: law("exact", 3, valid, scores, exponent, 2), [(one, other)])
    assert not found.within(Fraction(1, 2))
    assert found.within(1)


def lifts(dice, bits):
    """Two score lists between which one added row moves any of them up by one, and a valid set."""
    count = 1 << bits
    valid = frozenset(dice.sample(range(count), dice.randrange(2, count + 1)))
    scores = tuple(dice.choice([0, 1, 2, 30, 60]) for _ in range(count))
    raised = tuple(score + dice.randrange(2) for score in scores)
    return valid, scores, raised


@pytest.mark.parametrize("search", ALL)
def test_no_lift_of_scores_loses_more_than_each_search_is_priced(search):
    dice, worst = random.Random(search), 0.0
    for _ in range(250):
        bits, samples = dice.choice([(2, 2), (3, 1), (3, 2)])
        valid, one, other = lifts(dice, bits)
        exponent = Fraction(1, 2)
        found = exact_audit(lambda s: law(search, bits, valid, s, exponent, samples), [(one, other)])  # noqa: B023 - used at once
        bound = exponent * searches.selections(search, samples)
        assert found.within(bound)
        worst = max(worst, found.loss / float(bound))
    assert worst > 0.3


@pytest.mark.parametrize(("search", "claimed"), [("bfs", 1), ("dfs", 1), ("bfs", 2), ("dfs", 2)])
def test_the_bound_of_n_plus_1_selections_is_reached_so_fewer_would_be_wrong(search, claimed):
    """Witnesses found by search: a far better context that only the raised scores lead to, twice."""
    bits, valid, one, other, samples = WITNESSES[search]
    exponent = Fraction(1, 2)
    found = exact_audit(lambda s: law(search, bits, frozenset(valid), s, exponent, samples), [(one, other)])
    assert found.within(exponent * (samples + 1))
    assert found.loss > 0.999 * float(exponent * (samples + 1))
    assert not found.within(exponent * claimed)


@pytest.mark.statistics
@pytest.mark.parametrize("search", ALL)
def test_draws_follow_the_exact_law(search):
    valid = frozenset({0, 1, 2, 3, 5, 7, 6})
    scores = np.array([3, 5, 4, 9, 0, 6, 2, 7])
    exponent = Fraction(1, 5)
    expected = distribution(begin(search, 3, valid, 2), dict(enumerate(scores.tolist())), exponent)
    entropy, selection = SeededEntropy(5), Exponential(exponent=exponent, monotone=True)
    draws = 4000
    start = begin(search, 3, valid, 2)
    counts = dict.fromkeys(expected, 0)
    for _ in range(draws):
        counts[searches.draw(start(), lambda indices: scores[indices], selection, entropy)] += 1
    answers = sorted(expected, key=str)
    observed = np.array([counts[a] for a in answers])

    def fit(law):
        likely = np.array([law[a] for a in answers])
        return chisquare(observed, likely / likely.sum() * draws).pvalue

    assert fit(expected) > 1e-6
    other = distribution(begin(search, 3, valid, 2), dict(enumerate(scores.tolist())), exponent * 3)
    assert fit({a: other.get(a, 1e-9) for a in answers}) < 1e-12


def test_a_search_without_a_valid_start_has_no_answer():
    for search in ALL:
        assert distribution(begin(search, 3, frozenset(), 2), {}, Fraction(1)) == {None: pytest.approx(1.0)}
    for kind in (searches.walk, searches.dfs, searches.bfs):
        graph = Small(3, {1, 2})
        assert distribution(lambda: kind(graph, 7, 2), {}, Fraction(1)) == {None: 1.0}  # noqa: B023 - used at once


def test_searches_end_where_there_is_nowhere_to_go():
    alone = frozenset({4})
    for search in ("walk", "dfs", "bfs"):
        assert distribution(begin(search, 3, alone, 9), {4: 1}, Fraction(1)) == {4: pytest.approx(1.0)}


def test_the_searches_visit_as_many_as_they_say():
    """bfs and dfs: the start and n more; walk: n with repeats; uniform: n valid ones."""
    graph = Small(4, range(16))
    for kind, visits in ((searches.bfs, 6), (searches.dfs, 6), (searches.walk, 5)):
        search, picks = kind(graph, 0, 5), []
        try:
            pick = next(search)
            while True:
                picks.append(pick)
                pick = search.send(pick.candidates[0])
        except StopIteration:
            pass
        assert len(picks[-1].candidates) == visits
        scored = sum(pick.scored for pick in picks)
        assert scored == searches.selections(kind.__name__, 5)


def test_the_first_valid_context_depends_on_the_valid_set_alone():
    assert searches.first_valid(Small(4, {3, 9})) in {3, 9}
    assert searches.first_valid(Small(4, ())) is None
    order = []
    left = set(range(16))
    while left:
        order.append(searches.first_valid(Small(4, left)))
        left.discard(order[-1])
    assert sorted(order) == list(range(16))
    assert math.isfinite(order[0])


@pytest.mark.parametrize("count", [*range(1, 41), 3 * 139, 2 * 199, 5 * 64])
def test_whichever_context_is_the_only_valid_one_is_where_a_search_starts(count):
    """Ranges and trees make any number of contexts, not only powers of two."""

    class Only(Small):
        count = property(lambda self: self.bits)

    for index in range(count):
        assert searches.first_valid(Only(count, {index})) == index
