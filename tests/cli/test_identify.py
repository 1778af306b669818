"""`wallflower identify` from the outside."""

from __future__ import annotations

import json

import pytest

from tests.cli.workspace import lay_out
from wallflower.cli.app import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_value_and_a_file_of_values_are_answered(folder, capfd):
    (folder / "ask.csv").write_text("age,salary\n51,900000\n\n40,95000\n", encoding="utf-8")
    code = run(
        [
            "identify",
            "salaries.toml",
            "--value",
            "age=30, salary=2000000",
            "--values",
            "ask.csv",
            "--epsilon",
            "2",
            "--json",
        ]
    )
    assert code == 0
    answers = json.loads(capfd.readouterr().out)["release"]["answers"]
    assert [answer["asked"] for answer in answers] == [
        {"age": "30", "salary": "2000000"},
        {"age": "51", "salary": "900000"},
        {"age": "40", "salary": "95000"},
    ]


def test_the_dry_run_shows_the_table_of_errors_and_the_meaning(folder, capfd):
    assert run(["identify", "salaries.toml", "--value", "age=51,salary=900000", "--epsilon", "1", "--dry-run"]) == 0
    shown = capfd.readouterr().out
    assert "yes says" in shown
    assert "wrong if one row holds it by rows near" in shown
    assert "Nothing was read" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--value", "age=51\nsalary=1", "--epsilon", "1"], "col=v,col=v"),
        (["--epsilon", "1"], "nothing was asked"),
        (["--epsilon", "1", "--value", "age"], "col=v"),
        (["--epsilon", "1", "--value", "age=1,age=2"], "twice"),
        (["--epsilon", "1", "--value", "age=51,salary=1", "--model", "defalt"], "default"),
        (["--epsilon", "1", "--value", "age=51,salary=99000000"], "outside the declared bounds"),
        (["--epsilon", "1", "--value", "age=51,salry=1"], "salary"),
        (["--epsilon", "1", "--values", "missing.csv"], "cannot be read"),
        (["--epsilon", "1", "--values", "empty.csv"], "first line"),
        (["--epsilon", "1", "--values", "ragged.csv"], "line 3"),
        (["--epsilon", "1", "--values", "binary.csv"], "UTF-8"),
        (["--epsilon", "0", "--value", "age=51,salary=1"], "above 0"),
        (["--epsilon", "1", "--value", "age=51,salary=1", "--method", "lookahead"], "look-ahead"),
    ],
)
def test_slips_end_with_2_and_a_hint(folder, capfd, arguments, message):
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "ragged.csv").write_text("age,salary\n1,2\n1\n", encoding="utf-8")
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00")
    assert run(["identify", "salaries.toml", *arguments]) == 2
    assert message in capfd.readouterr().err
