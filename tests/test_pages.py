"""Pages made by a script are what the script makes, and pages that name tests name existing ones."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path
from types import ModuleType

import matplotlib as mpl
import pytest
from scripts import guarantees, python_reference, rehearsals, trade_offs

import wallflower
from wallflower.privacy.guarantees import FAMILIES

ROOT = guarantees.ROOT
DOCS = ROOT / "docs"
PACKAGE = Path(wallflower.__file__).parent
"""Where it is imported from: `src`, or the copy of it that `scripts/mutations.py` changes."""


def test_every_proof_is_one_that_a_question_stands_on():
    told = {name for names in guarantees.STANDS_ON.values() for name in names.split()}
    home = ROOT / "src" / "wallflower"
    assert told == {str(proof.relative_to(home).with_suffix("")) for proof in guarantees.proofs()}


def test_the_page_of_guarantees_is_what_the_proofs_say():
    assert guarantees.PAGE.read_text(encoding="utf-8") == guarantees.page(), "run `make reference`"


def test_the_page_of_python_names_is_what_their_docstrings_say():
    assert python_reference.PAGE.read_text(encoding="utf-8") == python_reference.page(), "run `make reference`"


NAMES = [(name, thing) for name, thing in python_reference.public() if not isinstance(thing, ModuleType)]


@pytest.mark.parametrize(("name", "thing"), NAMES, ids=[name for name, _ in NAMES])
def test_every_public_name_has_a_docstring_with_an_example(name, thing):
    """That the examples run is seen to by pytest's own --doctest-modules over `src`."""
    assert ">>> " in (thing.__doc__ or ""), f"give {name} an example"
    found = [test for test in doctest.DocTestFinder(recurse=False).find(thing, thing.__name__) if test.examples]
    assert found
    assert PACKAGE in Path(inspect.getsourcefile(thing)).parents


@pytest.mark.parametrize("name", trade_offs.PICTURES)
def test_the_pictures_of_the_guide_are_what_the_arithmetic_says(name):
    kept = (trade_offs.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    drawn = trade_offs.standalone(trade_offs.PICTURES[name]())
    if kept.startswith(f"<!-- matplotlib {mpl.__version__} -->"):
        assert kept == drawn, "run `make reference`"
    else:  # another version of matplotlib places lines a little differently; what is written must be the same
        assert _words(kept) == _words(drawn), "run `make reference`"


def test_a_rehearsal_picture_of_the_guide_is_what_its_seeds_say():
    radii = rehearsals.clinic().rehearse(rehearsals.COUNT, draws=1, sweep_draws=0)
    swept = rehearsals.clinic().sweep(rehearsals.COUNT, radius=["1/8", "1/4", "1/2", 1, 2])
    drawn = rehearsals.drawn(swept, radii.measured)["radius"]
    kept = (rehearsals.FOLDER / "rehearsal-count-radius.svg").read_text(encoding="utf-8")
    said = [word for word in _words(kept) if "useful" in word]
    assert said == [word for word in _words(drawn.svg) if "useful" in word], "run `make reference`"
    assert len(said) == 5


def _words(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg)


def test_every_test_that_a_page_names_exists():
    named = [
        (page.name, *reference.split("::"))
        for page in sorted(DOCS.rglob("*.md"))
        for reference in re.findall(r"`(tests/[\w/]+\.py::\w+)`", page.read_text(encoding="utf-8"))
    ]
    assert len(named) > 30
    missing = [
        f"{page}: {file}::{function}"
        for page, file, function in named
        if not (ROOT / file).is_file()
        or not re.search(rf"^def {function}\(", (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    ]
    assert missing == []


def test_the_glossary_knows_every_kind_of_promise():
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert [family for family in FAMILIES if family not in glossary] == []
    words = re.findall(r"^\| \*\*(.+?)\*\*", glossary, flags=re.MULTILINE)
    assert len(words) == len(set(words)) > 40
