"""JSON: an array of records (.json), or one record per line (.jsonl, .ndjson, or a .json that begins otherwise).

Each cell carries its own type and is written as text first (`reading_rule.cell_text`). A record that lacks a column lacks a
cell, and it is no error when every record lacks it: whether one has it depends on the rows. What is no record (a bare
number, broken text) is a row whose cells are all missing; a name that a record repeats is an unreadable cell. Blank lines are
no rows. An array without its end, or with something after it, is refused before anything is charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from wallflower.engines.duckdb import text_copy
from wallflower.engines.duckdb.database import Database
from wallflower.engines.duckdb.json_records import is_array, records, whole
from wallflower.engines.reading_rule import Kind, cell_text
from wallflower.errors import DeclarationError

BATCH = 50_000
"""Records read at a time."""


@dataclass(frozen=True)
class JsonFile:
    path: Path
    decimal: str = "."
    ids: str | None = None
    """The column that says whose row it is, in which a real is unreadable."""

    def open(self, base: Database) -> None:
        base.seal(self.path)

    def names(self, base: Database) -> Sequence[str]:
        names = {name for record in records(self.path) for name in record}
        return sorted(name for name in names if cell_text(name) == name)  # no lone surrogates

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        return dict.fromkeys(columns, Kind.TEXT)

    def check(self) -> None:
        if is_array(self.path) and not whole(self.path):
            raise DeclarationError(
                f"the source '{self.path.name}' begins with a bracket and is no whole array.",
                hint="Check that it was written to its end, and that one array is all it holds.",
            )

    @property
    def paged(self) -> bool:
        return False

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        """Any bytes are records, once `check` has found an array whole."""

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        every = records(self.path)
        batches = iter(lambda: [[record.get(name) for name in columns] for record in islice(every, BATCH)], [])
        text_copy.stage(base, text_copy.writers(columns, self.ids), batches)
