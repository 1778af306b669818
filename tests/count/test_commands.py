"""`count` and `subspaces` as commands: what they show before any row is read, and what they refuse."""

from __future__ import annotations

import json

import pytest

from tests.contracts.examples_count import PUBLIC_SIZE, THREE
from wallflower.cli.app import run

ASK = ["--columns", "height,age", "--neighbours", "2", "--radius", "3/2", "--epsilon", "0.9"]


@pytest.fixture
def declaration(tmp_path):
    """A declaration without rows and without ledger: whatever works here reads neither."""
    path = tmp_path / "rows.toml"
    path.write_text(PUBLIC_SIZE, encoding="utf-8")
    return path


@pytest.mark.parametrize("noise", ["auto", "lomax", "laplace", "inverse"])
def test_a_dry_run_says_the_error_without_rows(declaration, noise, capfd):
    assert run(["count", str(declaration), *ASK, "--noise", noise, "--dry-run", "--json"]) == 0
    price = json.loads(capfd.readouterr().out)["price"]
    assert price["guarantee"]["parameters"] == {"epsilon": "0.9"}
    assert "19 times out of 20" in price["expected"]["error"]
    assert price["settings"]["scales"] == "height: 1 (none declared), age: 10"
    if noise == "lomax":
        assert "calm table to at most" in price["expected"]["error"]


def test_the_picture_needs_no_rows_and_spends_nothing(declaration, tmp_path, capfd):
    picture = tmp_path / "error.svg"
    assert run(["count", str(declaration), *ASK, "--picture", str(picture)]) == 0
    assert "Nothing was read and nothing was spent." in capfd.readouterr().out
    svg = picture.read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "what auto takes" in svg


@pytest.mark.parametrize("name", ["error.png", "nowhere/error.svg"])
def test_a_picture_that_cannot_be_written_is_refused(declaration, tmp_path, name):
    assert run(["count", str(declaration), *ASK, "--picture", str(tmp_path / name)]) == 2


def test_a_search_is_priced_as_a_whole(declaration, capfd):
    search = ["--columns", "height,weight,age", "--size", "2", "--top", "2", "--neighbours", "2", "--radius", "1"]
    assert (
        run(
            [
                "subspaces",
                str(declaration),
                *search,
                "--epsilon",
                "1/2",
                "--counts-epsilon",
                "0.25",
                "--dry-run",
                "--json",
            ]
        )
        == 0
    )
    price = json.loads(capfd.readouterr().out)["price"]
    assert price["guarantee"]["parameters"] == {"epsilon": "0.75"}
    assert price["settings"]["budget"] == "0.5 to find, 0.25 to count"


@pytest.mark.parametrize(
    "wrong",
    [
        ["--noise", "gauss"],
        ["--columns", "height,hight"],
        ["--epsilon", "0"],
        ["--radius", "far"],
        ["--neighbours", "0"],
    ],
)
def test_a_wrong_question_exits_2_before_any_row(declaration, wrong):
    assert run(["count", str(declaration), *ASK, *wrong]) == 2


def test_the_owner_sees_how_much_noise_there_was_and_the_asker_does_not(declaration, tmp_path, capfd):
    (tmp_path / "rows.csv").write_text(THREE, encoding="utf-8")
    assert run(["ledger", "init", str(declaration)]) == 0
    report = tmp_path / "owner.json"
    capfd.readouterr()
    assert run(["count", str(declaration), *ASK, "--noise", "lomax", "--json", "--owner-report", str(report)]) == 0
    shown = capfd.readouterr().out
    facts = json.loads(report.read_text(encoding="utf-8"))["seen"]["facts"]
    assert facts["rows"] == 41
    assert "smooth bound" in facts
    assert "smooth" not in shown
    assert facts["standard deviation of the noise"] not in shown


def test_a_fence_is_priced_for_one_count_and_not_for_every_day(declaration, capfd):
    fence = ["count", str(declaration), "--columns", "height", "--fence", "iqr(factor=3)", "--epsilon", "0.5"]
    assert run([*fence, "--dry-run", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["price"]["guarantee"]["parameters"] == {"epsilon": "0.5"}
    daily = ["--daily", "added", "--start", "2026-01-01", "--horizon", "30"]
    assert run([*fence, *daily, "--dry-run", "--json"]) == 2
    assert "for one count" in json.loads(capfd.readouterr().out)["error"]["message"]
