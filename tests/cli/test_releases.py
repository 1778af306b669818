"""Releases are kept: nobody must remember --json, and a full disk under stdout loses nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.workspace import lay_out
from wallflower.cli.app import run

COUNT = ["count", "salaries.toml", "--columns", "salary", "--neighbours", "5", "--radius", "1000", "--epsilon", "0.5"]
PUBLISH = ["publish", "salaries.toml", "-o", "public.csv", "--k", "2", "--p", "0.9", "--d", "0.5"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys):
    return capsys.readouterr().out


def test_a_release_is_written_again_with_its_certificate(folder, capsys):
    assert run([*COUNT, "--json"]) == 0
    first = json.loads(printed(capsys))
    entry = str(first["ledger"]["entry"])
    assert run(["releases", "salaries.toml"]) == 0
    assert f'{entry}  {first["at"]}  count  {{"count"' in printed(capsys)
    assert run(["releases", "salaries.toml", "--entry", entry, "-o", "again.json", "--certificate", "c.html"]) == 0
    assert json.loads(Path("again.json").read_text(encoding="utf-8")) == first
    assert "Made from the ledger itself" in Path("c.html").read_text(encoding="utf-8")
    printed(capsys)
    assert run(["certificate", "again.json", "--verify", "salaries.toml"]) == 0
    assert run(["releases", "salaries.toml", "--json"]) == 0
    listed = json.loads(printed(capsys).splitlines()[-1])
    assert [one["entry"] for one in listed["releases"]] == [int(entry)]


def test_a_publication_is_put_back(folder, capsys):
    assert run([*PUBLISH, "--json"]) == 0
    release = json.loads(printed(capsys))
    content = Path("public.csv").read_bytes()
    Path("public.csv").unlink()
    entry = str(release["ledger"]["entry"])
    assert run(["releases", "salaries.toml", "--entry", entry, "--file", "back.csv", "-o", "again.json"]) == 0
    assert Path("back.csv").read_bytes() == content
    assert run(["certificate", "again.json", "--verify", "salaries.toml"]) == 0
    again = json.loads(Path("again.json").read_text(encoding="utf-8"))
    again["release"]["sha256"] = "0" * 64
    Path("again.json").write_text(json.dumps(again), encoding="utf-8")
    assert run(["certificate", "again.json", "--verify", "salaries.toml"]) == 3


def test_what_cannot_be_written_or_found_is_refused(folder, capsys):
    assert run(["releases", "salaries.toml"]) == 0
    assert "No release has been recorded" in printed(capsys)
    assert run(["releases", "salaries.toml", "-o", "x.json"]) == 2
    assert run(["releases", "salaries.toml", "--entry", "1"]) == 3
    assert run(["releases", "salaries.toml", "--entry", "77"]) == 3
    assert run(COUNT) == 0
    assert run(["releases", "salaries.toml", "--entry", "2", "--file", "x.csv"]) == 2
    assert run(["releases", "salaries.toml", "--entry", "2", "-o", "salaries.csv"]) == 2
    assert run(["releases", "salaries.toml", "--entry", "2", "-o", "no/such.json"]) == 2


@pytest.mark.parametrize("how", [["--json"], []], ids=["json", "text"])
def test_a_reader_that_has_left_is_no_bug_and_the_answer_can_be_had_again(folder, how):
    """`wallflower count ... | head -0`: paid for, recorded, and said so."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "wallflower", *COUNT, *how],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 0
    assert "wallflower releases salaries.toml --entry 2 -o FILE.json" in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["releases", "salaries.toml"], ["doctor"], ["ledger", "show", "salaries.toml"]])
def test_a_list_that_nobody_reads_to_its_end_is_no_bug(folder, command):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "wallflower", *command], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("how", [["--json"], []], ids=["json", "text"])
def test_an_answer_that_a_full_device_swallowed_can_be_had_again(folder, capsys, how):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wallflower", *COUNT, *how],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 4
    assert "recorded as entry 2" in done.stderr
    assert "wallflower releases salaries.toml --entry 2 -o FILE.json" in done.stderr.replace("\n", " ")
    assert run(["releases", "salaries.toml", "--entry", "2"]) == 0
    assert isinstance(json.loads(printed(capsys))["release"]["count"], int)
