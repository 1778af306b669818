"""The example notebooks run, show what they should, and type-check; an owner's report shows nothing of the rows."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scripts.notebooks import ROOT, code, executed, notebooks

NAMES = [path.stem for path in notebooks()]


def outputs(book):
    return [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_is_one_for_each_area():
    assert NAMES == ["count", "explain", "identify", "publish", "stream"]


@pytest.mark.parametrize("path", notebooks(), ids=NAMES)
def test_what_is_kept_was_run_and_ended_well(path):
    import nbformat

    kept = nbformat.read(path, as_version=4)
    cells = [cell for cell in kept.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert not [output for output in outputs(kept) if output.output_type == "error"]
    text = path.read_text(encoding="utf-8")
    assert "/tmp/" not in text  # noqa: S108 - where it ran is nobody's business
    assert str(ROOT) not in text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_notebook_of_a_count_runs_in_a_kernel():
    """One in a kernel of its own, for what only a kernel shows; the programs of all run below."""
    book = executed(ROOT / "docs" / "notebooks" / "count.ipynb")
    shown = [output.data for output in outputs(book) if output.output_type == "execute_result"]
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert len(pages) >= 5
    assert any("NOT PRIVATE" in page and "really in the rows" in page for page in pages)
    plain = [data["text/plain"] for data in shown]
    assert any(text.startswith("answer") and "promise" in text for text in plain)
    assert any(text.startswith("price") for text in plain)


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in notebooks() if path.stem != "count"], ids=lambda path: path.stem)
def test_the_program_of_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    exec(compile(code(path), path.name, "exec"), {"__name__": "__main__"})  # noqa: S102 - our own page


@pytest.mark.slow
def test_type_checkers_see_everything(tmp_path):
    files = []
    for path in notebooks():
        place = tmp_path / f"{path.stem}_notebook.py"
        place.write_text(code(path), encoding="utf-8")
        files.append(str(place))
    wrong = tmp_path / "wrong_notebook.py"
    wrong.write_text("import wallflower as wf\n\nwf.open('x.toml').budget.nonsense\nwf.table(1, 2)\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *files, str(wrong)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    complaints = [line for line in found.splitlines() if ": error:" in line]
    assert len(complaints) == 2, found
    assert all("wrong_notebook.py" in line for line in complaints)
