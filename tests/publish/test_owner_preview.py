"""Looks before the charge, ranges in two columns, and cells that no spreadsheet calculates."""

import csv
import json

import pytest
from tests.publish.test_publishing import TABLE, people, question

import wallflower as wf
from wallflower.cli.app import run
from wallflower.ledger import Ledger
from wallflower.publish.cells import quoted, unquoted
from wallflower.publish.published_file import published_groups, texts
from wallflower.schema import load

ASK = ("--k", "5", "--p", "0.9", "--d", "0.5")


@pytest.fixture
def folder(tmp_path):
    table = TABLE.replace('"USA"', '"=USA()"')
    assert table != TABLE
    (tmp_path / "people.toml").write_text(table)
    lines = ["name,age,country,income,shoe", *(",".join(map(str, row)) for row in people(250))]
    (tmp_path / "people.csv").write_text("\n".join(lines).replace("USA", "=USA()") + "\n")
    Ledger.init(load(tmp_path / "people.toml"))
    return tmp_path


def charges(folder):
    return sum(line.event.kind == "charge" for line in Ledger.open(load(folder / "people.toml")).history())


def test_a_preview_shows_the_owner_everything_and_charges_nothing(folder, capfd):
    report = folder / "preview.json"
    asked = ["publish", str(folder / "people.toml"), "-o", str(folder / "out.csv"), *ASK]
    assert run([*asked, "--dry-run", "--owner-report", str(report), "--json"]) == 0
    printed = capfd.readouterr()
    assert set(json.loads(printed.out)) == {"ok", "price"}  # nothing of the rows goes to the asker's side
    assert "without protection" in printed.err
    seen = json.loads(report.read_text())["seen"]
    assert seen["numbers"]["rows"] == 250
    assert "likeliest value at most, all and outliers (matching)" in {row[0] for row in seen["tables"][0]["rows"]}
    assert charges(folder) == 0
    assert not (folder / "out.csv").exists()


def test_a_dry_run_that_looked_does_not_say_that_nothing_was_read(folder, capfd):
    asked = ["publish", str(folder / "people.toml"), "-o", str(folder / "out.csv"), *ASK, "--dry-run"]
    assert run(asked) == 0
    assert "Nothing was read and nothing was spent." in capfd.readouterr().out
    assert run([*asked, "--at-most-suppressed", "1"]) == 0
    assert run([*asked, "--owner-report", str(folder / "preview.json")]) == 0
    looked = capfd.readouterr().out
    assert looked.count("Nothing was spent.") == 2
    assert "Nothing was read" not in looked


def test_too_much_suppression_is_refused_before_the_charge(folder, capfd):
    asked = [
        "publish",
        str(folder / "people.toml"),
        "-o",
        str(folder / "out.csv"),
        "--k",
        "240",
        "--p",
        "0.9",
        "--d",
        "0.5",
    ]
    assert run([*asked, "--at-most-suppressed", "0", "--json"]) == 2
    error = json.loads(capfd.readouterr().out)["error"]
    assert "nothing was charged" in error["message"]
    assert charges(folder) == 0
    assert run([*asked, "--at-most-suppressed", "2"]) == 2
    capfd.readouterr()
    assert run([*asked, "--at-most-suppressed", "1"]) == 0
    assert "owner report" not in capfd.readouterr().err.lower()  # none was asked for
    assert charges(folder) == 1


def test_ranges_in_columns_and_dangerous_cells_are_read_back(folder):
    released = wf.open(folder / "people.toml").release(question(folder, ranges="columns"))
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == released["rows"] > 200
    assert {"low age", "high age"} <= set(lines[0])
    assert all(int(line["low age"]) <= int(line["high age"]) for line in lines)
    assert not any(cell.startswith(("=", "+", "-", "@")) for line in lines for cell in line.values())
    assert "'=USA()" in {line["country"] for line in lines}
    space = question(folder).space(load(folder / "people.toml"))
    groups = published_groups(folder / "out.csv", space)
    assert sum(group.rows for group in groups) == released["rows"]
    assert "=USA()" in texts(folder / "out.csv")["country"]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "'", "''=", "\tx", "x=1", "", "'s-Hertogenbosch"])
def test_quoting_is_undone_by_reading(text):
    assert unquoted(quoted(text)) == text
    assert not quoted(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_person_with_several_rows_is_no_unit_of_a_publication(folder):
    declared = (folder / "people.toml").read_text()
    several = declared.replace('unit = "row"', 'unit = "person"\nperson = "name"\nrows_per_person = 2').replace(
        "max_rows", "max_people"
    )
    (folder / "several.toml").write_text(several)
    try:
        declaration = load(folder / "several.toml")
    except wf.DeclarationError:
        pytest.skip("this table cannot be declared so")
    with pytest.raises(wf.UsageError, match="fewer than k people"):
        question(folder).price(declaration)
