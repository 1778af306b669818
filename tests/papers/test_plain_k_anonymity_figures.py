"""The running example, Figures 1 to 3: distance over age and income, re-standardised after Bill has left."""

from fractions import Fraction

import numpy as np
import pytest
from tests.publish.spaces import number, space

from wallflower.publish.attacks import attack
from wallflower.publish.checker import Checker
from wallflower.publish.published_file import PublishedGroup

# tuple: age, gender (M = 0, F = 1), zip code − 6001, income in thousands; Figure 1
PEOPLE = {
    "Alice": (20, 1, 5, 20),
    "Bob": (20, 0, 10, 25),
    "Justin": (20, 0, 12, 120),
    "Carol": (30, 1, 0, 30),
    "Allan": (30, 0, 9, 50),
    "Bill": (30, 0, 21, 2_000_000),
    "Ben": (40, 0, 3, 100),
    "Susan": (40, 1, 1, 110),
    "David": (40, 0, 2, 130),
}
GRID = [(Fraction(p, 20), Fraction(d, 20)) for p in range(6, 21) for d in range(2, 36)]
FIGURE_2A = [["Alice", "Bob", "Justin"], ["Ben", "Susan", "David"]]
FIGURE_2B = [["Alice", "Bob", "Carol", "Allan"], ["Justin", "Ben", "Susan", "David"]]
FIGURE_3 = [["Alice", "Allan", "Ben", "Susan"], ["Bob", "Carol", "Justin", "David"]]


def without_bill(p, d, *, others=0):
    """Standardised by the range that remains: 20 to 40 years, 20 to 130 thousand. `others`: weight of gender and zip code."""
    axes = [number("age", 20), number("gender", 1, weight=others), number("zip", 12, weight=others)]
    where = space(axes, [number("income", 110, role="sensitive")], p=p, d=d)
    names = [name for name in PEOPLE if name != "Bill"]
    rows = np.array([(a - 20, g, z, s - 20) for a, g, z, s in (PEOPLE[name] for name in names)])
    return names, Checker(where, rows)


def crowd(names, checker, members):
    rows = checker.places[[names.index(member) for member in members]]
    return PublishedGroup(rows[:, :3].min(axis=0), rows[:, :3].max(axis=0), rows[:, 3:])


def plain(names, checker, members):
    group = crowd(names, checker, members)
    return checker.plain("strict", group.low, group.high, group.held)


def test_bill_is_a_sensitive_attribute_outlier():
    axes = [number("age", 20), number("gender", 1, weight=0), number("zip", 21, weight=0)]
    where = space(axes, [number("income", 1_999_980, role="sensitive")], p="0.65", d="0.55")
    rows = np.array([(a - 20, g, z, s - 20) for a, g, z, s in PEOPLE.values()])
    checker = Checker(where, rows)
    assert [n for n, out in zip(PEOPLE, checker.outlying_by_value, strict=True) if out] == ["Bill"]


def reproduces(p, d, **setting):
    names, checker = without_bill(p, d, **setting)
    outliers = [name for name, out in zip(names, checker.outlying, strict=True) if out]
    return (
        outliers == ["Justin"]
        and not plain(names, checker, FIGURE_2A[0])
        and not plain(names, checker, FIGURE_2B[1])
        and all(plain(names, checker, group) for group in FIGURE_3)
    )


def test_figures_2a_and_2b_are_not_plain_and_figure_3_is():
    assert reproduces("0.65", "0.55")


def test_how_many_settings_reproduce_the_figures():
    """Over a grid of (p, d) some do and some do not; the golden setting is not a lone accident."""
    assert 5 <= sum(reproduces(p, d) for p, d in GRID) < len(GRID) / 2


def test_no_setting_reproduces_them_with_distance_over_all_four_attributes():
    assert not any(reproduces(p, d, others=1) for p, d in GRID)


@pytest.mark.parametrize(("figure", "given_away"), [(FIGURE_2A, True), (FIGURE_3, False)])
def test_the_attacks_find_justin_in_figure_2a_and_nobody_in_figure_3(figure, given_away):
    names, checker = without_bill("0.65", "0.55")
    found = attack(checker, [crowd(names, checker, group) for group in figure])
    assert {names[leak.row] for leak in found.leaks} == ({"Justin"} if given_away else set())
    if given_away:
        assert (found.presence, found.association) == (1.0, 1.0)
