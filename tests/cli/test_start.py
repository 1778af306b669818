"""A command loads what it needs and nothing else: that is most of the time a short one takes. Nothing is timed here."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer

from wallflower.cli.app import COMMANDS, GROUPS, build, listing
from wallflower.ledger import Ledger
from wallflower.schema import load

HEAVY = {"numpy", "numba", "scipy", "pandas", "pyarrow", "duckdb", "ibis", "sqlalchemy", "rich", "matplotlib", "jinja2"}

LOADED = """
import sys
from wallflower.cli.app import run
code = run(sys.argv[1:])
print("LOADED", *sorted({name.split(".")[0] for name in sys.modules} | {n for n in sys.modules if n.startswith("wallflower.")}))
sys.exit(code)
"""


def loaded(*arguments: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.split("LOADED", 1)[1].split())


@pytest.mark.parametrize("asked", ["--help", "--version"])
def test_the_list_of_commands_loads_none_of_them(asked):
    found = loaded(asked)
    assert not HEAVY & found
    assert not {f"wallflower.cli.{name}" for name in COMMANDS} & found


def test_a_command_loads_no_other_area():
    found = loaded("count", "--help")
    assert "wallflower.cli.count" in found
    assert not {"wallflower.publish", "wallflower.stream", "wallflower.cli.publish", "numba", "ibis", "duckdb"} & found


FIVE_ROWS = """
[table]
id = "visits"
source = "visits.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
ledger = "visits.ledger"
[budget.dp]
epsilon = "1"
[columns.age]
role = "sensitive"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
"""


def test_a_release_from_a_small_table_loads_neither_a_compiler_nor_pandas_nor_what_writes_sql(tmp_path):
    (tmp_path / "visits.toml").write_text(FIVE_ROWS, encoding="utf-8")
    (tmp_path / "visits.csv").write_text("age\n34\n36\n88\n35\n36\n", encoding="utf-8")
    Ledger.init(load(tmp_path / "visits.toml"))
    asked = ("--columns", "age", "--neighbours", "2", "--radius", "5", "--epsilon", "1/2")
    found = loaded("count", str(tmp_path / "visits.toml"), *asked)
    assert {"duckdb", "numpy"} <= found
    assert not {"numba", "scipy", "pandas", "ibis", "sqlglot", "sqlalchemy", "matplotlib"} & found


def test_the_list_says_what_the_commands_say():
    def helped(app: typer.Typer) -> str:
        command = typer.main.get_command(app)
        return command.get_help(command.context_class(command, info_name="wallflower", max_content_width=110))

    assert helped(listing()) == helped(build())
    whole = typer.main.get_command(build())
    assert {name for name, command in whole.commands.items() if hasattr(command, "commands")} == set(GROUPS)
    assert set(whole.commands) == set(COMMANDS)
