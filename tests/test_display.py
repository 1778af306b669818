"""What a notebook shows: the whole of what may leave, and of an owner's report nothing but its question."""

from __future__ import annotations

import pickle
from dataclasses import replace
from html import escape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import wallflower as wf
from wallflower import progress
from wallflower.identify import owner_view
from wallflower.ledger import Ledger
from wallflower.publish import inspection
from wallflower.schema import loads
from wallflower.schema.display import percent
from wallflower.session import notebook_progress, rehearsal_result
from wallflower.stream import prices

DECLARATION = """
[table]
id = "visits"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
ledger = "visits.ledger"
[budget.dp]
epsilon = "2"
[columns.age]
role = "sensitive"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
[columns.ward]
role = "quasi-identifier"
values = ["a", "b"]
outside = "drop"
missing = "drop"
"""
CANARY = 117
ROWS = {"age": [34, 36, CANARY], "ward": ["a", "b", "a"]}
QUESTION = wf.count.Outliers(columns=("age",), neighbours=2, radius=5, epsilon="0.5")


class Printer:
    def __init__(self):
        self.said = ""

    def text(self, said):
        self.said += said


def pretty(thing):
    """As IPython finds it: the method of the class itself, before any repr."""
    printer = Printer()
    vars(type(thing))["_repr_pretty_"](thing, printer, False)
    return printer.said


@pytest.fixture
def visits(tmp_path):
    declared = loads(DECLARATION, folder=tmp_path)
    Ledger.init(declared)
    return wf.table(pa.table(ROWS), declared)


def test_a_session_shows_its_table_and_its_budget_and_no_row(visits):
    for shown in (pretty(visits), visits._repr_html_()):
        assert "visits" in shown
        assert "age (sensitive)" in shown
        assert "0 of 2 spent" in shown
        assert str(CANARY) not in shown
    assert repr(visits) == "<Session on table 'visits'>"


def test_a_session_without_a_ledger_says_so(tmp_path):
    assert "ledger" in str(wf.table(pa.table(ROWS), loads(DECLARATION, folder=tmp_path)))


def test_a_table_that_nobody_has_reviewed_says_so(visits, tmp_path):
    unread = wf.table(pa.table(ROWS), loads(DECLARATION.replace("reviewed = true\n", ""), folder=tmp_path))
    assert "releases are refused until [table] says reviewed = true" in pretty(unread)
    assert "reviewed" not in pretty(visits)


def test_price_release_and_statement_say_the_same_in_both(visits):
    price, answer = visits.price(QUESTION), visits.release(QUESTION)
    statement = visits.budget
    for thing, word in ((price, "promise"), (answer, "entry 2 of"), (statement, "0.5 of 2 spent")):
        assert word in pretty(thing)
        assert word.replace("'", "&#x27;") in thing._repr_html_()
    assert {"price", "promise", "mechanism", "settings"} <= {label for label, _ in price.lines()}
    assert f"<strong>{escape(statement.lines()[0])}</strong>" in statement._repr_html_()
    assert statement.to_json()["entries"] >= 2


def test_an_owner_s_report_shows_its_question_until_it_is_opened(visits):
    report = visits.owner.report(QUESTION)
    for closed in (pretty(report), report._repr_html_(), repr(report), str(report)):
        assert "NOT PRIVATE" in closed
        assert "outliers" not in closed
    opened = report.show()
    for shown in (pretty(opened), opened._repr_html_(), str(opened)):
        assert "NOT PRIVATE" in shown
        assert "outliers" in shown
    for kept in (report, opened):
        with pytest.raises(TypeError, match="never serialised"):
            pickle.dumps(kept)


@pytest.mark.parametrize(("kind", "made"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.Table)])
def test_tables_of_three_libraries_go_in_and_out(tmp_path, kind, made):
    declared = loads(DECLARATION, folder=tmp_path)
    Ledger.init(declared)
    frame = pa.table(ROWS) if kind == "arrow" else made(ROWS)
    answer = wf.table(frame, declared).release(
        wf.count.GroupedOutliers(measures=("age",), by="ward", neighbours=2, radius=5, epsilon=1)
    )
    out = answer.to_frame(kind)
    assert isinstance(out, made)
    assert out.shape[0] == 2
    assert "[columns.ward]" in wf.declare(frame).text


def test_a_declaration_is_given_as_its_file_and_needs_no_source(tmp_path):
    (tmp_path / "visits.toml").write_text(DECLARATION, encoding="utf-8")
    declared = wf.table(pa.table(ROWS), tmp_path / "visits.toml").declaration
    assert declared.fingerprint == loads(DECLARATION, folder=tmp_path).fingerprint


