"""The owner's pictures of a count show the outliers, however few they are, and the answer that left."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.report.painting import painted
from wallflower.privacy.guarantees import PureDP
from wallflower.privacy.release import Release
from wallflower.report import count
from wallflower.report.count import pictures
from wallflower.report.owner import owner_pictures

DEGREES = {"rows": [2, 0, 1, 40, 900, 1200, 70_000], "threshold": 3}


def seen(**more):
    return {"facts": {"rows": 72_143, "outliers": 3}, "figures": {"degrees": DEGREES}, **more}


def test_a_handful_of_outliers_is_seen_beside_a_crowd():
    (picture,) = pictures(seen())
    assert "3 rows" in picture.caption
    assert "Not drawn: 70,000 rows with 6 or more" in picture.caption
    assert "arrow" in picture.caption
    assert "1,200 ↑" in picture.svg
    assert "80,000" not in picture.svg  # the axis ends where outliers can be seen


def test_bars_of_like_height_are_not_cut():
    (picture,) = pictures(seen() | {"figures": {"degrees": {"rows": [5, 4, 3, 6, 7, 8, 9], "threshold": 3}}})
    assert "arrow" not in picture.caption


def test_the_released_answer_is_drawn_beside_the_true_one():
    answer, _ = pictures(seen(released={"count": 7, "interval": [0, 19]}))
    assert "released: 7" in answer.svg
    assert "true: 3" in answer.svg
    assert "0 to 19" in answer.caption


@pytest.mark.parametrize("released", [None, {"count": 7, "interval": None}])
def test_a_fenced_count_has_a_picture_of_its_answer_alone(released):
    facts = {"facts": {"rows": 9, "rows beyond the true fences": 4}, "released": released}
    drawn = pictures(facts)
    assert len(drawn) == (released is not None)


def test_groups_are_drawn_with_what_was_said_of_them():
    data = {"by": "ward", "values": ["a", "b"], "counts": [3, 4], "error": 2}
    groups = [{"value": "a", "count": 5, "interval": None}, {"value": "b", "count": 1, "interval": None}]
    assert "released" in pictures({"figures": {"groups": data}, "facts": {}, "released": {"groups": groups}})[0].caption
    assert "Blue" not in pictures({"figures": {"groups": data}, "facts": {}})[0].caption


def test_the_pictures_of_an_owner_s_page_show_an_answer_only_where_one_left():
    release = Release(
        value={"count": 7, "interval": None},
        guarantee=PureDP(epsilon=Fraction(1, 2), neighbours="add-remove"),
        mechanism={"name": "x"},
        ledger={"account": "a", "entry": 1, "spent": {}, "left": None},
        private=True,
    )
    facts = {"facts": {"rows": 9, "rows beyond the true fences": 4}}
    (drawn,) = owner_pictures("count", facts, release)
    assert "released: 7" in drawn.svg
    assert owner_pictures("count", facts) == []


def test_the_answer_its_interval_and_the_truth_lie_on_one_line(monkeypatch):
    axes = painted(monkeypatch, count, seen(released={"count": 7, "interval": [0, 19]}))[0]
    assert [line.get_xydata().tolist() for line in axes.lines] == [[[0, 0], [19, 0]], [[7, 0]], [[3, 0]]]
    assert [(words.get_text(), words.xy) for words in axes.texts] == [("released: 7", (7, 0)), ("true: 3", (3, 0))]


def test_where_every_person_is_one_row_the_pictures_speak_of_people():
    seen = {
        "facts": {"outliers": 3},
        "figures": {"degrees": {"rows": [1, 2, 0, 9], "threshold": 2}},
        "released": {"count": 4},
    }
    for unit, word, other in (("row", "rows", "people"), ("person", "people", "rows")):
        for picture in owner_pictures("count", {**seen, "unit": unit}):
            said = f"{picture.svg} {picture.caption}"
            assert word in said
            assert other not in said
