"""`declare` on messy exports: from the file to a release about people, with no edit but the answers to the questions."""

from __future__ import annotations

import io
import json
import stat
import sys

import pytest

from tests.cli.messy import EXPORTS
from wallflower.cli.app import run
from wallflower.schema import load
from wallflower.schema.decisions import decisions

ANSWERS = {
    "unit": "",
    "max_people": "100000",
    "reviewed": "true",
    "epsilon": "2",
    "lower": "0",
    "upper": "100000",
    "step": "0.01",
}


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.__name__)
def test_a_messy_export_reaches_a_release_about_people(export, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    name, content, column = export()
    (tmp_path / name).write_bytes(content)
    assert run(["declare", name, "-o", "open.toml", "--for", "count", "--columns", column]) == 0, capfd.readouterr().err
    told = capfd.readouterr().err  # what of the rows stands in the draft is said, whatever it is
    assert "quotes values seen in the rows" in told or "no other value of a row" in told
    questions = list(decisions((tmp_path / "open.toml").read_text(encoding="utf-8")))
    assert len(questions) <= 12
    assert stat.S_IMODE((tmp_path / "open.toml").stat().st_mode) == 0o600
    typed = "".join(f"{ANSWERS[each.key]}\n" for each in questions)
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert run(["declare", name, "-o", "t.toml", "--for", "count", "--columns", column, "--ask"]) == 0
    declared = load(tmp_path / "t.toml")
    assert (declared.unit, declared.reduced, declared.reviewed) == ("person", True, True)
    capfd.readouterr()
    assert run(["check", "t.toml", "--json"]) == 0
    seen = json.loads(capfd.readouterr().out)["not_private"]
    assert seen["rows"] == 160
    assert seen["people"] > 20
    assert seen["columns"][column]["unreadable"] <= 6
    assert run(["ledger", "init", "t.toml"]) == 0
    ask = ["count", "t.toml", "--columns", column, "--neighbours", "2", "--radius", "5", "--epsilon", "1"]
    assert run([*ask, "--dry-run"]) == 0
    capfd.readouterr()
    assert run([*ask, "--json"]) == 0
    release = json.loads(capfd.readouterr().out)
    assert release["guarantee"]["unit"] == "person"
    assert release["guarantee"]["protects"] == "every person"
    (tmp_path / "r.json").write_text(json.dumps(release), encoding="utf-8")
    assert run(["certificate", "r.json", "-o", "c.html"]) == 0
    assert "one id" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_a_file_without_names_is_not_drafted(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("1,2\n3,4\n")
    assert run(["declare", "t.csv", "-o", "t.toml"]) == 2
    assert "names of columns" in capfd.readouterr().err
    assert not (tmp_path / "t.toml").exists()


def test_a_folder_that_is_no_table_is_named_from_within_it(tmp_path, monkeypatch, capfd):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "t.md").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path / "here")
    assert run(["declare", ".", "-o", "t.toml"]) == 2
    assert "the folder 'here' is not a folder of" in capfd.readouterr().err


def test_what_is_given_is_taken(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes("a#b\n1#Gyn\xe4\n".encode("latin-1"))
    assert run(["declare", "t.csv", "-o", "t.toml", "--delimiter", "#", "--encoding", "cp1252"]) == 0
    assert 'read = {delimiter = "#", encoding = "cp1252"}' in (tmp_path / "t.toml").read_text(encoding="utf-8")
    (tmp_path / "tabs.csv").write_text("a\tb\n1\t2\n")
    for place, tab in enumerate(("tab", "\\t", "\t")):  # as a shell passes it on, and as people write it
        assert run(["declare", "tabs.csv", "-o", f"{place}.toml", "--delimiter", tab]) == 0
        assert 'delimiter = "\\t"' in (tmp_path / f"{place}.toml").read_text(encoding="utf-8")
    for wrong in (
        ["--delimiter", "##"],
        ["--encoding", "klingon"],
        ["--encoding", "idna"],
        ["--encoding", "undefined"],
        ["--encoding", ""],
        ["--columns", "c"],
    ):
        assert run(["declare", "t.csv", "-o", "u.toml", *wrong]) == 2
    capfd.readouterr()


def test_a_stream_is_drafted_and_arx_hierarchies_give_values(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("core temp,temperature,ward\n1,2.5,A\n2,3.5,B\n")
    (tmp_path / "ward.csv").write_text("B;any\nA;any\nC;any\n")
    assert run(["declare", "t.csv", "-o", "s.toml", "--for", "stream"]) == 0
    drafted = (tmp_path / "s.toml").read_text(encoding="utf-8")
    assert "[columns.temperature]" in drafted
    assert '[columns."core temp"]' in drafted
    assert "[stream]" in drafted
    said = capfd.readouterr().out
    assert "settle every # DECIDE" in said
    assert "reviewed" not in said + drafted  # a stream has no such line, and refuses it
    assert run(["declare", "t.csv", "-o", "t.toml", "--for", "publish", "--arx", "ward.csv"]) == 0
    text = (tmp_path / "t.toml").read_text(encoding="utf-8")
    assert 'values = ["B", "A", "C"]' in text
    assert 'hierarchy = "ward.csv"' in text
    assert run(["declare", "t.csv", "-o", "u.toml", "--arx", "t.csv"]) == 2
