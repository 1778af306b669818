"""The command as an asker and an owner meet it: exit codes, what no answer says, the owner's report."""

from __future__ import annotations

import json

import pytest

from tests.contracts.examples_explain import ROWS, TABLE
from wallflower.cli.app import run
from wallflower.ledger import Ledger
from wallflower.schema import load


@pytest.fixture
def declared(tmp_path):
    def declare(*, rows=ROWS, table=TABLE):
        (tmp_path / "rows.csv").write_text(rows)
        path = tmp_path / "rows.toml"
        path.write_text(table)
        Ledger.init(load(path))
        return path

    return declare


def asked(path, record, *more, detector="lof(neighbours=5)"):
    return run([
        "explain", str(path), "--record", record, "--metric", "salary", "--by", "job,age", "--detector", detector,
        "--epsilon", "0.1", *more,
    ])  # fmt: skip


def test_an_outlier_is_explained_in_words(declared, capfd):
    assert asked(declared(), "odd") == 0
    out = capfd.readouterr().out
    assert "answer" in out
    assert "'odd'" in out


def test_unknown_repeated_dropped_and_ordinary_records_say_and_cost_the_same(declared, capfd):
    twice = ROWS + "twin,nurse,41,640\ntwin,nurse,42,645\ngone,,41,640\n"
    path = declared(rows=twice)
    said = []
    for record in ("nobody", "twin", "gone", "e7"):
        assert asked(path, record, "--json") == 5
        answer = json.loads(capfd.readouterr().out.replace(record, "KEY"))
        ledger = answer.pop("ledger")
        answer.pop("at")  # when it was charged
        answer.pop("declaration")  # a digest may spell the record
        said.append((answer, set(ledger)))
    assert all(one == said[0] for one in said)
    assert said[0][0]["release"] is None
    assert "unknown or not the only one with its key" in said[0][0]["notes"][0]
    assert asked(path, "odd", "--json") == 0
    assert json.loads(capfd.readouterr().out)["ledger"]["spent"]["epsilon"] == "0.5"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('values = ["clerk", "nurse", "judge"]\n', "", "job"),
        ("bins = [0, 30, 60]\n", "", "no declared values"),
        ('lower = 0\nupper = 1000\nstep = "0.5"\n', 'values = ["1"]\n', "not numeric"),
    ],
)
def test_what_is_not_declared_is_refused_before_any_row_is_read(declared, tmp_path, capfd, old, new, says):
    path = declared()
    text = TABLE.replace(old, new)
    if "values" in new:
        text = text.replace('outside = "clip"\nmissing = "drop"\n' * 1, 'outside = "drop"\nmissing = "drop"\n')
    path.write_text(text)
    (tmp_path / "rows.csv").unlink()
    assert asked(path, "odd") == 2
    assert says in capfd.readouterr().err


def test_the_owners_report_shows_the_record_in_its_best_context(declared, tmp_path):
    path = declared()
    page, data = tmp_path / "owner.html", tmp_path / "owner.json"
    assert asked(path, "odd", "--owner-report", str(page)) == 0
    text = page.read_text()
    assert "NOT PRIVATE" in text
    assert "the record" in text
    assert "<svg" in text
    assert asked(path, "odd", "--owner-report", str(data)) == 0
    facts = json.loads(data.read_text())["seen"]["facts"]
    assert facts["valid contexts"] > 0
    assert "best context" in facts
    assert asked(path, "nobody", "--owner-report", str(page)) == 5


def test_a_dry_run_says_what_full_needs(declared, capfd):
    code = asked(declared(), "odd", "--guarantee", "full", "--dry-run", detector="grubbs()")
    out = capfd.readouterr().out
    assert code == 0
    assert "stays valid while any" in out
    assert "Nothing was read" in out
