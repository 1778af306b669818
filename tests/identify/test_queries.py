"""The question as a whole: price, charge, answers, errors, the owner's view."""

from __future__ import annotations

import json
import math
from datetime import date
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.identify.tables import declaration, model, session
from tests.statistics.fit import fit
from wallflower import errors
from wallflower.identify import Anomalies
from wallflower.identify.answers import FadingAnswers, LookAheadAnswers
from wallflower.identify.owner_view import effective_epsilon
from wallflower.identify.sentences import chance
from wallflower.noise.entropy import SeededEntropy
from wallflower.report.owner import write_owner_report

ROWS = {
    "x": [0.0] * 30 + [0.5] * 20 + [60.0],
    "y": [0] * 50 + [60],
    "city": ["A"] * 50 + ["B"],
    "day": [date(2020, 2, 1)] * 50 + [date(2021, 6, 1)],
}
ODD = {"x": 60, "y": 60}
PLAIN = {"x": 0, "y": 0}
ABSENT = {"x": "-60", "y": "-60"}


def test_sure_answers_are_the_true_ones(tmp_path):
    query = Anomalies(values=(ODD, PLAIN, ABSENT), epsilon=60)
    answers = session(tmp_path, ROWS).release(query)["answers"]
    assert [answer["anomalous"] for answer in answers] == [True, False, False]
    assert answers[0]["asked"] == {"x": "60", "y": "60"}


@pytest.mark.parametrize(
    ("extra", "value", "truth"),
    [
        ({"columns": ("city",), "radius": 0, "more": 'distance = "hamming"'}, {"city": "B"}, True),
        ({"columns": ("city",), "radius": 0, "more": 'distance = "hamming"'}, {"city": "A"}, False),
        ({"columns": ("x", "city"), "more": 'distance = "mixed"'}, {"x": 60, "city": "B"}, True),
        ({"columns": ("x", "city"), "more": 'distance = "mixed"'}, {"x": 60, "city": "C"}, False),
        ({"columns": ("day",), "radius": 3}, {"day": date(2021, 6, 1)}, True),
        ({"columns": ("day",), "radius": 3}, {"day": "2021-06-03"}, False),
        ({"more": "included = true"}, ABSENT, True),
        ({"more": "included = true"}, PLAIN, False),
    ],
)
def test_every_distance_and_variant(tmp_path, extra, value, truth):
    query = Anomalies(values=(value,), epsilon=60)
    (answer,) = session(tmp_path, ROWS, model(**extra)).release(query)["answers"]
    assert answer["anomalous"] is truth


def test_the_charge_is_by_influence_and_adds_up_on_the_model(tmp_path):
    opened = session(tmp_path, ROWS)
    apart, together = (ODD, PLAIN, ABSENT), (PLAIN, {"x": 1, "y": 1}, PLAIN)
    assert opened.price(Anomalies(values=apart, epsilon="0.1")).guarantee.epsilon == Fraction(1, 10)
    price = opened.price(Anomalies(values=together, epsilon="0.1"))
    assert price.guarantee.epsilon == Fraction(3, 10)
    assert price.guarantee.family == "sensitive-privacy"
    assert any("3 × 0.1" in note for note in price.notes)
    opened.release(Anomalies(values=apart, epsilon="0.1"))
    spent = opened.release(Anomalies(values=together, epsilon="0.1")).to_json()["ledger"]["spent"]
    assert spent["epsilon"] == "0.4"


def test_replacing_a_row_costs_two_moves():
    price = Anomalies(values=(ODD,), epsilon="0.1").price(declaration(neighbours="replace-one"))
    assert price.guarantee.epsilon == Fraction(1, 5)
    assert price.guarantee.neighbours == "replace-one"


def test_dp_is_booked_as_dp_and_in_the_model(tmp_path):
    opened = session(tmp_path, ROWS)
    price = opened.price(Anomalies(values=(ODD,), epsilon="0.1", method="dp"))
    assert price.guarantee.family == "dp"
    assert price.mechanism["margin"] == "dp"
    opened.release(Anomalies(values=(ODD,), epsilon="0.1", method="dp"))
    spent = opened.release(Anomalies(values=(ODD,), epsilon="0.1")).to_json()["ledger"]["spent"]
    assert spent["epsilon"] == "0.2"


