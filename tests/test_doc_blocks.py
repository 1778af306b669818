"""The runner of pages notices a page that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doc_blocks import matches, run_page

PAGE = """\
```csv file=a.csv
x
```
```python
print("one two")
```
```text
one …
```
```console
$ wallflower --version
wallflower …
$ wallflower check missing.toml
…
$ echo $?
2
$ wallflower --version > kept.txt
```
"""


@pytest.fixture
def page(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "page.md"


def test_a_true_page_runs(page, tmp_path):
    page.write_text(PAGE)
    run_page(page)
    assert (tmp_path / "a.csv").read_text() == "x\n"
    assert (tmp_path / "kept.txt").read_text().startswith("wallflower")


@pytest.mark.parametrize(
    ("true", "wrong"),
    [
        ("one …\n", "two …\n"),
        ("wallflower …\n", "wallflower 99\n"),
        ("\n2\n", "\n0\n"),
        ("$ echo $?\n2\n", ""),
        ("$ wallflower --version\n", "$ ls\n"),
        ("missing.toml\n…", "missing.toml\nAll is well."),
    ],
)
def test_a_wrong_page_fails(page, true, wrong):
    assert true in PAGE
    page.write_text(PAGE.replace(true, wrong, 1))
    with pytest.raises(AssertionError):
        run_page(page)


def test_dots_stand_for_a_part_of_a_line_or_for_lines():
    assert matches("a … c", "a b c\n")
    assert not matches("a … c", "a b\nc\n")
    assert matches("a\n…\nc", "a\nb\nb\nc\n")
    assert matches("a\n…\nc", "a\nc\n")
    assert not matches("a", "a\nb\n")
