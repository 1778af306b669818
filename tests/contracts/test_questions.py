"""What every question has beside its file. `pytest tests/contracts -k NAME` asks it of one of them, by the name of its file."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.contracts.example import Example
from tests.contracts.registry import every_example

ROOT = Path(__file__).resolve().parents[2]
AREAS = ("count", "explain", "identify", "publish")
VERBS = ("name", "price", "prepare", "run", "told", "inspect")


def defined() -> Iterator[type]:
    """Every question that a file of an area defines, exported or not."""
    for area in AREAS:
        package = import_module(f"wallflower.{area}")
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if found.ispkg or found.name.endswith("kernels"):
                continue
            for kind in vars(import_module(found.name)).values():
                if (
                    inspect.isclass(kind)
                    and kind.__module__ == found.name
                    and all(hasattr(kind, verb) for verb in VERBS)
                ):
                    yield kind


def place(kind: type) -> tuple[str, str]:
    """Its area and the name of its file."""
    _, area, file = kind.__module__.split(".")
    return area, file


QUESTIONS = sorted(defined(), key=lambda kind: (place(kind), kind.__name__))


@pytest.fixture(params=QUESTIONS, ids=lambda kind: f"{'-'.join(place(kind))}-{kind.__name__}")
def kind(request):
    return request.param


def examples_of(kind: type) -> list[Example]:
    return [example for example in every_example() if type(example.query(Path())) is kind]


def options(example: Example) -> set[str]:
    return {word for word in example.command if word.startswith("--")}


def marks(kind: type) -> set[str]:
    """What a command line has when it asks this and no other question: options of its own, or else the command."""
    own = examples_of(kind)
    commands = {example.command[0] for example in own}
    others = [one for one in every_example() if one.command[0] in commands and type(one.query(Path())) is not kind]
    words = set().union(*map(options, own)) - set().union(*map(options, others))
    return words if others and words else commands


def says(page: str, words: set[str]) -> bool:
    text = (ROOT / page).read_text(encoding="utf-8")
    return any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) for word in words)


def test_there_are_some():
    assert {"Outliers", "Context", "Anomalies", "PlainTable"} <= {kind.__name__ for kind in QUESTIONS}


def test_it_is_exported_and_in_the_reference(kind):
    area, _ = place(kind)
    assert kind.__name__ in import_module(f"wallflower.{area}").__all__, (
        f"export {kind.__name__} from {area}/__init__.py"
    )
    reference = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    assert f"### wf.{area}.{kind.__name__}\n" in reference, "run `make reference`"


def test_the_contract_suite_asks_it_and_its_laws_are_tested(kind):
    area, file = place(kind)
    assert examples_of(kind), f"ask {kind.__name__} in tests/contracts/examples_{area}.py"
    tests = (ROOT / "tests" / area).glob("test_*.py")
    laws = [page for page in tests if re.search(rf"\b{kind.__name__}\(", page.read_text(encoding="utf-8"))]
    assert laws, f"hold {kind.__name__} to its laws in tests/{area}/test_{file}.py"


def test_its_page_and_the_changelog_say_how_it_is_asked(kind):
    area, _ = place(kind)
    words = marks(kind)
    for page in (f"docs/{area}.md", "CHANGELOG.md"):
        assert says(page, words), f"say one of {', '.join(sorted(words))} in {page}"
