"""The command line as a new user meets it: no arguments, wrong file, wrong column, wrong option, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
import typer
from scripts.reference import every_command

from tests.cli.workspace import lay_out, leave_unanswered
from tests.report.browser import missing
from wallflower.cli.app import build, run

ASK = ["count", "salaries.toml", "--columns", "salary", "--neighbours", "5", "--radius", "1000", "--epsilon", "1/2"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


NEED_A_BROKER = {"wallflower stream sensor", "wallflower stream analyst", "wallflower stream corrector"}
"""Their examples run against a broker of the test's own in tests/stream/test_examples.py."""

ELSEWHERE = {"wallflower serve run", *(() if missing() else ("wallflower demo",))}
"""Runs until it is stopped: tests/service/test_running.py does both. The demo takes long: tests/report/test_in_a_browser.py runs the same
line and opens its pages, where there is a browser."""

SERVICE = """\
[service]
database = "service.db"
address = "127.0.0.1:8443"
tick_s = 60
workers = 1
[tables.salaries]
declaration = "salaries.toml"
owners = ["lab-1"]
[openid]
issuer = "https://login.example"
client_id = "wallflower"
secret_variable = "SECRET"
address = "https://wallflower.example"
"""


def examples() -> list[tuple[str, str]]:
    found = []
    for path, command in every_command(typer.main.get_command(build()), "wallflower"):
        block = re.search(r"Example:\n((?:[ \t]+\S.*\n?)+)", command.help or "")
        if block and path not in NEED_A_BROKER | ELSEWHERE:
            lines = re.sub(r"\n\s+(?!wallflower )", " ", block[1]).splitlines()  # a long command goes on below
            found += [(path, line.strip()) for line in lines]
    return found


@pytest.mark.parametrize(("path", "line"), examples(), ids=[path for path, _ in examples()])
def test_the_example_in_the_help_runs(path, line, folder, capfd, monkeypatch):
    if path.startswith("wallflower serve user"):
        (folder / "SERVICE.toml").write_text(SERVICE)
        monkeypatch.setenv("WALLFLOWER_PASSWORD", "a password of the tests")
        if not path.endswith("add"):
            assert run(["serve", "user", "add", "SERVICE.toml", "lab-1"]) == 0
    if path == "wallflower ledger close":
        leave_unanswered(folder)
    if path == "wallflower attack":  # there must be something to attack
        publish = dict(examples())["wallflower publish"].replace("--dry-run", "")
        assert run(shlex.split(publish)[1:]) == 0, capfd.readouterr().err
    assert run(shlex.split(line)[1:]) == 0, capfd.readouterr().err


def test_no_arguments_show_help(capfd):
    assert run([]) == 2
    assert "declare" in "".join(capfd.readouterr())


def test_json_is_one_object_on_stdout(folder, capfd):
    assert run([*ASK, "--json"]) == 0
    said = json.loads(capfd.readouterr().out)
    assert set(said) == {
        *(
            "ok",
            "asked",
            "at",
            "declaration",
            "notes",
            "release",
            "guarantee",
            "mechanism",
            "ledger",
            "private",
            "wallflower",
        )
    }
    assert said["ledger"]["spent"] == {"epsilon": "0.5"}
    assert said["ledger"]["left"] == {"epsilon": "9.5"}


