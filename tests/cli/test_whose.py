"""Whose request it is, and under which id: what the command line is told reaches the ledger, and asks for no other's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.workspace import SALARIES, lay_out
from wallflower.cli.app import run
from wallflower.count import Outliers
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.session import open as open_session

COUNT = ["count", "salaries.toml", "--columns", "salary", "--neighbours", "5", "--radius", "1000", "--epsilon", "0.5"]
ADA = ["--asker", "ada"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("desk")
    lay_out(found)
    text = f'{SALARIES}\n[askers.ada.dp]\nepsilon = "0.75"\n'
    (found / "salaries.toml").write_text(text, encoding="utf-8")
    Ledger.init(load(found / "salaries.toml"))
    return found


@pytest.fixture
def desk(folder, monkeypatch):
    """One table for all of these tests: each has an asker of its own."""
    monkeypatch.chdir(folder)
    return folder


def asked(capfd, *arguments, code=0):
    capfd.readouterr()
    assert run([*arguments, "--json"]) == code
    return json.loads(capfd.readouterr().out)


def test_the_same_request_is_charged_once_and_answered_alike(desk, capfd):
    mine = [*COUNT, "--asker", "mo", "--request-id", "monday"]
    first = asked(capfd, *mine)
    assert asked(capfd, *mine) == first
    assert len(asked(capfd, "releases", "salaries.toml", "--asker", "mo")["releases"]) == 1


def test_an_asker_is_held_to_their_own_share(desk, capfd):
    asked(capfd, *COUNT, *ADA)
    refused = asked(capfd, *COUNT, *ADA, code=3)
    assert "share of 'ada'" in refused["error"]["message"]
    previewed = asked(capfd, *COUNT, *ADA, "--dry-run")
    assert previewed["price"]["debited"] == []
    assert any("would be refused now" in note for note in previewed["price"]["notes"])
    assert asked(capfd, *COUNT, "--dry-run")["price"]["debited"] != []  # the owner has no such share
    asked(capfd, *COUNT)


def test_an_asker_s_releases_are_listed_and_written_for_nobody_else(desk, capfd):
    bo = ["--asker", "bo"]
    entries = [asked(capfd, *COUNT, *who)["ledger"]["entry"] for who in (bo, [])]
    listed = asked(capfd, "releases", "salaries.toml", *bo)["releases"]
    assert [one["entry"] for one in listed] == entries[:1]
    told = asked(capfd, "releases", "salaries.toml", "--entry", str(entries[1]), *bo, code=2)
    assert "was not told to 'bo'" in told["error"]["message"]


def test_a_request_is_closed_for_the_one_who_made_it(desk):
    """Two askers may have used one id."""
    declared = load("salaries.toml")
    ledger, session = Ledger.open(declared), open_session("salaries.toml")
    query = Outliers(columns=("salary",), neighbours=5, radius=1000, epsilon="0.5")
    promise = session.price(query).guarantee
    made = [
        ledger.charge(promise, declaration=declared, query=query, request_id="one", asker=asker).entry
        for asker in ("owner", "cy")
    ]
    assert run(["ledger", "close", "salaries.toml", "--request-id", "one", "--asker", "cy"]) == 0
    assert Ledger.open(declared).journal.waiting == made[:1]


def test_a_page_that_was_changed_is_not_good_on_the_command_line_either(desk, capfd):
    release = asked(capfd, *COUNT)
    Path("release.json").write_text(json.dumps(release), encoding="utf-8")
    assert run(["certificate", "--new-key", "owner"]) == 0
    signed = ["certificate", "release.json", "-o", "page.html", "--verify", "salaries.toml", "--sign", "owner"]
    assert run(signed) == 0
    check = ["certificate", "--check", "page.html", "--key", "owner.pub"]
    assert run(check) == 0
    assert "Good: every byte" in capfd.readouterr().out
    assert run([*check, "-o", "other.html"]) == 2
    page = Path("page.html").read_bytes()
    Path("page.html").write_bytes(page.replace(b"salaries", b"salaires", 1))
    assert run(check) != 0
    assert "Good" not in capfd.readouterr().out
    assert run(["certificate", "release.json", "-o", "page.txt"]) == 2
    assert run(["releases", "salaries.toml", "--entry", str(release["ledger"]["entry"]), "--certificate", "c.txt"]) == 2
    assert not Path("c.txt").exists()
