"""What an area registers to join the contract suite of queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CANARY = "canaryq7f3a"


@dataclass(frozen=True, kw_only=True)
class Example:
    """One question on one small table. `tests/contracts/examples_<area>.py` lists its own in `EXAMPLES`."""

    name: str
    declaration: str
    """TOML; `source = "rows.csv"`, `ledger = "rows.ledger"`, `reviewed = true`, `test = false`."""
    csv: str
    """The rows, header first, no quoted commas."""
    query: Callable[[Path], Any]
    """The question; the folder is where a publication may write."""
    command: tuple[str, ...]
    """The command line after the program's name; DECL stands for the declaration, OUT for the folder."""
    answerable: bool = True
    """False when the right answer on `csv` is no answer (exit 5)."""
    always_answers: bool = True
    """True when even an empty table gets an answer."""
    priced_by_row: bool = False
    """True when a person with m rows costs as much as m rows; False when the question has a law of its own for a person."""
    holds_all_rows: bool = False
    """Of what looks at rows near each other: True when it is refused where the rows do not fit into memory."""

    @property
    def label(self) -> str:
        """Its name in a run of tests, with the file of its question: `-k` finds it by either."""
        return f"{self.name} ({type(self.query(Path())).__module__.rpartition('.')[2]})"

    def lay_out(
        self, folder: Path, *, csv: str | None = None, test: bool = False, change: tuple[str, str] | None = None
    ) -> Path:
        """Write declaration and rows into `folder`; returns the declaration's path."""
        text = self.declaration.replace("test = false", "test = true") if test else self.declaration
        if change is not None:
            if change[0] not in text:
                message = f"{self.name}: the declaration has no '{change[0]}' to change"
                raise ValueError(message)
            text = text.replace(*change)
        (folder / "rows.csv").write_text(self.csv if csv is None else csv, encoding="utf-8")
        path = folder / "rows.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def arguments(self, declaration: Path) -> list[str]:
        return [part.replace("DECL", str(declaration)).replace("OUT", str(declaration.parent)) for part in self.command]

    def with_cells(self, *cells: str) -> str:
        """The same header and number of rows, every cell replaced; several take turns, in every column."""
        header, *rows = self.csv.strip().split("\n")
        across = range(header.count(",") + 1)
        made = (",".join(cells[(down + column) % len(cells)] for column in across) for down in range(len(rows)))
        return "\n".join([header, *made]) + "\n"

    def only_header(self) -> str:
        return self.csv.strip().split("\n")[0] + "\n"