def test_the_price_says_what_the_promise_is_worth():
    notes = {
        "regular": ((), {}),
        "in fact differentially private": ((), {"k": 4}),
        "in fact differentially private for every row": ((), {"more": "included = true"}),
        "not regular": ((), {"radius": "0"}),
    }
    for expected, (_, extra) in notes.items():
        price = Anomalies(values=(ODD,), epsilon="0.1").price(declaration(model(**extra)))
        assert (expected in " ".join(price.notes)) == (expected != "regular")
    looking = Anomalies(values=(ODD,), epsilon="0.1", method="lookahead").price(declaration(model(radius="0")))
    assert "plain truth" in " ".join(looking.notes)
    assert looking.mechanism["name"] == "look-ahead"


def test_the_price_quotes_the_chance_of_a_wrong_answer_by_rows_near():
    price = Anomalies(values=(ODD,), epsilon="0.1").price(declaration(model(beta=100, k=5)))
    absent = price.expected["wrong_if_no_row_holds_it_by_rows_near"]
    present = price.expected["wrong_if_one_row_holds_it_by_rows_near"]
    assert absent["0"] == chance(-9.6 - math.log1p(math.exp(-0.1)))
    assert present["100"] == "0.475"
    assert "0" not in present
    assert json.dumps(price.expected)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"values": ({"x": 101, "y": 0},)}, "outside the declared bounds"),
        ({"values": ({"x": "0.25", "y": 0},)}, "steps of 0.5"),
        ({"values": ({"x": "abc", "y": 0},)}, "decimal"),
        ({"values": ({"x": 1},)}, "'y' is missing"),
        ({"values": ({"x": 1, "y": 2, "z": 3},)}, "'z' is not a column"),
        ({"values": ({"x": 1, "y": 2}, {"x": 1})}, "same columns"),
        ({"values": ()}, "at least one"),
        ({"values": ({"x": 0.5, "y": 2},)}, "decimal or fraction in quotes"),
        ({"values": ("x=1",)}, "names its columns"),
        ({"epsilon": 0}, "above 0"),
        ({"epsilon": "-1"}, "above 0"),
        ({"model": "other"}, "no anomaly model 'other'"),
        ({"method": "magic"}, "'method' is"),
        ({"bound": "magic"}, "'bound' is"),
        ({"bound": 7}, "frozen dataclass"),
        ({"method": "lookahead"}, "no other value lies within the radius"),
        ({"method": "dp", "bound": "paper"}, "for method 'sensitive'"),
    ],
)
def test_slips_are_refused_in_words(changed, message):
    with pytest.raises(errors.UsageError, match=message):
        Anomalies(**{"values": (ODD,), "epsilon": 1, **changed}).price(declaration())


def test_categories_and_dates_are_checked():
    declared = declaration(model(columns=("city", "day"), more='distance = "mixed"'))
    for value, message in (
        ({"city": "a", "day": "2020-01-01"}, "not a declared value"),
        ({"city": "A", "day": "1.2.2020"}, "holds dates"),
        ({"city": "A", "day": "2019-12-31"}, "outside the declared bounds"),
    ):
        with pytest.raises(errors.UsageError, match=message):
            Anomalies(values=(value,), epsilon=1).price(declared)
    included = declaration(model(radius="0", more="included = true"))
    for changed in ({"method": "lookahead"}, {"bound": "paper"}):  # the paper bounds neither
        with pytest.raises(errors.UsageError, match="included"):
            Anomalies(values=(ODD,), epsilon=1, **changed).price(included)


@pytest.mark.statistics
@pytest.mark.parametrize(("copies", "within"), [(0, 0), (0, 5), (1, 1), (1, 4), (2, 3), (1, 9)])
def test_told_answers_follow_the_exact_probabilities(copies, within):
    (declared,) = declaration(model(beta=4, k=2)).models.values()
    fading = FadingAnswers(model=declared, epsilon=Fraction(3, 10), bound="star")
    entropy = SeededEntropy(10 * copies + within)
    draws = [int(fading.tell(copies, within, entropy)) for _ in range(20_000)]
    no, yes = (float(np.exp(c)) for c in fading.log_chances(np.array(copies), np.array(within)))
    assert no + yes == pytest.approx(1)
    assert fit(draws, {0: no, 1: yes}) > 1e-6
    margin = int(fading.margins(np.array(copies), np.array(within)))
    off = math.exp(-0.3 * (margin + 1)) / (1 + math.exp(-0.3))  # one step too sure
    law = {1: 1 - off, 0: off} if yes > no else {0: 1 - off, 1: off}
    assert fit(draws, law) < 1e-9


