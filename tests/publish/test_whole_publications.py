"""Every published group passes every test that was declared, whatever the table, the level and the demands."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publish.slow_checks import Judge, moved, objections
from tests.publish.spaces import category, number, space

from wallflower.publish import worlds
from wallflower.publish.anonymise import anonymise
from wallflower.publish.checker import Checker
from wallflower.publish.diversity import Demands, diversity_test
from wallflower.publish.grouping import Workshop
from wallflower.publish.levels import LEVELS, counts_possible_values
from wallflower.publish.matching_groups import MatchingGrouper
from wallflower.publish.worlds import Members

LETTERS = {"early": ["a", "b", "c"], "late": {"soft": ["x", "y"], "hard": ["z"]}}
NAMES = list("abcxyz")
ASKED = [
    Demands(),
    Demands(entropy=Fraction(3, 2)),
    Demands(recursive=(Fraction(2), 2)),
    Demands(closeness=Fraction(1, 4)),
    Demands(closeness=Fraction(2, 5), entropy=Fraction(4, 3), recursive=(Fraction(3), 2)),
]


@st.composite
def tables(draw, most=26):
    """Few values, many ties, a minority far away; a taxonomy may round a box over people who are not in it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    quasi = [category("letter", LETTERS, NAMES), number("age", 5), category("grade", "ordered", list("123"))]
    quasi = [quasi[i] for i in draw(st.sampled_from([(0,), (1,), (0, 1), (1, 2)]))]
    sensitive = [number("pay", 4, role="sensitive"), category("ill", LETTERS, NAMES, role="sensitive")]
    sensitive = [sensitive[i] for i in draw(st.sampled_from([(0,), (1,), (0, 1)]))]
    p, d = draw(st.sampled_from(["1/2", "3/5", "7/10", "9/10"])), draw(st.sampled_from(["1/3", "2/5", "2/3", "1"]))
    where = space(quasi, sensitive, p=p, d=d)
    rows = draw(st.integers(4, most))
    places = np.column_stack(
        [rng.choice(axis.size, rows, p=rng.dirichlet(np.full(axis.size, 0.7))) for axis in where.axes]
    ).astype(np.int64)
    return where, np.ascontiguousarray(places[np.lexsort(places.T[::-1])])


def published(case, *, level, k, least, demands, method, **where_and_how):
    where, places = case
    checker = Checker(where, places)
    grouping = anonymise(checker, level=level, k=k, method=method, least=least, demands=demands, **where_and_how)
    return objections(Judge(where, places), grouping, level=level, k=k, least=least, demands=demands), grouping


CASES = (
    tables(),
    st.sampled_from(LEVELS),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(ASKED),
    st.sampled_from(["hybrid", "expc"]),
    st.integers(1, 4),
)


def _kept(case, level, k, least, demands, method, regions):
    way = "shed" if counts_possible_values(level) else method
    found, _ = published(case, level=level, k=k, least=min(k, least), demands=demands, method=way, regions=regions)
    assert not found


@given(*CASES)
@settings(max_examples=40, deadline=None)
def test_every_published_group_passes_everything_that_was_declared(case, level, k, least, demands, method, regions):
    _kept(case, level, k, least, demands, method, regions)


@pytest.mark.campaign
@given(*CASES)
@settings(max_examples=4000, deadline=None)
def test_every_published_group_passes_everything_that_was_declared_in_many_tables(
    case, level, k, least, demands, method, regions
):
    _kept(case, level, k, least, demands, method, regions)


def caught(level, demands=None, k=2, **where_and_how):
    """Whether one of sixty fixed tables is published wrongly."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        where = space([category("letter", LETTERS, NAMES)], [number("pay", 4, role="sensitive")], p="3/5", d="2/5")
        shares = [rng.dirichlet(np.full(axis.size, 0.7)) for axis in where.axes]
        places = np.column_stack([rng.choice(len(p), 14, p=p) for p in shares]).astype(np.int64)
        case = where, np.ascontiguousarray(places[np.lexsort(places.T[::-1])])
        method = "shed" if counts_possible_values(level) else "hybrid"
        asked = {"level": level, "k": k, "least": k, "demands": demands or Demands(), "method": method}
        if published(case, **asked, **where_and_how)[0]:
            return True
    return False


def _unrepaired(shop, rows):
    """What was there once: a repair that changes nothing is a pass."""
    group = shop.made(rows)
    verdict = shop.checker.guided("candidate", group.low, group.high, shop.checker.values[group.ranks])
    kept = shop._repaired(rows, verdict) if verdict.failed else rows
    return None if len(kept) == len(rows) else kept


def _plenty(members, _alive):
    return np.full(len(members.rows), 99)


PLANTED = {
    "a repair that keeps everybody is a pass": (Workshop, "repaired", _unrepaired, "matching+candidate", None),
    "insertion forgets the level": (MatchingGrouper, "_still", lambda *_: True, "matching+candidate", None),
    "insertion forgets the demands": (MatchingGrouper, "_still", lambda *_: True, "matching", ASKED[2]),
    "a newcomer need not have possible values": (Members, "possible", _plenty, "matching", None),
    "no peeling": (worlds, "peel", lambda _fits, _held, alive, *_: int(alive.sum()), "matching", None),
    "nobody is dropped for E": (Members, "stuck", lambda self, _: np.zeros(len(self.rows), bool), "matching", None),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_the_judge_notices(bug, monkeypatch):
    where, name, wrong, level, demands = PLANTED[bug]
    assert not caught(level, demands)
    monkeypatch.setattr(where, name, wrong)
    assert caught(level, demands)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.lists(st.integers(0, 5), max_size=8), st.booleans())
@settings(max_examples=60, deadline=None)
def test_closeness_is_the_least_cost_of_moving_shares_over_the_hierarchy(inside, outside, ordered):
    axis = category("ill", "ordered" if ordered else LETTERS, NAMES, role="sensitive")
    table = inside + outside
    test = diversity_test(Demands(closeness=Fraction(1)), [axis], np.array(table).reshape(-1, 1))
    counts = [np.bincount(test.codes[: len(part), 0], minlength=len(set(table))) for part in (inside, table)]
    assert abs(float(test.grounds[0].distance(*counts)) - moved(axis, inside, table)) < 1e-7
