from __future__ import annotations

from collections import Counter

from wallflower.audit.properties import (
    growth_violations,
    lipschitz_violations,
    one_direction_violations,
    smoothness_violations,
)
from wallflower.audit.universes import add_remove_pairs

VALUES = (0, 1, 2)
PAIRS = list(add_remove_pairs(VALUES, 4))


def test_a_count_is_lipschitz_and_a_sum_is_not():
    assert lipschitz_violations(len, PAIRS) == []
    assert lipschitz_violations(sum, PAIRS, distance=2) == []
    found = lipschitz_violations(sum, PAIRS)
    assert found
    assert all(abs(sum(violation.first) - sum(violation.second)) == 2 for violation in found)


def test_a_score_gated_by_a_least_number_of_rows_is_not_lipschitz():
    """The planted bug: a validity test outside the score makes it fall from far above zero in one step."""
    gated = lambda table: len(table) if len(table) >= 3 else 0  # noqa: E731
    assert {len(violation.second) for violation in lipschitz_violations(gated, PAIRS)} == {3}


def test_counts_per_value_move_in_one_direction_and_shares_do_not():
    def counts(table):
        return [Counter(table)[value] for value in VALUES]

    def above_and_below(table):
        return [sum(row > 0 for row in table), -sum(row == 0 for row in table), 5 - len(table)]

    assert one_direction_violations(counts, PAIRS) == []
    assert one_direction_violations(lambda table: [-count for count in counts(table)], PAIRS) == []
    assert one_direction_violations(above_and_below, PAIRS)
    assert one_direction_violations(lambda table: [2 * count for count in counts(table)], PAIRS)


def test_the_number_of_distinct_values_grows_by_at_most_one_and_that_of_lonely_rows_does_not():
    def lonely(table):
        return sum(1 for number in Counter(table).values() if number == 1)

    assert growth_violations(lambda table: len(set(table)), PAIRS) == []
    assert growth_violations(lonely, PAIRS)
    assert growth_violations(sum, PAIRS)


def test_a_smooth_bound_holds_and_a_local_one_taken_for_smooth_does_not():
    def largest(table):
        return max(table, default=0)

    def honest(table, t):
        return 2  # the global sensitivity of the maximum over 0..2

    def local(table, t):
        """How far one change can move the maximum from here, as if that were smooth."""
        ordered = sorted((0, *table))
        return max(ordered[-1] - ordered[-2] if table else 0, VALUES[-1] - ordered[-1])

    def too_small(table, t):
        return 1

    assert smoothness_violations(largest, honest, PAIRS, steps=3) == []
    assert any("U_1" in violation.what for violation in smoothness_violations(largest, local, PAIRS, steps=3))
    assert any("U_0 is 1" in violation.what for violation in smoothness_violations(largest, too_small, PAIRS, steps=3))
