"""What a series of daily counts answers, and which questions and tables are refused."""

from __future__ import annotations

from datetime import date

import pytest

from tests.count.test_daily import START, Grown, declared, question, silent
from wallflower.errors import DeclarationError, UsageError
from wallflower.report.count import pictures
from wallflower.schema import loads


def test_earlier_days_are_told_the_same():
    from wallflower.noise.entropy import SeededEntropy

    declaration, entropy = declared(), SeededEntropy(3)
    rows = [((place,), day) for place, day in zip(range(-9, 9, 3), (1, 1, 2, 3, 4, 4), strict=True)]
    kept, first = question(through="2020-01-02").go_on((), Grown(rows[:3], declaration), entropy)
    again, second = question(through="2020-01-04").go_on(kept, Grown(rows, declaration), entropy)
    assert again[:2] == kept
    assert second["days"][:2] == first["days"]
    assert [day["day"] for day in second["days"]] == ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]
    assert question().told(second).startswith("4 days; 2020-01-04: ")


def test_rows_count_from_the_day_they_name():
    rows = [((0,), -5), ((10,), 1), ((20,), 2), ((21,), 3)]
    kept = silent(horizon=4).go_on((), Grown(rows, declared()), None)[0]
    assert silent(horizon=4).tree.totals(kept) == [2, 3, 2, 2]
    seen = question(through="2020-01-03").inspect(Grown(rows, declared()))
    assert seen["figures"]["daily"]["counts"] == [2, 3, 2]
    assert "end of the day" in pictures(seen)[0].svg


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"start": "2018-06-01"}, UsageError, "declared from 2019-01-01"),
        ({"start": "2031-12-30"}, UsageError, "to 2031-12-31"),
        ({"daily": "x0"}, DeclarationError, "does not hold dates"),
        ({"daily": "nothing"}, DeclarationError, "not declared"),
        ({"measures": ["added_"]}, DeclarationError, "not declared"),
    ],
)
def test_what_cannot_be_counted_is_refused(changes, error, words):
    with pytest.raises(error, match=words):
        question(**changes).price(declared())


def test_a_table_that_may_lose_rows_is_refused_with_the_reason():
    with pytest.raises(DeclarationError, match="window") as refused:
        question().price(declared(grows=False))
    assert "a row that leaves, or changes" in str(refused.value)
    assert "grows = true" in str(refused.value.hint)


@pytest.mark.parametrize("start", ["2026-1-1", "tomorrow", 5, None, "2026-02-30", "9999-12-31"])
def test_a_day_is_a_day(start):
    with pytest.raises(UsageError, match="start"):
        question(start=start)


def test_no_day_is_told_before_it_is_over():
    today = date(2020, 1, 3)
    assert question().until(today).through == date(2020, 1, 2)
    assert question(through="2020-01-01").until(today).through == date(2020, 1, 1)
    assert question().until(date(2021, 1, 1)).through == question().end
    with pytest.raises(UsageError, match="not over yet"):
        question(through="2020-01-03").until(today)
    with pytest.raises(UsageError, match="no day of it is over"):
        question().until(START)


PEOPLE = """
[table]
id = "visits"
unit = "person"
person = "patient"
neighbours = "add-remove"
max_people = 10
grows = true
reviewed = true
ledger = "rows.ledger"
[columns.x]
role = "sensitive"
lower = 0
upper = 10
step = 1
outside = "clip"
missing = "drop"
per_person = "mean"
"""


@pytest.mark.parametrize("several", [False, True])
def test_people_do_not_only_grow(several):
    text = PEOPLE
    if several:
        text = text.replace('per_person = "mean"\n', "").replace("max_people", "rows_per_person = 3\nmax_people")
    with pytest.raises(DeclarationError, match="does not only grow"):
        loads(text)
    assert loads(text.replace("grows = true\n", "")).grows is False
