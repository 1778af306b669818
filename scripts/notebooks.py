"""Run the example notebooks and keep what they show: `python scripts/notebooks.py` writes docs/notebooks anew."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "notebooks"


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook with fresh outputs; a cell that fails raises."""
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=600, startup_timeout=600, kernel_name="python3", record_timing=False).execute()
    for cell in book.cells:
        cell.get("metadata", {}).pop("execution", None)
    book.metadata["language_info"] = {"name": "python"}
    return book


def code(path: Path) -> str:
    """The code of a notebook as one program; a cell's last expression stays an expression."""
    import nbformat

    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "code") + "\n"


if __name__ == "__main__":
    import nbformat

    for each in notebooks():
        nbformat.write(executed(each), each)
        sys.stdout.write(f"{each.relative_to(ROOT)}\n")
