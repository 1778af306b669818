"""What the recipe for an engine in CONTRIBUTING.md asks for, held for each: `-k NAME` chooses the tests of one."""

from __future__ import annotations

import pkgutil
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import wallflower.engines
from tests import test_absences
from tests.contracts.engine_sources import EVERYWHERE, SERVERS, UNORDERED, declare, numbers
from tests.contracts.hostile_files import CASES
from tests.contracts.test_engines import text_table
from wallflower.engines.registry import FILE, engines

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ALWAYS = {"ibis"} | {re.match(r"[\w.-]+", text)[0] for text in PROJECT["dependencies"]}
NAMES = [found.name for found in pkgutil.iter_modules(wallflower.engines.__path__) if found.ispkg]
IN_ONE_FILE = {"spark": "test_spark.py"}
"""One process of tests starts one JVM: what Spark is asked stands together."""

each = pytest.mark.parametrize("name", NAMES)
sourced = pytest.mark.parametrize(
    "name", [name for name in NAMES if import_module(f"wallflower.engines.{name}").ENGINE.schemes]
)
"""Those that a declaration's `source` can name; frames are handed over."""


def engine(name: str):
    return import_module(f"wallflower.engines.{name}").ENGINE


def folder(name: str) -> Path:
    return Path(wallflower.engines.__path__[0], name)


def places(name: str) -> list:
    return [place for place in dict.fromkeys((*EVERYWHERE, *UNORDERED)) if name in place.__name__]


def libraries(name: str) -> set[str]:
    """What the folder imports that comes neither with Python nor with every installation of this package."""
    found = {module.partition(".")[0] for path in folder(name).glob("*.py") for module in test_absences.imported(path)}
    return found - sys.stdlib_module_names - ALWAYS - {"wallflower"}


@each
def test_its_files_are_called_as_those_of_its_neighbours(name):
    assert {"__init__.py", "source.py", "rows.py", "dialect.py"} <= {path.name for path in folder(name).glob("*.py")}


@each
def test_nobody_else_opens_its_addresses(name):
    for scheme in engine(name).schemes:
        assert [other for other in NAMES if scheme in engine(other).schemes] == [name]
        assert engines()[scheme] is engine(name)


@sourced
def test_the_suite_puts_tables_where_it_reads_them(name, tmp_path):
    """Then every contract of `test_engines.py` asks it, in a test whose name holds its own."""
    assert places(name), f"a function from_{name} in tests/contracts/engine_sources.py, in TYPED, DYNAMIC or CSV"
    if name in IN_ONE_FILE:
        assert f"from_{name}" in Path(__file__).with_name(IN_ONE_FILE[name]).read_text(encoding="utf-8")
        return
    for place in places(name):
        source = place(text_table([("1", "0.5", "a", "2000-01-01")]), declare(numbers()), tmp_path)
        assert type(source).__module__.startswith(f"wallflower.engines.{name}."), place.__name__


@sourced
def test_a_source_of_its_own_can_be_checked_by_the_owner(name):
    module, _, source = engine(name).opens.partition(":")
    assert {"verify", "rows", "tally"} <= set(dir(getattr(import_module(module), source)))


@sourced
def test_what_it_reads_may_hold_anything(name):
    """A server looked at what it was given; whoever opens files meets what nobody looked at."""
    formats = {case.name.split()[0] for case in CASES}
    if name not in IN_ONE_FILE and not set(places(name)) <= set(SERVERS):
        assert {name} - formats == set(), "cases in tests/contracts/hostile_files.py"


@each
def test_its_libraries_have_an_extra_and_one_home(name):
    """What is missing is then said with the line that brings it."""
    needed, extras = libraries(name), PROJECT["optional-dependencies"]
    brought = " ".join(extras.get(engine(name).extra, ())) if engine(name).extra else ""
    assert {engine(name).extra} - {None, *extras} == set(), "an extra in pyproject.toml"
    assert {library for library in needed if library not in brought} == set(), "its lines in pyproject.toml"
    assert needed - test_absences.HEAVY == set(), "HEAVY in tests/test_absences.py"
    homeless = {library for library in needed if "engines/" not in test_absences.HOMES.get(library, ())}
    assert homeless == set(), "HOMES in tests/test_absences.py"


@sourced
def test_the_pages_say_that_rows_may_live_there(name):
    pages = ("docs/scale.md", "docs/reference/declaration.md", "CHANGELOG.md")
    silent = [
        page for page in pages if engine(name).name.lower() not in (ROOT / page).read_text(encoding="utf-8").lower()
    ]
    assert silent == []
    scheme = engine(name).schemes[0]
    shown = scheme == FILE or f"`{scheme}:" in (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert shown, "a row of the table in docs/scale.md"
