"""Daily counts through the session: charged once, going on for nothing, told the same, and safe when a process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import wallflower as wf
from tests.searched import searched
from wallflower import errors
from wallflower.count import DailyOutliers
from wallflower.ledger import Ledger
from wallflower.ledger.series import SeriesChain
from wallflower.noise import entropy as randomness
from wallflower.report.certificate import certificate
from wallflower.schema import loads
from wallflower.session import Session, series

ROOT = Path(__file__).resolve().parents[1]
TABLE = """
[table]
id = "visits"
source = "rows.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
grows = true
reviewed = true
ledger = "rows.ledger"
[budget.dp]
epsilon = "2"
[columns.x]
role = "sensitive"
lower = 0
upper = 100
step = 1
outside = "clip"
missing = "drop"
[columns.added]
role = "insensitive"
lower = 2020-01-01
upper = 2020-12-31
outside = "drop"
missing = "drop"
"""
ROWS = [(10 * (i % 10), f"2020-01-{1 + i % 9:02}") for i in range(30)]


def asked(through=None, **changes):
    question = {
        "measures": ("x",), "daily": "added", "start": "2020-01-01", "horizon": 60, "neighbours": 2, "radius": 3,
        "epsilon": "1", "through": through,
    }  # fmt: skip
    return DailyOutliers(**question | changes)


def frame(rows=ROWS):
    return pa.table({"x": [x for x, _ in rows], "added": [day for _, day in rows]})


@pytest.fixture
def declared(tmp_path):
    made = loads(TABLE, folder=tmp_path)
    Ledger.init(made)
    return made


def kinds(declared):
    return [line.kind for line in Ledger.open(declared).history()]


def test_a_later_day_goes_on_uncharged_and_tells_the_same(declared):
    first = wf.table(frame(), declared).release(asked("2020-01-05"))
    more = [*ROWS, *[(55, "2020-01-08")] * 3]
    later = wf.table(frame(more), declared).release(asked("2020-01-12"))
    assert later["days"][:5] == first["days"]
    assert len(later["days"]) == 12
    assert (first.ledger["entry"], first.ledger["spent"]) == (later.ledger["entry"], later.ledger["spent"])
    assert kinds(declared) == ["limits", "charge", "part", "part"]
    again = wf.table(frame(), declared).release(asked("2020-01-03"))
    assert again.to_json() == later.to_json()
    assert kinds(declared) == ["limits", "charge", "part", "part"]
    Ledger.open(declared).verify()


def test_whatever_can_fail_is_tried_before_each_part_is_drawn_and_not_for_what_is_kept(declared, monkeypatch):
    tried, right = [], Session._ready
    monkeypatch.setattr(
        Session, "_ready", lambda self, query: (tried.append(str(query.through)), right(self, query))[1]
    )
    for day in ("2020-01-05", "2020-01-05", "2020-01-08", "2020-01-06"):
        wf.table(frame(), declared).release(asked(day))
    assert tried == ["2020-01-05", "2020-01-08"]


def test_another_name_or_another_asker_is_another_series(declared):
    visits = wf.table(frame(), declared)
    one = visits.release(asked("2020-01-05"))
    other = visits.release(asked("2020-01-05"), "mine")
    assert other.ledger["entry"] != one.ledger["entry"]
    with pytest.raises(errors.BudgetError):
        visits.release(asked("2020-01-05"), asker="ann")
    assert visits.release(asked("2020-01-06"), "mine").ledger["entry"] == other.ledger["entry"]


def test_until_yesterday_unless_told_otherwise(declared, monkeypatch):
    monkeypatch.setattr(series, "now", lambda: "2020-01-04T23:59:59Z")
    visits = wf.table(frame(), declared)
    assert [day["day"] for day in visits.release(asked())["days"]] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    with pytest.raises(errors.UsageError, match="not over yet"):
        visits.release(asked("2020-01-04"))
    monkeypatch.setattr(series, "now", lambda: "2030-01-04T00:00:00Z")
    assert visits.release(asked())["days"][-1]["day"] == "2020-02-29"
    assert len(visits.owner.report(asked()).value["seen"]["figures"]["daily"]["days"]) == 60


def test_the_price_says_what_has_been_charged_already(declared):
    visits = wf.table(frame(), declared)
    assert visits.preview(asked()).debited
    visits.release(asked("2020-01-05"))
    told = visits.preview(asked())
    assert (told.debited, told.notes) == ((), (series.GOES_ON,))


def test_a_series_begun_under_another_tree_is_not_gone_on_with(declared, monkeypatch):
    from wallflower.count.tree import Tree

    visits = wf.table(frame(), declared)
    visits.release(asked("2020-01-05"))
    monkeypatch.setattr(Tree, "best", classmethod(lambda _cls, horizon: Tree(horizon=horizon, arity=3, levels=3)))
    with pytest.raises(errors.LedgerError, match="another mechanism"):
        visits.release(asked("2020-01-06"))


def test_a_certificate_speaks_of_the_whole_series(declared):
    release = wf.table(frame(), declared).release(asked("2020-01-05")).to_json()
    page = certificate(release).html
    assert "a series of 60 days from 2020-01-01, 5 of them told so far, until 2020-01-05" in page
    assert "for the whole series at once" in page


def test_every_part_can_be_compared_with_the_ledger(declared):
    visits = wf.table(frame(), declared)
    early, late = (visits.release(asked(day)).to_json() for day in ("2020-01-05", "2020-01-09"))
    ledger = Ledger.open(declared)
    for part in (early, late):
        assert ledger.recorded(2, like=part).differences(part) == []
    forged = {
        **early,
        "release": {"days": [*early["release"]["days"][:-1], {**early["release"]["days"][-1], "count": 999}]},
    }
    assert ledger.recorded(2, like=forged).differences(forged) == ["release.days"]
    assert [each.release for each in ledger.releases()] == [late]


def test_only_what_is_recorded_is_shown(declared, monkeypatch):
    """A draw that could not be recorded is gone: nothing was shown, the next is fresh, and nothing more is charged."""
    drawn = []
    whole = SeriesChain.part

    def broken(self, charge, kept, release, *, after):
        drawn.append(list(kept))
        raise OSError("the disk is full")

    visits = wf.table(frame(), declared)
    monkeypatch.setattr(SeriesChain, "part", broken)
    with pytest.raises(OSError, match="full"):
        visits.release(asked("2020-01-05"))
    monkeypatch.setattr(SeriesChain, "part", whole)
    shown = wf.table(frame(), declared).release(asked("2020-01-05"))
    assert kinds(declared) == ["limits", "charge", "part"]
    kept = [line.event.content["kept"] for line in Ledger.open(declared).history() if line.kind == "part"]
    assert kept != drawn
    assert len(shown["days"]) == 5


KILLED = """
import os, signal, sys
import wallflower as wf
from wallflower.ledger.series import SeriesChain
from tests.test_series import asked

