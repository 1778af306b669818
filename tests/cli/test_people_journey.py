"""One messy export with repeated patients, and every area: declare --ask, check, ledger init, --dry-run, release, certificate."""

from __future__ import annotations

import io
import json
import random
import sys

import pytest

from wallflower.cli.app import run
from wallflower.schema import load
from wallflower.schema.decisions import decisions

STATIONS = ("Innere", "Chirurgie", "Gynäkologie")
HEADER = "Patient;Besuch;Alter;Kosten;Station"


def visits() -> bytes:
    """Semicolons, Latin-1, 31.12.2020, a decimal comma, points between thousands, "unbekannt", rows without a patient, rows of a patient
    scattered over the file; P07 costs ten times what the others do."""
    drawn = random.Random(5)
    lines = []
    for who in range(1, 61):
        station = STATIONS[who % 3]
        for _ in range(drawn.randint(1, 6)):
            cost = drawn.randint(100, 900) + (9_000 if who == 7 else 0)
            said = f"{cost // 1000}.{cost % 1000:03},50" if cost >= 1000 else f"{cost},50"
            day = f"{drawn.randint(1, 28):02}.{drawn.randint(1, 12):02}.{drawn.randint(2019, 2023)}"
            age = "unbekannt" if drawn.random() < 0.02 else str(20 + who)
            lines.append(f"P{who:02};{day};{age};{said};{station}")
    lines += [";01.02.2020;50;100,00;Innere"] * 3
    drawn.shuffle(lines)
    return "\n".join([HEADER, *lines, ""]).encode("latin-1")


ANSWERS = {
    "unit": "",
    "max_people": "10000",
    "reviewed": "true",
    "epsilon": "4",
    "lower": "0",
    "upper": "20000",
    "step": "0.01",
    "values": '["Innere", "Chirurgie", "Gynäkologie"]',
    "beta": "3",
    "radius": "0.5",
    "role": "",
}
AREAS = {
    "count": ("Alter,Kosten", ["--columns", "Alter,Kosten", "--neighbours", "3", "--radius", "50", "--epsilon", "1"]),
    "identify": ("Alter", ["--value", "Alter=27", "--epsilon", "1"]),
    "explain": (
        "Kosten,Station",
        ["--record", "P07", "--metric", "Kosten", "--by", "Station", "--detector", "grubbs(alpha=0.05)", "--epsilon", "1"],
    ),
    "publish": ("Alter,Kosten,Station", ["-o", "out.csv", "--k", "3", "--p", "0.95", "--d", "0.5", "--level", "attack"]),
}  # fmt: skip
PERSON = {
    "count": "every person",
    "explain": "every person but the asked-for one",
    "identify": "every person whose value",
}


@pytest.mark.parametrize("area", AREAS)
def test_from_a_messy_file_to_a_certificate(area, tmp_path, monkeypatch, capfd):
    columns, options = AREAS[area]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_bytes(visits())
    declare = ["declare", "visits.csv", "--for", area, "--columns", columns]
    assert run([*declare, "-o", "open.toml"]) == 0, capfd.readouterr().err
    questions = list(decisions((tmp_path / "open.toml").read_text(encoding="utf-8")))
    assert len(questions) <= 12
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{ANSWERS[each.key]}\n" for each in questions)))
    assert run([*declare, "-o", "t.toml", "--ask"]) == 0, capfd.readouterr().err
    declared = load(tmp_path / "t.toml")
    assert (declared.unit, declared.person, declared.time, declared.reduced) == ("person", "Patient", "Besuch", True)
    assert [each.text for each in declared.format_of("Besuch").dates] == ["%d.%m.%Y"]  # though no question reads it
    capfd.readouterr()
    assert run(["check", "t.toml", "--json"]) == 0
    seen = json.loads(capfd.readouterr().out)["not_private"]
    assert (seen["people"], seen["rows_without_key"]) == (60, 3)
    assert all(column["unreadable"] == 0 for column in seen["columns"].values())
    assert run(["ledger", "init", "t.toml"]) == 0
    assert run([area, "t.toml", *options, "--dry-run"]) == 0, capfd.readouterr().err
    capfd.readouterr()
    assert run([area, "t.toml", *options, "--json"]) == 0, capfd.readouterr().err
    release = json.loads(capfd.readouterr().out)
    assert release["guarantee"]["unit"] == "person"
    assert PERSON.get(area, "") in release["guarantee"]["protects"]
    (tmp_path / "r.json").write_text(json.dumps(release), encoding="utf-8")
    assert run(["certificate", "r.json", "-o", "c.html"]) == 0
    assert "person" in (tmp_path / "c.html").read_text(encoding="utf-8")
    capfd.readouterr()
    assert run(["ledger", "show", "t.toml"]) == 0
    shown = capfd.readouterr().out
    assert "every row" not in shown
    assert area == "publish" or "every person" in shown


CAPPED = """
[table]
id = "visits"
source = "visits.csv"
unit = "person"
person = "Patient"
time = "Besuch"
rows_per_person = 2
neighbours = "add-remove"
max_people = 10_000
reviewed = true
test = false
ledger = "visits.ledger"
read = {delimiter = ";", encoding = "latin-1", decimal = ",", thousands = ".", date = "%d.%m.%Y"}

[budget.dp]
epsilon = "4"
[budget.output-constrained-dp]
epsilon = "8"
[budget.plain-k-anonymity]
publications = 1
[identify.default]
columns = ["Kosten"]
beta = 3
radius = "0.5"
k = 1
epsilon = "4"

[columns.Kosten]
role = "sensitive"
lower = 0
upper = 20_000
step = "0.01"
outside = "clip"
missing = "drop"
[columns.Station]
role = "quasi-identifier"
values = ["Innere", "Chirurgie", "Gynäkologie"]
outside = "drop"
missing = "drop"
"""


def test_up_to_two_visits_of_a_patient(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_bytes(visits())
    (tmp_path / "t.toml").write_text(CAPPED, encoding="utf-8")
    assert run(["ledger", "init", "t.toml"]) == 0
    explain = ["explain", "t.toml", *AREAS["explain"][1]]
    count = ["count", "t.toml", "--columns", "Kosten", "--neighbours", "3", "--radius", "50", "--epsilon", "1"]
    told = {}
    for name, question in (("count", count), ("explain", [*explain, "--row", "2"])):
        capfd.readouterr()
        assert run([*question, "--json"]) == 0, capfd.readouterr().err
        told[name] = json.loads(capfd.readouterr().out)
    assert [one["guarantee"]["parameters"] for one in told.values()] == [{"epsilon": "1"}] * 2
    assert all(one["guarantee"]["unit"] == "person" for one in told.values())
    assert "row 2 of 'P07'" in told["explain"]["guarantee"]["holds_when"]
    capfd.readouterr()
    refused = {
        "must say which": explain,
        "from 1 to 2": [*explain, "--row", "3"],
        "ceases to be so": ["identify", "t.toml", "--value", "Kosten=100", "--epsilon", "1"],
        "rows_per_person": ["publish", "t.toml", *AREAS["publish"][1]],
    }
    for why, question in refused.items():
        assert run(question) == 2
        assert why in " ".join(capfd.readouterr().err.split())
