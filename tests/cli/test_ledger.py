"""`wallflower ledger` as an owner meets it: opening the book, reading it, checking it, copying it, closing a request."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.workspace import lay_out, leave_unanswered
from wallflower.cli.app import run

COUNT = ("count", "salaries.toml", "--columns", "salary", "--neighbours", "5", "--radius", "1000", "--epsilon", "1/2")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ledger(*arguments: str) -> int:
    return run(["ledger", *arguments])


def said(capfd, *arguments: str) -> dict:
    capfd.readouterr()
    assert ledger(*arguments, "--json") == 0
    return json.loads(capfd.readouterr().out)


def kinds(capfd) -> list[str]:
    return [event["kind"] for event in said(capfd, "history", "salaries.toml")["events"]]


def test_without_a_ledger_every_question_about_one_is_refused(desk, capfd):
    Path("salaries.ledger").unlink()
    for asked in (["show"], ["history"], ["verify"], ["backup"], ["close"]):
        more = {"backup": ["copy.ledger"], "close": ["--request-id", "monday"]}.get(asked[0], [])
        assert ledger(*asked, "salaries.toml", *more) == 3
        assert "ledger" in capfd.readouterr().err
    assert not {"salaries.ledger", "copy.ledger"} & {path.name for path in desk.iterdir()}


def test_a_ledger_that_is_open_stays_as_it_is(desk, capfd):
    assert run(COUNT) == 0
    before = said(capfd, "history", "salaries.toml")
    assert ledger("init", "salaries.toml") == 0
    assert "Nothing has changed." in capfd.readouterr().out
    assert said(capfd, "history", "salaries.toml") == before


def test_a_changed_limit_is_recorded_with_who_and_why_and_forgets_nothing(desk, capfd):
    assert run(COUNT) == 0
    text = Path("salaries.toml").read_text(encoding="utf-8")
    Path("salaries.toml").write_text(
        text.replace('[budget.dp]\nepsilon = "10"', '[budget.dp]\nepsilon = "12"'), encoding="utf-8"
    )
    assert ledger("init", "salaries.toml", "--by", "A. Meyer", "--reason", "the board approved a second year") == 0
    capfd.readouterr()
    assert ledger("history", "salaries.toml") == 0
    last = capfd.readouterr().out.splitlines()[-1]
    assert "A. Meyer" in last
    assert "the board approved a second year" in last
    account = accounts(capfd)["dp"]
    assert (account["spent"], account["limit"]) == ({"epsilon": "0.5"}, {"epsilon": "12"})


def accounts(capfd) -> dict[str, dict]:
    return {each["account"]: each for each in said(capfd, "show", "salaries.toml")["ledger"]["accounts"]}


def test_what_was_spent_is_shown_in_the_same_numbers_to_people_and_programs(desk, capfd):
    assert accounts(capfd)["dp"]["spent"] == {"epsilon": "0"}
    assert run(COUNT) == 0
    account = accounts(capfd)["dp"]
    assert (account["spent"], account["left"]) == ({"epsilon": "0.5"}, {"epsilon": "9.5"})
    assert ledger("show", "salaries.toml") == 0
    shown = capfd.readouterr().out
    assert "9.5" in shown
    assert account["sentence"] in shown


def test_history_has_every_event_or_those_of_one_asker(desk, capfd):
    assert run([*COUNT, "--purpose", "a first look"]) == 0
    assert kinds(capfd)[-2:] == ["charge", "answer"]
    assert said(capfd, "history", "salaries.toml", "--asker", "nobody")["events"] == []
    assert ledger("history", "salaries.toml") == 0
    assert "a first look" in capfd.readouterr().out


def test_a_whole_ledger_is_verified_and_a_head_seen_earlier_is_found_in_it(desk, capfd):
    assert run(COUNT) == 0
    earlier = said(capfd, "verify", "salaries.toml")["verified"]
    assert run(COUNT) == 0
    later = said(capfd, "verify", "salaries.toml", "--anchor", earlier["head"])["verified"]
    assert (earlier["charges"], later["charges"]) == (1, 2)
    assert later["entries"] > earlier["entries"]
    assert ledger("verify", "salaries.toml", "--anchor", f"sha256:{'0' * 64}") == 3
    assert "Traceback" not in capfd.readouterr().err


def test_a_copy_is_whole_and_replaces_nothing(desk, capfd):
    assert run(COUNT) == 0
    assert ledger("backup", "salaries.toml", "copy.ledger") == 0
    assert "keep it as you keep the rows" in capfd.readouterr().out
    with sqlite3.connect("copy.ledger") as copy:
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    copy.close()
    before = Path("copy.ledger").read_bytes()
    assert ledger("backup", "salaries.toml", "copy.ledger") == 3
    assert "copy.ledger" in capfd.readouterr().err
    assert Path("copy.ledger").read_bytes() == before


def test_a_closed_request_keeps_its_charge_and_has_no_answer(desk, capfd):
    leave_unanswered(desk)
    charged = accounts(capfd)["dp"]["spent"]
    assert ledger("close", "salaries.toml", "--request-id", "tuesday") == 3
    assert kinds(capfd)[-1] == "charge"
    assert ledger("close", "salaries.toml", "--request-id", "monday") == 0
    assert "stays spent" in capfd.readouterr().out
    assert accounts(capfd)["dp"]["spent"] == charged
    assert kinds(capfd)[-1] != "charge"


def test_an_administrator_s_statements_are_printed_and_nothing_is_opened(desk, capfd):
    Path("salaries.ledger").unlink()
    assert ledger("init", "salaries.toml", "--sql") == 0
    assert "CREATE" in capfd.readouterr().out
    assert not Path("salaries.ledger").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("ledger", "init", "salaries.toml", "--reason"),
        ("ledger", "init", "salaries.toml", "--by"),
        ("ledger", "close", "salaries.toml", "--request-id"),
        ("ledger", "close", "salaries.toml", "--request-id", "monday", "--asker"),
        ("declare", "salaries.csv", "-o", "draft.toml", "--table"),
    ],
)
def test_what_could_not_be_written_down_is_refused(desk, capfd, arguments):
    """A byte that is no UTF-8 comes from a shell as half a letter."""
    Path("salaries.toml").write_text(Path("salaries.toml").read_text().replace('epsilon = "20"', 'epsilon = "21"'))
    before = Path("salaries.ledger").read_bytes()
    assert run([*arguments, "the \udcff"]) == 2
    assert "some of its bytes are not UTF-8" in capfd.readouterr().err
    assert Path("salaries.ledger").read_bytes() == before
    assert not Path("draft.toml").exists()