whole = SeriesChain.part

def killed(self, charge, kept, release, *, after):
    if sys.argv[2] == "after":
        whole(self, charge, kept, release, after=after)
    os.kill(os.getpid(), signal.SIGKILL)

SeriesChain.part = killed
wf.open(sys.argv[1]).release(asked("2020-01-05"))
print("shown")
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_between_draw_and_record_shows_nothing_and_charges_once(tmp_path, moment):
    (tmp_path / "rows.toml").write_text(TABLE)
    (tmp_path / "rows.csv").write_text("x,added\n" + "".join(f"{x},{day}\n" for x, day in ROWS))
    declared = wf.open(tmp_path / "rows.toml").declaration
    Ledger.init(declared)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "rows.toml"), moment],
        env={**os.environ, "PYTHONPATH": searched(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "")
    recorded = [line.event.content["kept"] for line in Ledger.open(declared).history() if line.kind == "part"]
    assert len(recorded) == (1 if moment == "after" else 0)
    told = wf.open(tmp_path / "rows.toml").release(asked("2020-01-05"))
    assert kinds(declared).count("charge") == 1
    kept = [line.event.content["kept"] for line in Ledger.open(declared).history() if line.kind == "part"]
    assert kept[: len(recorded)] == recorded
    assert len(kept) == 1
    assert len(told["days"]) == 5
    Ledger.open(declared).verify()


def test_noise_is_asked_for_once_a_day(declared, monkeypatch):
    """Nothing is drawn for days that are kept: the source of randomness is not even touched."""
    visits = wf.table(frame(), declared)
    visits.release(asked("2020-01-05"))

    def forbidden(*_arguments):
        pytest.fail("noise was drawn again")

    monkeypatch.setattr(randomness.SystemEntropy, "bits", forbidden)
    assert len(visits.release(asked("2020-01-05"))["days"]) == 5