def test_a_dry_run_spends_nothing_and_says_the_price(folder, capfd):
    assert run([*ASK, "--dry-run", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["price"]["guarantee"]["parameters"] == {"epsilon": "0.5"}
    assert run(["ledger", "history", "salaries.toml", "--json"]) == 0
    assert all(event["kind"] != "charge" for event in json.loads(capfd.readouterr().out)["events"])


PUBLISH = ["publish", "salaries.toml", "-o", "p.csv", "--k", "5", "--p", "0.9", "--d", "0.5", "--dry-run"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["count", "nowhere.toml", *ASK[2:]], 2, "nowhere.toml"),
        ([*ASK[:3], "salry", *ASK[4:]], 2, "salary"),
        ([*ASK[:3], "job_title", *ASK[4:]], 2, "not numeric"),
        ([*ASK[:-1], "0"], 2, "above 0"),
        ([*ASK[:-1], "lots"], 2, "decimal"),
        ([*ASK[:-1], "100"], 3, "left"),
        ([*ASK, "--seed", "1"], 2, "test"),
        ([*ASK, "--owner-report", "report.pdf"], 2, ".html"),
        ([*ASK, "--owner-report", "no/such/folder/r.html"], 2, "folder"),
        ([*ASK, "--colour"], 2, "--colour"),
        ([*PUBLISH, "--recursive-diversity", f"3,{'9' * 5000}"], 2, "C,L"),
        ([*PUBLISH, "--recursive-diversity", "3,\u0663"], 2, "C,L"),
        ([*PUBLISH, "--at-most-suppressed", "1e9_999_999_999"], 2, "decimal"),
        (["conut"], 2, "conut"),
        (["declare", "nothing.csv", "-o", "x.toml"], 2, "nothing.csv"),
        (["declare", "salaries.csv", "-o", "salaries.toml"], 2, "exists"),
        (["ledger", "show", "nowhere.toml"], 2, "nowhere.toml"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_errors_say_what_was_wrong_and_what_to_do(folder, capfd, arguments, code, says, as_json):
    assert run([*arguments, *(["--json"] if as_json else [])]) == code
    shown = capfd.readouterr()
    if as_json and arguments[0] == "count":
        error = json.loads(shown.out)["error"]
        assert says in f"{error['message']} {error['hint']}"
    elif not as_json:
        assert shown.out == ""
        assert says in shown.err
    assert "Traceback" not in shown.err


def test_a_refused_request_charges_nothing(folder, capfd):
    run([*ASK, "--owner-report", "no/such/folder/r.html"])
    run([*ASK[:3], "salry", *ASK[4:]])
    capfd.readouterr()
    run(["ledger", "history", "salaries.toml"])
    assert "charge" not in capfd.readouterr().out


def test_a_missing_column_in_the_data_costs_nothing(folder, capfd):
    text = (folder / "salaries.csv").read_text()
    (folder / "salaries.csv").write_text(text.replace("salary", "wages", 1))
    assert run(ASK) == 2
    assert "salary" in capfd.readouterr().err
    run(["ledger", "history", "salaries.toml", "--json"])
    assert '"kind": "charge"' not in capfd.readouterr().out


SLOW = """
import sys, time
from pathlib import Path
from wallflower.count.queries import Outliers
from wallflower.cli.app import run

def wait(self, rows, entropy):
    Path("drawing").touch()
    time.sleep(3600)

Outliers.prepare = lambda self, rows, entropy: None  # or the rows it waits on would be the made-up ones
Outliers.run = wait
sys.exit(run(sys.argv[1:]))
"""
SLOW_MAIN = SLOW.replace("sys.exit(run(sys.argv[1:]))", "from wallflower.__main__ import main; main()")


def test_ctrl_c_in_the_middle_ends_quietly_and_the_charge_stands(folder, capfd):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *ASK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    while not (folder / "drawing").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert "stands" in err
    run(["ledger", "history", "salaries.toml", "--json"])
    assert [event["kind"] for event in json.loads(capfd.readouterr().out)["events"]].count("charge") == 1


def test_an_owner_report_is_marked_and_complete(folder, capfd):
    assert run([*ASK, "--owner-report", "report.html"]) == 0
    page = (folder / "report.html").read_text()
    assert "NOT PRIVATE" in page
    assert "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )
    assert run([*ASK, "--owner-report", "report.json"]) == 0
    assert json.loads((folder / "report.json").read_text())["NOT PRIVATE"] is True


@pytest.mark.parametrize("as_json", [False, True])
def test_data_in_place_of_a_declaration_are_not_quoted(folder, capfd, as_json):
    (folder / "other.json").write_text('[{"salary": "canary-55"}]')
    for data in ("salaries.csv", "other.json"):
        assert run(["count", data, *ASK[2:], *(["--json"] if as_json else [])]) == 2
        shown = "".join(capfd.readouterr())
        assert "wallflower declare" in shown
        assert not {"canary", "Lawyer", "employee"} & set(re.findall(r"\w+", shown))


@pytest.mark.parametrize("as_json", [False, True])
def test_a_bug_is_one_sentence_without_what_the_library_said(folder, capfd, monkeypatch, as_json):
    def fail(*_arguments):
        raise ValueError("could not convert 'canary-56'")

    monkeypatch.setattr("wallflower.session.Session.price", fail)
    assert run([*ASK, *(["--json"] if as_json else [])]) == 1
    shown = capfd.readouterr()
    assert "canary" not in shown.out + shown.err
    assert "ValueError at test_app.py" in (json.loads(shown.out)["error"]["message"] if as_json else shown.err)


def test_a_file_that_cannot_be_written_is_named(folder, capfd):
    (folder / "taken").write_text("")
    assert run(["demo", "--out", "taken/demo"]) == 2
    assert "taken" in capfd.readouterr().err


@pytest.mark.parametrize("report", ["salaries.json", "folder.html"])
def test_an_owner_report_never_replaces_the_rows(folder, capfd, report):
    (folder / "folder.html").mkdir()
    (folder / "salaries.json").write_text("[]")
    text = (folder / "salaries.toml").read_text().replace('"salaries.csv"', '"salaries.json"')
    (folder / "salaries.toml").write_text(text)
    assert run([*ASK, "--owner-report", report]) == 2
    assert report in capfd.readouterr().err
    assert (folder / "salaries.json").read_text() == "[]"


def test_a_report_that_breaks_leaves_the_answer_as_it_is(folder, capfd, monkeypatch):
    def fail(*_arguments, **_named):
        raise ValueError("canary-57")

    monkeypatch.setattr("wallflower.report.owner.write_owner_report", fail)
    assert run([*ASK, "--json", "--owner-report", "owner.html"]) == 0
    shown = capfd.readouterr()
    assert json.loads(shown.out)["ok"] is True
    assert "not written" in shown.err
    assert "canary" not in shown.err


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_terminal_without_the_letters_shows_escapes_and_json_stays_json(folder, extra):
    text = (folder / "salaries.toml").read_text().replace("columns.salary]", 'columns."sa\u0142ary"]')
    (folder / "salaries.toml").write_text(text.replace('"salary"', '"sa\u0142ary"'), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "wallflower", *ASK[:3], "sa\u0142ary", *ASK[4:], "--dry-run", *extra],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sa\\u0142ary" in done.stdout.decode("cp1252")
    assert not extra or "sa\u0142ary" in json.loads(done.stdout.decode("cp1252"))["price"]["settings"]["columns"]


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_stop_leaves_no_copy_of_the_rows(folder, tmp_path, by):
    """The second is what the end of a terminal, or of a connection to another machine, asks."""
    (folder / "salaries.toml").write_text(
        (folder / "salaries.toml").read_text().replace("test = false", 'test = false\nread = {encoding = "latin-1"}')
    )
    spill = tmp_path / "spill"
    spill.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_MAIN, *ASK], cwd=folder, env={**os.environ, "TMPDIR": str(spill)}
    )
    while not (folder / "drawing").exists():
        assert process.poll() is None
        time.sleep(0.05)
    assert list(spill.rglob("utf-8.csv"))
    process.send_signal(by)
    assert process.wait(timeout=600) == 128 + by
    assert not list(spill.iterdir())


def test_a_look_without_a_release_is_a_look(folder, capsys):
    assert run([*ASK, "--dry-run", "--owner-report", "look.html"]) == 0
    said = capsys.readouterr()
    assert "Nothing was spent." in said.out
    assert "Nothing was read" not in said.out
    assert "without protection" in said.err
    assert "NOT PRIVATE" in (folder / "look.html").read_text(encoding="utf-8")


def test_an_option_that_would_do_nothing_is_refused_or_told(folder, capsys):
    assert run([*ASK, "--among", "table"]) == 2
    assert "--by" in capsys.readouterr().err
    assert run([*ASK, "--rehearsal-report", "page.html"]) == 2
    publish = ["publish", "salaries.toml", "-o", "p.csv", "--k", "2", "--p", "0.9", "--d", "0.5", "--dry-run"]
    assert run([*publish, "--population", "1000"]) == 0
    assert "--population" in capsys.readouterr().err
    asked = [
        "explain",
        "salaries.toml",
        "--record",
        "8",
        "--metric",
        "salary",
        "--by",
        "city",
        "--epsilon",
        "1",
        "--dry-run",
    ]
    assert run([*asked, "--detector", "grubbs(alpha=0.05)", "--guarantee", "full", "--samples", "9"]) == 0
    assert "samples play no part" in capsys.readouterr().out
