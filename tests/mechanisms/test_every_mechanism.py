"""What every mechanism has beside its file and its proof (`tests/test_proofs.py`). `-k NAME` asks it of one of them, by the name of its file."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import wallflower.mechanisms
from tests.mechanisms.test_guarantees import MECHANISMS

TESTS = Path(__file__).parent


def defined() -> Iterator[type]:
    """Every class of `mechanisms` that promises something."""
    for found in pkgutil.iter_modules(wallflower.mechanisms.__path__, "wallflower.mechanisms."):
        for kind in vars(import_module(found.name)).values():
            if inspect.isclass(kind) and kind.__module__ == found.name and hasattr(kind, "guarantee"):
                yield kind


PROMISING = sorted(defined(), key=lambda kind: (kind.__module__, kind.__name__))


@pytest.fixture(params=PROMISING, ids=lambda kind: f"{kind.__module__.rpartition('.')[2]}-{kind.__name__}")
def kind(request):
    return request.param


def test_a_test_beside_this_one_draws_from_it(kind):
    others = [
        page for page in TESTS.parent.rglob("test_*.py") if page.name not in {Path(__file__).name, "test_guarantees.py"}
    ]
    made = [page for page in others if re.search(rf"\b{kind.__name__}(\.of)?\(", page.read_text(encoding="utf-8"))]
    assert made, f"audit {kind.__name__} in tests/mechanisms/test_{kind.__module__.rpartition('.')[2]}.py"


def test_where_it_promises_by_distance_it_keeps_the_laws_of_those_that_do(kind):
    asked = inspect.signature(kind.guarantee).parameters
    if "distance" in asked:
        assert kind in {type(one) for one in MECHANISMS}, f"add a {kind.__name__} to MECHANISMS in test_guarantees.py"


def test_the_front_page_names_it(kind):
    file = kind.__module__.rpartition(".")[2]
    page = wallflower.mechanisms.__doc__ or ""
    assert re.search(rf"^ +{file} +{kind.__name__} +\w", page, flags=re.MULTILINE), (
        f"add {file} to mechanisms/__init__.py"
    )


def test_the_front_page_names_nothing_else():
    """Each line stands for a file and a class in it."""
    lines = re.findall(r"^    (\w+) +(\w+) +\w", wallflower.mechanisms.__doc__ or "", flags=re.MULTILINE)
    assert len(lines) > len(MECHANISMS)
    for file, name in lines:
        assert inspect.isclass(getattr(import_module(f"wallflower.mechanisms.{file}"), name))
