"""Every registered example, found by file name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.contracts.example import Example


def every_example() -> list[Example]:
    found: list[Example] = []
    for path in sorted(Path(__file__).parent.glob("examples_*.py")):
        found.extend(import_module(f"tests.contracts.{path.stem}").EXAMPLES)
    return found