def test_protected_rows_have_an_effective_epsilon_of_epsilon():
    (declared,) = declaration(model(beta=20, k=4)).models.values()
    fading = FadingAnswers(model=declared, epsilon=Fraction(1, 4), bound="star")
    near = np.arange(1, 60)
    losses = effective_epsilon(fading, np.ones_like(near), near)
    sensitive = near >= 20 + 1 - 4
    assert (losses[sensitive] <= 0.25 + 1e-9).all()
    assert losses[near == 1] > 2  # a lone row is protected far less
    dp = FadingAnswers(model=declared, epsilon=Fraction(1, 4), bound="dp")
    assert (effective_epsilon(dp, np.ones_like(near), near) <= 0.25 + 1e-9).all()
    looking = LookAheadAnswers(model=declared, epsilon=Fraction(1, 4), alone=True)
    losses = effective_epsilon(looking, near, near)
    assert np.isinf(losses[0])
    assert (losses[near >= 20 + 1 - 4] <= 0.25 + 1e-9).all()


def test_the_owner_sees_the_truth_and_pictures(tmp_path):
    opened = session(tmp_path, ROWS)
    query = Anomalies(values=(ODD, PLAIN), epsilon="0.5")
    report = opened.owner.report(query)
    seen = report.value["seen"]
    assert seen["facts"]["anomalous rows"] == 1
    assert [row[-2] for row in seen["tables"][0]["rows"]] == ["yes", "no"]
    for ending in ("html", "json"):
        path = tmp_path / f"owner.{ending}"
        write_owner_report(path, query="identify", declaration=opened.declaration, report=report)
        assert "NOT PRIVATE" in path.read_text()
    assert (tmp_path / "owner.html").read_text().count("<svg") == 3


def test_the_owner_of_a_look_ahead_model_sees_true_chances(tmp_path):
    opened = session(tmp_path, ROWS, model(columns=("city",), radius=0, more='distance = "hamming"'))
    query = Anomalies(values=({"city": "A"}, {"city": "B"}), epsilon="0.5", method="lookahead")
    seen = opened.owner.report(query).value["seen"]
    near, right = seen["figures"]["map"]["near"], seen["figures"]["map"]["accuracy"]
    assert right[near == 50].min() > 1 - 1e-9  # fifty rows hold A: surely told as normal
    assert right[near == 1].tolist() == [1.0]
    assert seen["tables"][0]["rows"][1][1:4] == [1, 1, "yes"]


def test_many_questions_share_one_arrangement(tmp_path):
    values = tuple({"x": n, "y": n} for n in range(60))
    answers = session(tmp_path, ROWS).release(Anomalies(values=(*values, ODD), epsilon=60))["answers"]
    assert [answer["anomalous"] for answer in answers] == [False] * 60 + [True]


@pytest.mark.parametrize("extra", [{}, {"columns": ("city",), "radius": 0, "more": 'distance = "hamming"'}])
def test_the_owner_of_an_empty_table_sees_a_page_too(tmp_path, extra):
    value = {"city": "A"} if extra else ODD
    empty = {name: column[:0] for name, column in ROWS.items()}
    opened = session(tmp_path, empty, model(**extra))
    report = opened.owner.report(Anomalies(values=(value,), epsilon="0.5"))
    assert report.value["seen"]["facts"]["rows"] == 0
    write_owner_report(tmp_path / "o.html", query="identify", declaration=opened.declaration, report=report)


@given(st.floats(-900, -0.001))
@settings(max_examples=50)
def test_chances_are_spelt_right(logarithm):
    text = chance(logarithm)
    digits, _, exponent = text.partition("e")
    value = math.log(float(digits)) + (int(exponent) * math.log(10) if exponent else 0)
    assert value == pytest.approx(logarithm, abs=0.01)


@pytest.mark.parametrize(
    "extra", [{"beta": 0}, {"k": 0}, {"radius": "-1"}, {"columns": ("x", "z")}, {"columns": ("city",)}]
)
def test_a_model_that_means_nothing_is_refused_when_it_is_read(extra):
    with pytest.raises(errors.DeclarationError, match=r"beta|k|radius|'z'|'city'"):
        declaration(model(**extra))