def test_an_interpreter_shows_a_price_in_one_line(visits):
    assert repr(visits.price(QUESTION)) == "<Price: dp: epsilon 0.5; print it for the whole>"


def test_where_a_unit_is_a_row_the_question_s_own_price_is_asked(visits):
    asked, own = visits.price(QUESTION), QUESTION.price(visits.declaration)
    assert asked == replace(own, booked=asked.booked)


def test_no_answer_is_a_table_without_rows_and_a_wrong_kind_is_refused(visits):
    answer = replace(visits.release(QUESTION), value=None)
    assert len(answer.to_frame()) == 0
    with pytest.raises(wf.UsageError, match="pandas, polars or arrow"):
        answer.to_frame("excel")


def test_a_draft_shows_no_row_and_is_kept_from_others(tmp_path):
    draft = wf.declare(pa.table({"town": ["canary-town", "b", "b"]}), name="towns")
    assert "canary-town" in draft.text
    assert "canary-town" not in pretty(draft) + draft._repr_html_() + repr(draft)
    assert "town" in pretty(draft)
    place = tmp_path / "towns.toml"
    draft.write(place)
    assert place.stat().st_mode & 0o077 == 0
    with pytest.raises(wf.UsageError, match="exists already"):
        draft.write(place)
    with pytest.raises(wf.UsageError, match="no column"):
        wf.declare(pa.table({"a": [1]}), columns=("b",))


def test_a_detector_may_be_spelled():
    spelled = wf.explain.Context(record="1", metric="m", by=("a",), detector="lof(neighbours=5)", epsilon=1)
    assert spelled == wf.explain.Context(
        record="1", metric="m", by=("a",), detector=wf.detectors.LOF(neighbours=5), epsilon=1
    )
    with pytest.raises(wf.UsageError, match="no detector is called"):
        wf.explain.Context(record="1", metric="m", by=("a",), detector="nonsense", epsilon=1)


def test_progress_shows_in_a_notebook_after_a_second_and_is_gone_at_the_end(monkeypatch):
    shown = []

    class Handle:
        def update(self, page):
            shown.append(page)

    def display(page, display_id):
        shown.append(page)
        return Handle()

    fake = SimpleNamespace(HTML=lambda text: text, display=display)
    monkeypatch.setattr(notebook_progress, "in_a_notebook", lambda: True)
    monkeypatch.setattr(notebook_progress, "import_module", lambda _: fake)
    times = iter([0.0, 0.5, 1.5, 2.5])
    with notebook_progress.shown_progress(clock=lambda: next(times)):
        for done in (1, 2, 3):
            progress.report("contexts", done, 4)
    assert [page[-6:] for page in shown] == ["2 of 4", "3 of 4", ""]
    assert not progress.heard()


def test_progress_is_silent_where_no_notebook_is_and_where_somebody_listens(monkeypatch):
    with notebook_progress.shown_progress():
        assert not progress.heard()
    monkeypatch.setattr(notebook_progress, "in_a_notebook", lambda: True)
    heard = []
    with progress.listening(lambda *said: heard.append(said)), notebook_progress.shown_progress():
        progress.report("x", 1, 2)
    assert heard == [("x", 1, 2)]


@pytest.mark.parametrize(("digits", "whole"), [(0, 200), (0, 1_000), (1, 2_000), (1, 71_473), (2, 10**6)])
def test_a_share_is_said_to_be_all_or_none_only_where_it_is(digits, whole):
    counts = [*range(12), *range(whole - 12, whole + 1)]
    said = {count: percent(count / whole, digits=digits) for count in counts}
    all_, none = f"{100:.{digits}f} %", f"{0:.{digits}f} %"
    assert [count for count in counts if said[count] == all_] == [whole]
    assert [count for count in counts if said[count] == none] == [0]
    for count, text in said.items():  # what is said is true: a bound, or the nearest
        number = float(text.split()[-2])
        if text.startswith("over"):
            assert 100 * count / whole > number
        elif text.startswith("under"):
            assert 100 * count / whole < number
        else:
            assert abs(100 * count / whole - number) <= 0.5 * 10**-digits + 1e-9


def test_every_share_of_counts_is_said_by_that_rule():
    most = np.array([199_999, 1])
    assert rehearsal_result.share(199 / 200) == "over 99 %"
    assert inspection._share(1_999, 2_000) == "over 99.9 %"
    assert inspection._share(1, 9_000) == "under 0.1 %"
    assert owner_view._share(most, np.array([True, False])) == "199999 of 200000 (over 99.99 %)"
    assert prices._percent(0.99996) == "over 99.9%"
