"""Axes from declarations: hierarchies of every kind, what is written and what is read back, and the measures of loss."""

from fractions import Fraction

import numpy as np
import pytest
from tests.publish.spaces import category, number, space

from wallflower.errors import DeclarationError
from wallflower.publish.levels import LEVELS, method_of
from wallflower.publish.loss import certainty_penalty, information_loss, losses
from wallflower.publish.space import space_of
from wallflower.schema import load

TABLE = """
[table]
id = "t"
source = "rows.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 100
reviewed = true
test = false
ledger = "t.ledger"

[budget.plain-k-anonymity]
publications = 1

[columns.age]
role = "quasi-identifier"
lower = 1
upper = 4
step = 1
outside = "clip"
missing = "drop"
hierarchy = "age.csv"

[columns.school]
role = "quasi-identifier"
values = ["none", "primary", "secondary", "university"]
outside = "drop"
missing = "drop"
hierarchy = "ordered"

[columns.born]
role = "quasi-identifier"
lower = 2000-01-01
upper = 2000-12-31
outside = "clip"
missing = "drop"

[columns.income]
role = "sensitive"
lower = 0
upper = 10
step = "0.5"
outside = "clip"
missing = "drop"
"""
AGES = "1;young;*\n2;young;*\n3;old;*\n4;old;*\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.toml").write_text(TABLE)
    (tmp_path / "age.csv").write_text(AGES)
    return tmp_path


def test_every_kind_of_axis_is_written_and_read_back(folder):
    space = space_of(load(folder / "t.toml"), p=Fraction(1, 2), d=Fraction(1))
    age, school, born = space.quasi
    assert [age.text(0, 0), age.text(*age.round_up(0, 1)), age.text(*age.round_up(1, 2))] == ["1", "young", "*"]
    assert school.text(1, 2) == "[primary .. secondary]"
    assert born.text(0, 31) == "[2000-01-01, 2000-02-01]"
    assert space.sensitive[0].text(3, 3) == "1.5"
    for axis in space.axes:
        for low in range(0, axis.size, 7 if axis.size > 50 else 1):
            for high in range(low, axis.size, 11 if axis.size > 50 else 1):
                interval = axis.round_up(low, high)
                assert axis.read(axis.text(*interval)) == interval
    for axis in space.axes:
        for wrong in ("", "Atlantis", "[1", "[9999, 99999]", "[university .. none]", "[3, 1, 2]", "1/0"):
            assert axis.read(wrong) is None


def test_a_numeric_hierarchy_must_cover_every_value_in_order(folder):
    for text, words in ((AGES.replace("4;old;*\n", ""), "does not cover"), ("2;y\n1;y\n3;o\n4;o\n", "increasing")):
        (folder / "age.csv").write_text(text)
        with pytest.raises(DeclarationError, match=words):
            space_of(load(folder / "t.toml"), p=Fraction(1, 2), d=Fraction(1))


def test_information_loss_is_the_papers():
    age, gender = number("age", 77), category("gender", ["F", "M"], ["F", "M"])
    assert information_loss(age, 20, 40) == 21 / 78
    assert information_loss(age, 5, 5) == 1 / 78  # above 0 for an ungeneralised number, as printed
    assert [information_loss(gender, 0, 0), information_loss(gender, 0, 1)] == [0, 1]
    assert [certainty_penalty(age, 5, 5), certainty_penalty(age, 0, 77), certainty_penalty(gender, 0, 1)] == [0, 1, 1]
    country = category("country", {"America": list("abcde"), "Asia": list("wxyz")}, list("abcdewxyz"))
    assert information_loss(country, 0, 4) == 4 / 8  # the paper's "USA to America"
    assert (information_loss(country, 5, 8), information_loss(country, 7, 7)) == (3 / 8, 0)  # wherever it lies
    assert (certainty_penalty(country, 5, 8), certainty_penalty(age, 20, 40)) == (4 / 9, 20 / 77)


def test_the_measures_of_a_grouping():
    axes = [number("age", 9), category("letter", "ordered", list("abc"))]
    low, high = np.array([[0, 0], [5, 1]]), np.array([[4, 2], [9, 1]])
    found = losses(axes, low, high, [3, 1], suppressed=2, k=2)
    assert found.information_loss == pytest.approx(0.5 + 3 / 4)
    assert found.certainty_penalty == pytest.approx((4 / 9 + 3 / 4) / 2)
    assert found.discernibility == 9 + 1 + 2 * 6
    assert (found.average_class, found.average_class_k) == (2, 1)
    assert losses(axes, low[:0], high[:0], [], suppressed=5, k=2).information_loss == 0


@pytest.mark.parametrize("level", LEVELS)
def test_the_method_that_is_told_is_the_one_that_keeps_the_level(level):
    assert method_of(level, None) == ("shed" if level.startswith("matching") else "hybrid")


LARGE = (2**29 + 11, 2**30 - 1, 1_299_709)
"""Last places whose squares have no small common multiple, so that squared weights are rounded."""


def spaced(weights, d):
    quasi = [
        number(name, last, weight=Fraction(weight)) for name, last, weight in zip("ab", LARGE, weights, strict=False)
    ]
    return space(quasi, [number("s", LARGE[2], weight=Fraction(weights[2]), role="sensitive")], p="1/2", d=d)


@pytest.mark.parametrize(
    ("weights", "d", "refused"),
    [
        (("1/1000", "1/1000000", "1"), "1/1000000", "'a' counts too little"),
        (("1", "1/1000000", "1/1000000"), "1/1000000", "'b' counts too little"),
        # One step of 'a' is nearer than d by a part in 10^7, and its weight would be rounded up to one unit above all of d².
        (("0.000536873055", "1", "1"), "1.000004e-12", "'a' counts too little"),
        (("1", "0", "1"), "1/1000000", None),
        (("1", "1", "1"), "1", None),
        (("1", "1", "1"), "1/1000000", None),
        (("1", "1", "1"), "1/1000000000000", None),
        (("1/7", "1/50", "1"), "1/500", None),
        (("1000", "1", "1"), "2", None),
    ],
)
def test_rounded_weights_tell_near_from_far_as_the_definition_does_or_are_refused(weights, d, refused):
    if refused:
        with pytest.raises(DeclarationError, match=refused):
            spaced(weights, d)
        return
    ball, limit = spaced(weights, d).ball, Fraction(d) ** 2
    squares = [(Fraction(weight) / last) ** 2 for weight, last in zip(weights, LARGE, strict=True)]
    dice, seen = np.random.default_rng(1), set()
    for _ in range(2000):
        parts = dice.dirichlet((1, 1, 1)) * dice.choice([0.9999, 1, 1.0001])
        gaps = [
            min(last, round(float(Fraction(part) * limit / square) ** 0.5)) if square else int(dice.integers(last))
            for part, square, last in zip(parts, squares, LARGE, strict=True)
        ]
        exactly = sum(square * gap**2 for square, gap in zip(squares, gaps, strict=True))
        if abs(exactly - limit) > limit * Fraction(3, 10**9):
            assert (gaps in ball) == (exactly <= limit)
            seen.add(gaps in ball)
    assert seen == {True, False} or Fraction(d) < Fraction(1, 10**9)
