"""What an explanation is charged is what its selections spend, in every combination of settings."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.explain.tables import PlainRows, declaration, random_table, view
from wallflower.detectors import Distance, Grubbs
from wallflower.errors import UsageError
from wallflower.explain import Context, Records, searches
from wallflower.explain.checks import check_row
from wallflower.explain.full import Certificate, Plan
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.declaration import Budget

SHAPE = (2, 3)
COUNTED = Budget(epsilon=Fraction(9), delta=Fraction("1e-6"), accounting="zcdp")


def ask(**fields):
    return Context(
        **{"record": "asked", "metric": "y", "by": ("c0", "c1"), "detector": Grubbs(), "epsilon": 2, **fields}
    )


def robust(**fields):
    given = {"detector": Grubbs(), "least": 1, "epsilon": Fraction(2), "neighbours": "add-remove", "contexts_log2": 3}
    return Plan(**{**given, "max_rows": 1000, "certificate": None, **fields})


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"top": 3},
        {"search": "bfs", "samples": 4},
        {"guarantee": "full"},
        {"guarantee": "full", "top": 3},
        {"guarantee": "full", "larger": 5},
        {"guarantee": "full", "top": 2, "larger": 5},
        {"guarantee": "full", "certificate_epsilon": "1/2", "certificate_failure": "1/100"},
    ],
)
def test_a_question_costs_the_epsilon_it_was_asked_with(fields, neighbours):
    assert ask(**fields).price(declaration(SHAPE, neighbours=neighbours)).guarantee.epsilon == 2


@pytest.mark.parametrize(("neighbours", "times"), [("add-remove", 2), ("replace-one", 4)])
@pytest.mark.parametrize("rows", [None, 3])
def test_preferring_large_contexts_is_paid_for_by_how_far_a_row_moves_them(neighbours, times, rows):
    """A row moves a score by `larger` at most, a replaced one by twice that, and of two contexts one up and one down."""
    if rows is not None and neighbours == "replace-one":
        return
    several = rows or 1
    plan = robust(larger=5, neighbours=neighbours, rows=rows)
    assert plan.selection.exponent == Fraction(2, 5 * times * several)
    assert plan.guarantee().unit == ("row" if rows is None else "person")


@pytest.mark.parametrize(
    ("neighbours", "rows", "distance"), [("add-remove", 1, 1), ("add-remove", 4, 4), ("replace-one", 1, 2)]
)
def test_a_certificate_hides_all_rows_that_come_and_go_together(neighbours, rows, distance):
    certificate = Certificate(epsilon=Fraction(1, 2), failure=Fraction(1, 100), neighbours=neighbours, rows=rows)
    assert certificate.noise.scale == 2 * distance
    spent = robust(certificate=certificate, neighbours=neighbours).guarantee().epsilon
    assert spent == 2 + Fraction(1, 2)


def test_a_certificate_looks_at_whole_rows_and_no_row_moves_it_by_more_than_one():
    """A score of `distance` moves by ten a row at p = 0.3: as it is, it would pass for ten rows."""
    plan, dice = robust(detector=Distance(p="0.3", radius=4), epsilon=Fraction(20)), random.Random(1)
    assert plan.unit == 7
    every = np.arange(8)
    seen, lowest = set(), 0
    for _ in range(10):
        table = [(0, 0, 0), *random_table(dice, SHAPE, 20, spread=12)]
        sights = [view([*table, *more], SHAPE) for more in ([], [(0, 0, 0)], [(1, 1, 12)])]
        alone, *others = (plan.scorer(sight).changes(sight.few(every)) for sight in sights)
        assert all((abs(alone - other) <= 1).all() for other in others)
        seen, lowest = seen | set(alone.tolist()), min(lowest, plan.scores(sights[0]).min())
    assert max(seen) > 0
    assert lowest < 0  # how far an invalid context is from being valid counts, too


def test_a_large_context_counts_its_rows_up_to_what_keeps_it_valid():
    near = Distance(p="0.3", radius=4)
    sight = view([(0, 0, 0), *((0, code, y) for code in (0, 1, 2) for y in (1, 1, *[10] * (9 + 9 * code)))], SHAPE)
    plan = robust(detector=near, epsilon=Fraction(20), larger=3)
    changes = plan.scorer(sight).changes(sight.few(np.arange(8)))
    assert plan.scores(sight).tolist() == np.minimum(3 * changes, sight.population).tolist()
    assert len(set(changes.tolist())) > 1
    assert (3 * changes < sight.population).any()


def test_a_certificate_can_be_passed_however_much_is_spent_on_the_selection():
    certificate = Certificate(epsilon=Fraction(1, 100), failure=Fraction(1, 10**6), neighbours="add-remove")
    plan = robust(certificate=certificate, epsilon=Fraction(100), max_rows=10**9)
    assert plan.cap > certificate.threshold + 20 * certificate.noise.scale


@pytest.mark.parametrize("guarantee", ["output-constrained", "full"])
def test_only_the_account_that_is_debited_says_how_losses_are_counted(guarantee):
    own = {"output-constrained": "output-constrained-dp", "full": "dp"}
    (other,) = set(own.values()) - {own[guarantee]}
    for budget, rho in ((own[guarantee], Fraction(1, 2)), (other, Fraction(2))):
        declared = replace(declaration(SHAPE), budgets={budget: COUNTED})
        promise = ask(guarantee=guarantee).price(declared).guarantee
        assert (promise.epsilon**2 / 2 if promise.rho is None else promise.rho) == rho
        both = Records(records=("asked", "nobody"), question=ask(guarantee=guarantee)).price(declared).guarantee
        assert both.rho == rho / 2  # half of epsilon each: a quarter of the loss, twice


def test_several_records_share_the_part_for_certificates():
    question = ask(guarantee="full", certificate_epsilon="1/2", certificate_failure="1/100")
    alone, both = (one.price(declaration(SHAPE)) for one in (question, Records(records=("a", "b"), question=question)))
    assert (alone.mechanism["scale"], both.mechanism["scale"]) == ("2", "4")
    assert both.guarantee.epsilon == 2


def rows():
    return PlainRows(declaration(SHAPE), ((1, 0, 900), *random_table(random.Random(1), SHAPE, 60, spread=20)))


@pytest.mark.parametrize("search", ["exact", "walk", "bfs"])
def test_no_context_with_fewer_rows_than_was_asked_for_is_told(search):
    asked = ask(search=search, samples=3, epsilon=50)
    assert asked.run(rows(), SeededEntropy(1)) is not None
    assert replace(asked, min_population=62).run(rows(), SeededEntropy(1)) is None


@pytest.mark.parametrize("search", ["walk", "dfs", "bfs"])
def test_a_start_without_the_record_has_no_answer(search):
    """And no start of the search's own in its place."""
    asked = ask(search=search, samples=3, epsilon=50, start="c0=v0|v1;c1=v0|v1|v2")
    assert asked.run(rows(), SeededEntropy(1)) is not None
    assert replace(asked, start="c0=v0;c1=v0").run(rows(), SeededEntropy(1)) is None


def test_a_uniform_search_keeps_as_many_contexts_as_it_says():
    class Every:
        count = 8

        @staticmethod
        def valid(indices):
            return [True] * len(indices)

    search = searches.uniform(Every(), 3, batch=16)
    pick = next(search)
    while not pick.scored:
        pick = search.send(5)
    assert list(pick.candidates) == [5, 5, 5]


@pytest.mark.parametrize(("rows", "refused"), [(2**60 // 2000, True), (2**60 // 2000 - 1, False)])
def test_sums_that_could_leave_a_machine_word_are_refused(rows, refused):
    declared = replace(declaration(SHAPE), max_rows=rows + refused)
    if not refused:
        ask().price(declared)
        return
    with pytest.raises(UsageError, match="add up to more than 2\\^60"):
        ask().price(declared)


@pytest.mark.parametrize(
    ("row", "most", "says"), [(1, None, "is one row"), (None, 3, "must say which"), (4, 3, "from 1 to 3")]
)
def test_which_of_a_person_s_rows_is_meant_must_be_one_that_counts(row, most, says):
    people = replace(declaration(SHAPE), rows_per_person=most)
    with pytest.raises(UsageError, match=says):
        check_row(row, people)
    check_row(None if most is None else most, people)
