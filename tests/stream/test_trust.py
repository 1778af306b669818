"""The import graph is the trust model, and it is read from the source."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

STREAM = Path(__file__).resolve().parents[2] / "src" / "wallflower" / "stream"


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("party", ["sensor", "slot_sensor", "analyst", "corrector"])
def test_a_party_knows_messages_and_nothing_else_of_the_stream(party):
    of_stream = {
        name.split(".")[2] for name in imports(STREAM / f"{party}.py") if name.startswith("wallflower.stream.")
    }
    assert of_stream == {"messages"}


def test_the_linter_forbids_a_party_every_other_file_of_the_stream():
    """What reaches it by way of a third file is found there alone."""
    pyproject = tomllib.loads((STREAM.parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(one for one in pyproject["tool"]["importlinter"]["contracts"] if one["type"] == "forbidden")
    listed = {*contract["source_modules"], *contract["forbidden_modules"], "wallflower.stream.messages"}
    assert listed == {f"wallflower.stream.{path.stem}" for path in STREAM.glob("*.py") if path.stem != "__init__"}


@pytest.mark.parametrize("party", ["analyst", "corrector"])
def test_only_the_sensor_can_draw_or_hold_a_budget(party):
    knows = imports(STREAM / f"{party}.py")
    assert not any(
        name.startswith(("wallflower.noise", "wallflower.mechanisms", "wallflower.privacy")) for name in knows
    )


@pytest.mark.parametrize("carrier", ["mqtt", "transport", "messages"])
def test_carriers_know_no_privacy(carrier):
    knows = imports(STREAM / f"{carrier}.py")
    assert not any(
        name.startswith(("wallflower.noise", "wallflower.mechanisms", "wallflower.privacy")) for name in knows
    )


@pytest.mark.parametrize("file", sorted(STREAM.glob("*.py")), ids=lambda file: file.name)
def test_nothing_here_logs_or_prints(file):
    assert not {"logging", "warnings"} & imports(file)
    calls = [node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]
