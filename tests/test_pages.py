"""Pages made by a script are what the script makes, and pages that name tests name existing ones."""

from __future__ import annotations

import re

import matplotlib as mpl
import pytest
from scripts import guarantees, trade_offs

ROOT = guarantees.ROOT
DOCS = ROOT / "docs"


def test_the_page_of_guarantees_is_what_the_proofs_say():
    assert guarantees.PAGE.read_text(encoding="utf-8") == guarantees.page(), "run `make reference`"


@pytest.mark.parametrize("name", trade_offs.PICTURES)
def test_the_pictures_of_the_guide_are_what_the_arithmetic_says(name):
    kept = (trade_offs.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    drawn = trade_offs.standalone(trade_offs.PICTURES[name]())
    if kept.startswith(f"<!-- matplotlib {mpl.__version__} -->"):
        assert kept == drawn, "run `make reference`"
    else:  # another version of matplotlib places lines a little differently; what is written must be the same
        assert _words(kept) == _words(drawn), "run `make reference`"


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
