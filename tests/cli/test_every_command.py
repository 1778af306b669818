"""What the recipe for a command in CONTRIBUTING.md asks for, held for each: `-k NAME` chooses the tests of one."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import typer
from scripts import reference

import wallflower.cli
from tests.cli import interrupting
from wallflower.cli.app import COMMANDS, GROUPS, build, listing, run

TESTS = Path(__file__).resolve().parents[1]
LOG = (TESTS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
IN_ITS_AREA = {
    "demo": "report/test_in_a_browser.py",
    "explain": "explain/test_command.py",
    "count": "count/test_commands.py",
    "subspaces": "count/test_commands.py",
    "publish": "publish/test_publishing.py",
    "attack": "publish/test_publishing.py",
    "stream": "stream/test_commands.py",
    "serve": "service/running.py",
}
"""Where a command is asked that has no tests here: beside what it is about."""
FOLDER = Path(wallflower.cli.__path__[0])
FILES = {
    path.relative_to(FOLDER).parts[0].removesuffix(".py")
    for path in FOLDER.rglob("*.py")
    if "\ndef register(" in path.read_text(encoding="utf-8")
}
"""Those of commands, listed or not."""

each = pytest.mark.parametrize("name", sorted(FILES | set(COMMANDS)))


def command(app: typer.Typer, name: str):
    return typer.main.get_command(app).commands[name]


@each
def test_it_is_registered_by_the_file_of_its_name_and_listed(name):
    assert name in COMMANDS, "its name in COMMANDS of cli/app.py"
    module = import_module(f"wallflower.cli.{name}")
    assert module.__doc__.startswith((f"`wallflower {name}`", f"`wallflower {name} "))
    assert (name in GROUPS) == hasattr(command(build([name]), name), "commands")


@each
def test_the_list_of_commands_says_of_it_what_its_help_says_first(name):
    assert command(listing(), name).get_short_help_str(200) == command(build([name]), name).get_short_help_str(200)


@each
def test_it_has_tests_that_ask_it(name):
    tests = TESTS / IN_ITS_AREA.get(name, f"cli/test_{name}.py")
    assert tests.is_file(), f"write tests/cli/test_{name}.py"
    assert f'"{name}"' in tests.read_text(encoding="utf-8"), f"{tests.name} never asks `{name}`"


@each
def test_it_is_interrupted_at_some_moment(name):
    assert name in {stoppable.arguments[0] for stoppable in interrupting.COMMANDS}, (
        "a line in tests/cli/interrupting.py"
    )


@each
def test_the_log_of_changes_names_it(name):
    assert re.search(rf"`(wallflower )?{name}\b", LOG), f"CHANGELOG.md says nothing of `{name}`"


@cache
def sections(page: str) -> dict[str, str]:
    found = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    return {text.partition("\n")[0]: text for text in found}


@each
def test_the_page_of_commands_shows_its_help(name):
    due, shown = sections(reference.page()), sections(reference.PAGE.read_text(encoding="utf-8"))
    of_it = [path for path in {*due, *shown} if path.split()[1:2] == [name]]
    assert {path: shown.get(path) for path in of_it} == {path: due.get(path) for path in of_it}, "run `make reference`"


@each
@pytest.mark.parametrize("as_json", [False, True])
def test_an_option_that_it_has_not_is_refused(name, as_json, capfd):
    assert run([name, "--colour", *(["--json"] if as_json else [])]) == 2
    shown = capfd.readouterr()
    assert "--colour" in (json.loads(shown.out)["error"]["message"] if as_json else shown.err)
