"""What a release shows and what it refuses to hold."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import pytest

from wallflower.count import Outliers, Subspaces
from wallflower.count.groups import GroupedOutliers
from wallflower.explain import Context
from wallflower.explain.records import Records
from wallflower.identify import Anomalies
from wallflower.privacy.guarantees import PureDP
from wallflower.privacy.price import Price
from wallflower.privacy.release import OwnerOnly, Release
from wallflower.publish import PlainTable


def release(value, **changes):
    fields = {
        "value": value,
        "guarantee": PureDP(epsilon=Fraction(1, 2), neighbours="add-remove"),
        "mechanism": {"name": "discrete-laplace", "scale": "2"},
        "ledger": {"account": "t", "entry": 3, "spent": {"epsilon": "0.5"}, "left": {"epsilon": "1"}},
        "private": True,
    }
    return Release(**(fields | changes))


@pytest.mark.parametrize(
    "smuggled",
    [
        OwnerOnly(7),
        {"count": OwnerOnly(7)},
        {"counts": [1, OwnerOnly(7)]},
        {"count": 7.5},
        {"count": Fraction(1, 2)},
        {"bytes": b"7"},
        {3: "x"},
    ],
)
def test_only_plain_json_without_floats_can_leave(smuggled):
    with pytest.raises(TypeError):
        release(smuggled)
    with pytest.raises(TypeError):
        release({"count": 1}, ledger={"entry": smuggled} if not isinstance(smuggled, dict) else smuggled)


def test_an_owners_value_shows_and_serialises_nothing():
    hidden = OwnerOnly("secret")
    assert "secret" not in f"{hidden} {hidden!r}"
    assert hidden.value == "secret"
    with pytest.raises(TypeError):
        pickle.dumps(hidden)


@pytest.mark.parametrize(
    ("question", "value", "says"),
    [
        (Outliers, {"count": 37, "interval": [0, 85]}, "count 37, between 0 and 85"),
        (Outliers, {"count": 37, "interval": None}, "count 37"),
        (Context, {"context": {"job": ["CEO"]}, "text": "job is CEO"}, "job is CEO"),
        (Context, {"contexts": [{"text": "job is CEO"}, {"text": "city is Ottawa"}]}, "job is CEO; city is Ottawa"),
        (Anomalies, {"answers": [{"asked": {"x": "1", "y": "2"}, "anomalous": True}]}, "x 1, y 2: an anomaly"),
        (
            Subspaces,
            {"subspaces": [{"columns": ["a", "b"], "count": 4}, {"columns": ["c"], "count": None}]},
            "a, b: count 4; c",
        ),
        (
            GroupedOutliers,
            {"groups": [{"value": "a", "count": 3, "interval": [1, 5]}, {"value": "b", "count": 0, "interval": None}]},
            "a: 3, between 1 and 5; b: 0",
        ),
        (
            Records,
            {"records": [{"record": "7", "answer": {"text": "job is CEO"}}, {"record": "8", "answer": None}]},
            "7: job is CEO; 8: no answer",
        ),
        (PlainTable, {"file": "out.csv", "rows": 10, "groups": 2}, "10 rows in 2 groups, in out.csv"),
        (Outliers, None, "no answer"),
    ],
)
def test_a_release_reads_well(question, value, says):
    shown = release(value, told=question.told)
    assert str(shown).splitlines()[0] == f"answer   {says}"
    assert says in shown._repr_html_()
    assert "0.5 spent, 1 left" in str(shown)


def test_a_seeded_release_says_so_first():
    assert "NOT PRIVATE" in str(release({"count": 1}, private=False)).splitlines()[1]


def test_no_answer_has_no_fields():
    with pytest.raises(LookupError, match="no answer"):
        release(None)["count"]
    assert release(None).to_json()["release"] is None


def test_an_answer_is_the_same_however_it_would_be_said_in_words():
    """A question asked again brings its own way of saying the answer that was recorded."""
    assert release({"count": 7}, told=lambda _: "seven") == release({"count": 7}, told=str) == release({"count": 7})
    assert release({"count": 7}, told=str) != release({"count": 8}, told=str)


def test_a_price_shows_every_public_choice():
    price = Price(
        guarantee=PureDP(epsilon=Fraction(1, 2), neighbours="add-remove"),
        mechanism={"name": "discrete-laplace"},
        settings={"radius": "3", "neighbours": "5"},
    )
    assert ("settings", "radius = 3, neighbours = 5") in price.lines()
    assert "settings" not in dict(replace(price, settings={}).lines())
