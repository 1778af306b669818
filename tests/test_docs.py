"""The documentation is run: README's files and commands, every example in help, the page of commands, every link."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from scripts.links import broken
from scripts.reference import PAGE, every_command, page

import wallflower
from tests.doc_blocks import blocks, run_page
from wallflower.cli.app import build, run

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    (path, command)
    for path, command in every_command(typer.main.get_command(build()), "wallflower")
    if " " in path and not hasattr(command, "commands")
]


def test_the_readme_works_from_its_own_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = {block.kind: block for block in blocks(README)}
    (tmp_path / "visits.csv").write_text(kinds["csv"].body)
    assert run(["declare", "visits.csv", "-o", "draft.toml"]) == 0
    printed = run_page(ROOT / "README.md", names={"csv": "visits.csv", "toml": "visits.toml"})
    assert any("epsilon" in said for said in printed)
    assert re.search(r"^\d+$", printed[-1], flags=re.MULTILINE)
    assert set(kinds) == {"csv", "toml", "console", "python"}


def test_the_readme_fits_a_screen_and_a_half():
    assert len(README.splitlines()) <= 100


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[path for path, _ in COMMANDS])
def test_every_command_has_an_example_in_its_help(path, command):
    example = re.search(r"Example:\n(.+)", command.help or "")
    assert example, f"{path} has no Example"
    assert example[1].strip().startswith(path), f"the example of {path} shows another command"


def test_the_page_of_commands_is_what_help_prints():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make reference`"


def test_links_lead_somewhere():
    assert broken() == []


def test_a_lost_file_and_a_lost_heading_are_noticed(tmp_path):
    (tmp_path / "README.md").write_text("# One & two\n[here](#one--two) [gone](gone.md) [lost](#lost)\n")
    assert broken(tmp_path) == ["README.md: gone.md", "README.md: #lost"]


def test_the_version_is_said_once(capfd):
    assert run(["--version"]) == 0
    assert capfd.readouterr().out.strip() == f"wallflower {wallflower.__version__}"
    installed = subprocess.run(
        [sys.executable, "-m", "wallflower", "--version"], capture_output=True, text=True, check=True
    )
    assert installed.stdout.strip() == f"wallflower {wallflower.__version__}"


def test_public_names_are_these():
    assert wallflower.__all__ == [
        "open", "table", "declare", "connect", "Session", "Price", "Release", "OwnerOnly", "certificate",
        "explain", "identify", "count", "publish", "stream", "detectors", "audit",
        "WallflowerError", "UsageError", "DeclarationError", "BudgetError", "NotComposable", "LedgerError", "ReleaseFailed",
    ]  # fmt: skip
    assert all(hasattr(wallflower, name) for name in wallflower.__all__)
