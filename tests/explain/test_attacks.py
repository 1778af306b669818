"""Each leak of the published procedure: it succeeds on the variant kept in experiments, is seen by the audit, and fails on ours."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from experiments.pcor_2021.variants import best_start, ratio_on_common_contexts, space_from_rows

from tests.explain.laws import begin, law, looked_at, plan
from tests.explain.tables import PlainRows, declaration, every_valid, view
from wallflower.audit.exact import delta_curve, exact_audit
from wallflower.detectors import Distance
from wallflower.explain.distributions import distribution

HALF = Fraction(1, 2)


def test_a_start_chosen_by_utility_gives_a_row_away():
    """Two tables with the same valid contexts, in two parts that no step connects: the start says which part is larger."""
    valid = frozenset({0, 7})
    one, other = (5, 0, 0, 0, 0, 0, 0, 5), (5, 0, 0, 0, 0, 0, 0, 6)  # the start is the first of the best
    exponent = plan("bfs").selection.exponent

    def by_utility(scores):
        start = best_start(valid, scores)
        return distribution(begin("bfs", 3, valid, 2, start=start), dict(enumerate(scores)), exponent)

    assert exact_audit(by_utility, [(one, other)]).loss == math.inf
    for search in ("walk", "dfs", "bfs"):
        exponent = plan(search).selection.exponent
        found = exact_audit(lambda scores: law(search, 3, valid, scores, exponent, 2), [(one, other)])  # noqa: B023 - used at once
        assert found.within(HALF)


def test_a_domain_taken_from_the_rows_gives_a_row_away():
    """A row with a value nobody else holds: named in contexts only when it is there."""
    shape, detector = (3, 2), Distance(p="0.5", radius=1)
    table = ((0, 0, 0), (0, 0, 9), (0, 1, 9), (1, 1, 9), (0, 0, 9))
    more = (*table, (2, 1, 9))
    exponent = plan("exact").selection.exponent

    def released(table, space_of):
        sight = view(table, shape)
        space = space_of(sight)
        found = {}
        ours = looked_at(table, shape, detector, 1)
        chances = law("exact", ours[0], ours[1], ours[2], exponent, 2)
        for index, chance in chances.items():
            named = sight.space.named(index)
            seen = {
                column: tuple(v for v in values if v in {d.text(c) for d, c in pairs(space, column)})
                for column, values in named.items()
            }
            found[str(seen)] = found.get(str(seen), 0.0) + chance
        return found

    def pairs(space, column):
        domain = space.domains[space.columns.index(column)]
        return [(domain, code) for code in range(domain.size)]

    def from_rows(sight):
        rows = PlainRows(declaration(shape), sight.rows.table)
        return space_from_rows(rows, sight.space.columns, sight.space.own)

    assert looked_at(table, shape, detector, 1)[1] == looked_at(more, shape, detector, 1)[1]
    assert exact_audit(lambda t: released(t, from_rows), [(table, more)]).loss == math.inf
    assert exact_audit(lambda t: released(t, lambda sight: sight.space), [(table, more)]).within(HALF)


def test_contexts_that_appear_or_vanish_are_reported_as_delta():
    """The paper looked at contexts that both tables share and saw nothing; the loss on the others is infinite."""
    shape, detector = (2, 3), Distance(p="0.5", radius=1)
    table = ((0, 0, 0), (1, 0, 9), (1, 1, 9), (0, 1, 9), (0, 2, 0))
    more = (*table, (0, 2, 0))
    (bits, first, scores), (_, second, others) = (looked_at(t, shape, detector, 1) for t in (table, more))
    assert first != second
    assert first & second
    exponent = plan("exact").selection.exponent

    laws = {
        table: law("exact", bits, first, scores, exponent, 2),
        more: law("exact", bits, second, others, exponent, 2),
    }
    assert exact_audit(laws.__getitem__, [(table, more)]).loss == math.inf
    vanished = math.fsum(laws[table][c] for c in first - second)
    (delta,) = delta_curve(laws.__getitem__, [(table, more)], [50.0])
    assert delta >= vanished - 1e-9 > 0.1
    assert ratio_on_common_contexts(laws[table], laws[more]) < 3  # what the paper's experiment would report


def test_the_papers_exponent_is_half_of_what_the_budget_buys():
    """Both utilities are monotone: exp(ε1·u) loses ε1 and not 2·ε1, so the paper pays twice for what it releases."""
    shape, detector = (2, 3), Distance(p="0.5", radius=1)
    table = ((0, 0, 0), *[(0, 0, 9)] * 2, *[(1, j, 9) for j in range(3)], *[(0, j, 9) for j in range(3)])
    bits, valid, _ = looked_at(table, shape, detector, 1)
    tables = [(table, (*table, (*cell, 9))) for cell in np.ndindex(*shape)]
    assert all(looked_at(other, shape, detector, 1)[1] == valid for _, other in tables)

    def loss(exponent):
        return exact_audit(
            lambda t: law("exact", bits, valid, looked_at(t, shape, detector, 1)[2], exponent, 2), tables
        ).loss

    papers = HALF / 2  # ε = 2·ε1
    ours = plan("exact").selection.exponent
    assert ours == 2 * papers
    assert loss(papers) <= float(HALF) / 2 + 1e-9
    assert loss(papers) < loss(ours) <= float(HALF)
    per_step = HALF / (2 * 2 + 2)  # the paper's (2n + 2) for bfs, n = 2
    assert plan("bfs").selection.exponent == 2 * per_step


def test_the_paper_walk_stops_and_the_uniform_search_gives_up():
    """As printed, both loops run for ever: without a valid neighbour, and with fewer valid contexts than samples."""
    assert distribution(begin("walk", 3, frozenset({0}), 5), {0: 1}, HALF) == {0: 1.0}
    answers = distribution(begin("uniform", 2, frozenset({3}), 3), {3: 1}, HALF)
    assert set(answers) == {None, 3}


def test_validity_here_is_of_the_multiset():
    """scikit-learn's factor changes with the order of tied rows (tests/detectors); the same question here does not."""
    table = [(0, 5), (0, 1), (0, 1), (0, 2), (0, 2), (0, 3), (0, 4), (0, 4)]
    for turn in range(1, 8):
        turned = [table[0], *table[turn:], *table[1:turn]]
        assert (
            every_valid(view(turned, (1,)), Distance(p="0.4", radius=1))
            == every_valid(view(table, (1,)), Distance(p="0.4", radius=1))
        ).all()
