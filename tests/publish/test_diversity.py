"""Extra tests of a group against their definitions, on unions, and in whole publications."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publish.slow_checks import entropy, recursive
from tests.publish.spaces import category, number, space

from wallflower.errors import UsageError
from wallflower.publish import PlainTable
from wallflower.publish.anonymise import anonymise
from wallflower.publish.checker import Checker
from wallflower.publish.diversity import Demands, diversity_test
from wallflower.publish.levels import method_of

COLUMN = st.lists(st.integers(0, 5), min_size=1, max_size=12)


def distance(values, table, *, ordered):
    """Earth mover's distance from the definition: shares moved, a step of one rank costing 1 / (m − 1)."""
    kinds = sorted(set(table))
    gaps = [Fraction(values.count(v), len(values)) - Fraction(table.count(v), len(table)) for v in kinds]
    if not ordered:
        return sum(abs(gap) for gap in gaps) / 2
    return sum(abs(sum(gaps[: i + 1])) for i in range(len(gaps))) / max(len(kinds) - 1, 1)


@given(COLUMN, COLUMN, st.sampled_from(["1/10", "1/3", "1/2"]), st.booleans())
@settings(max_examples=200, deadline=None)
def test_each_demand_is_its_definition(inside, outside, most, ordered):
    table = inside + outside
    kind = (
        number("s", 5, role="sensitive") if ordered else category("s", list("abcdef"), list("abcdef"), role="sensitive")
    )
    rows = np.arange(len(inside))

    def passes(**demands):
        return diversity_test(Demands(**demands), [kind], np.array(table).reshape(-1, 1)).passes(rows)

    if abs(math.exp(-sum(c / len(inside) * math.log(c / len(inside)) for c in Counter(inside).values())) - 2) > 1e-6:
        assert passes(entropy=Fraction(2)) == entropy(inside, 2)
    assert passes(recursive=(Fraction(3, 2), 2)) == recursive(inside, Fraction(3, 2), 2)
    close = distance(inside, table, ordered=ordered) <= Fraction(most)
    assert passes(closeness=Fraction(most)) == close


@given(COLUMN, COLUMN)
@settings(max_examples=150, deadline=None)
def test_a_union_of_two_groups_that_pass_passes(one, two):
    table = one + two + [0, 1, 2, 3, 4, 5]
    held = np.array(table, dtype=np.int64).reshape(-1, 1)
    for demands in (
        Demands(entropy=Fraction(3, 2)),
        Demands(recursive=(Fraction(2), 2)),
        Demands(closeness=Fraction(1, 4)),
    ):
        test = diversity_test(demands, [number("s", 5, role="sensitive")], held)
        parts = np.arange(len(one)), np.arange(len(one), len(one) + len(two))
        if all(test.passes(part) for part in parts):
            assert test.passes(np.concatenate(parts))


@pytest.mark.parametrize("level", ["matching", "candidate", "strict", "attack"])
def test_every_group_of_a_publication_has_what_was_asked_of_it(level):
    rng = np.random.default_rng(3)
    where = space([number("a", 30), number("b", 9)], [number("s", 9, role="sensitive")], p="0.9", d="0.5")
    places = np.column_stack([rng.integers(0, 31, 300), rng.integers(0, 10, 300), rng.binomial(9, 0.4, 300)]).astype(
        np.int64
    )
    places = np.ascontiguousarray(places[np.lexsort(places.T[::-1])])
    checker = Checker(where, places)
    table = places[:, 2].tolist()
    found = anonymise(
        checker,
        level=level,
        k=3,
        method=method_of(level, None),
        demands=Demands(entropy=Fraction(3), recursive=(Fraction(2), 3), closeness=Fraction(1, 5)),
    )
    assert found.published > 200
    for group in found.groups:
        held = places[group.rows, 2].tolist()
        assert entropy(held, 3)
        assert recursive(held, 2, 3)
        assert distance(held, table, ordered=True) <= Fraction(1, 5)
    free = anonymise(checker, level=level, k=3, method=method_of(level, None))
    assert any(not entropy(places[g.rows, 2].tolist(), 3) for g in free.groups)  # what was asked was not there anyway


@pytest.mark.parametrize(
    "change",
    [
        {"level": "candidate", "possible_values": 2},
        {"possible_values": 6},
        {"recursive_c": "2"},
        {"method": "hybrid"},
        {"level": "strict", "method": "shed"},
        {"closeness": "2"},
        {"ranges": "loose"},
        {"population": 0},
    ],
)
def test_what_does_not_go_together_is_refused(change):
    with pytest.raises(UsageError):
        PlainTable(**{"columns": ("age",), "out": "o.csv", "k": 5, "p": "0.9", "d": "0.5"} | change)
