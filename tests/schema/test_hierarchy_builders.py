"""Hierarchies by rule: every node an interval of leaf order, every level nested, and what cannot be built says why."""

import pytest

from wallflower.errors import DeclarationError
from wallflower.schema.hierarchy import taxonomy

NUMBERS = [str(i) for i in range(18, 41)]
DAYS = [f"2026-{month:02}-{day:02}" for month in (1, 2, 4, 12) for day in (1, 15, 28)]


def labels(hierarchy, values):
    tree = taxonomy(hierarchy, values, column="c", folder=None)
    return tree, {label: (tree.low[n], tree.high[n]) for n, label in enumerate(tree.labels)}


def test_intervals_start_at_the_lower_bound_and_are_nested():
    tree, nodes = labels({"by": "intervals", "widths": [5, 10]}, NUMBERS)
    assert list(tree.leaves) == NUMBERS
    assert nodes["[18, 22]"] == (0, 4)
    assert nodes["[18, 27]"] == (0, 9)
    assert nodes["[38, 40]"] == (20, 22)  # the last run is as long as the domain allows
    assert tree.text(0, 3) == "[18, 22]"
    assert tree.text(4, 5) == "[18, 27]"
    assert tree.text(0, 22) == "*"


def test_intervals_of_decimals_are_exact():
    tree, nodes = labels({"by": "intervals", "widths": ["0.3"]}, ["0", "0.1", "0.2", "0.3", "0.4"])
    assert nodes["[0, 0.2]"] == (0, 2)
    assert tree.text(3, 4) == "[0.3, 0.4]"


def test_runs_of_an_order():
    tree, _ = labels({"by": "order", "runs": [2, 4]}, list("abcdefg"))
    assert [tree.text(0, 1), tree.text(1, 2), tree.text(6, 6)] == ["[a .. b]", "[a .. d]", "g"]


def test_prefixes_are_starred_and_grouped_whatever_the_order():
    tree, nodes = labels({"by": "prefix", "keep": [3, 1]}, ["1010", "8001", "1013", "1100"])
    assert sorted(tree.leaves[: nodes["1***"][1] + 1]) == ["1010", "1013", "1100"]
    assert tree.text(*nodes["101*"]) == "101*"


def test_the_calendar():
    tree, nodes = labels({"by": "calendar", "levels": ["month", "quarter", "year"]}, DAYS)
    assert nodes["2026-01"] == (0, 2)
    assert nodes["2026-Q1"] == (0, 5)
    assert tree.text(0, 11) in {"2026", "*"}


@pytest.mark.parametrize(
    ("hierarchy", "values"),
    [
        ({"by": "magic", "widths": [5]}, NUMBERS),
        ({"by": "intervals"}, NUMBERS),
        ({"by": "intervals", "widths": [5, 7]}, NUMBERS),
        ({"by": "intervals", "widths": [0]}, NUMBERS),
        ({"by": "intervals", "widths": [5]}, ["a", "b"]),
        ({"by": "intervals", "widths": [5]}, ["1/0", "2"]),
        ({"by": "intervals", "widths": ["1/0"]}, NUMBERS),
        ({"by": "intervals", "widths": ["1e5000"]}, NUMBERS),
        ({"by": "intervals", "widths": [True]}, NUMBERS),
        ({"by": "intervals", "widths": [["5"]]}, NUMBERS),
        ({"by": "intervals", "widths": [5], "from": 3}, NUMBERS),
        ({"by": "order", "runs": ["two"]}, NUMBERS),
        ({"by": "prefix", "keep": [2, 3]}, NUMBERS),
        ({"by": "calendar", "levels": ["year", "month"]}, DAYS),
        ({"by": "calendar", "levels": ["month"]}, NUMBERS),
        ({"by": "calendar", "levels": [["month"]]}, DAYS),
    ],
)
def test_what_cannot_be_built_says_why(hierarchy, values):
    with pytest.raises(DeclarationError, match="cannot be built"):
        taxonomy(hierarchy, values, column="c", folder=None)
