"""Cells of the papers' results, looked up by heading, row and column."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class At:
    """A cell of a table: under the first heading that starts with `heading`, in the first row whose leading cells are `row`."""

    heading: str
    row: tuple[str, ...]
    column: str

    def read(self, paper: str) -> str:
        lines = iter((HERE / paper / "RESULTS.md").read_text(encoding="utf-8").splitlines())
        for line in lines:
            if line.startswith("#") and line.lstrip("# ").startswith(self.heading):
                break
        else:
            raise SystemExit(f"{paper}: no heading '{self.heading}'")
        header: list[str] = []
        for line in lines:
            if line.startswith("#"):
                break
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
            if not cells:
                header = []
            elif not header:
                header = cells
            elif tuple(cells[: len(self.row)]) == self.row and any(name.startswith(self.column) for name in header):
                place = next(i for i, name in enumerate(header) if name.startswith(self.column))
                return cells[place].strip("*")
        raise SystemExit(f"{paper}: no row {self.row} with a column '{self.column}' under '{self.heading}'")


@dataclass(frozen=True)
class Claim:
    paper: str
    claim: str
    published: str
    as_published: At | str
    ours: At | str
    reproduces: str
    why: str
