"""`wallflower doctor` says what is here and what is not, and looks at nothing private."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from wallflower.cli import doctor
from wallflower.cli.app import run
from wallflower.version import __version__


def fake(monkeypatch, missing=()):
    needed = ["numpy>=2", "jinja2>=3.1; extra == 'report'", "wallflower[report]; extra == 'all'", "typer<1,>=0.29"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: needed)
    monkeypatch.setattr(doctor, "_version", lambda name: None if name in missing else "1.0")


def test_all_is_there(monkeypatch, capfd):
    fake(monkeypatch)
    assert run(["doctor", "--json"]) == 0
    said = json.loads(capfd.readouterr().out)["doctor"]
    assert said["wallflower"] == __version__
    assert said["needs"] == {"numpy": "1.0", "typer": "1.0"}
    assert said["extras"] == {"report": {"jinja2": "1.0"}}
    assert said["writing"]["temporary files"] is True


def test_a_missing_extra_is_named_with_the_line_that_brings_it(monkeypatch, capfd):
    fake(monkeypatch, missing={"jinja2"})
    assert run(["doctor"]) == 0
    assert "missing jinja2: pip install 'wallflower[report]'" in capfd.readouterr().out


def test_a_missing_need_is_an_error(monkeypatch, capfd):
    fake(monkeypatch, missing={"numpy"})
    assert run(["doctor"]) == 2
    assert "numpy MISSING" in capfd.readouterr().out


@pytest.mark.parametrize("spelling", ["-o", "--out", "--output"])
@pytest.mark.parametrize("command", [["demo"], ["declare", "x.csv"], ["publish", "x.toml"], ["certificate", "x.json"]])
def test_every_command_that_writes_spells_its_place_the_same(command, spelling, capfd):
    run([*command, spelling, "nowhere/x", "--help"])
    help_text = capfd.readouterr().out
    assert "No such option" not in help_text
    for name in ("-o", "--out", "--output"):
        assert name in help_text


def test_a_machine_without_a_folder_for_temporary_files_is_told_so(monkeypatch, capfd):
    fake(monkeypatch)

    def none():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(doctor, "tempfile", SimpleNamespace(gettempdir=none))  # not the module's own: tests need it too
    assert run(["doctor", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["doctor"]["writing"]["temporary files"] is False
