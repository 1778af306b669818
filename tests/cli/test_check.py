"""`check`: everything that was found is said, in words and as JSON."""

from __future__ import annotations

import json

import pytest

from wallflower.cli.app import run

DECLARATION = """
[table]
id = "stays"
source = "stays.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 2
ledger = "stays.ledger"

[columns.ward]
role = "quasi-identifier"
values = ["north", "south"]
hierarchy = "wards.csv"
outside = "drop"
missing = "drop"

[columns.days]
role = "sensitive"
lower = 0
upper = 30
step = 1
outside = "clip"
missing = "drop"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stays.toml").write_text(DECLARATION)
    (tmp_path / "stays.csv").write_text("ward,days\nnorth,3\nsouth,99\neast,4 d\n")
    (tmp_path / "wards.csv").write_text("north;any\nwest;any\n")
    return tmp_path


def test_everything_that_was_found_is_said(folder, capfd):
    assert run(["check", "stays.toml"]) == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "3 rows, 1 more than max_rows = 2 declares" in said
    assert 'ward: declared, and no leaf of its hierarchy: "south"' in said
    assert 'ward: not declared, and a leaf of its hierarchy: "west"' in said
    assert "1 clipped" in said
    assert "4 d" in said


def test_json_says_the_same_and_is_alone_on_stdout(folder, capfd):
    assert run(["check", "stays.toml", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert set(told) == {"ok", "not_private"}
    assert told["not_private"]["rows"] == 3
    assert told["not_private"]["columns"]["ward"]["hierarchy"]["not_covered"] == ["south"]
