"""Rows in a file, read and aggregated by DuckDB through Ibis, within a memory limit and a private spill folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wallflower.engines import owner_counts
from wallflower.engines.base import Rows
from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import MEMORY_LIMIT, Database, database
from wallflower.engines.duckdb.files import File, open_file
from wallflower.engines.duckdb.rows import DuckRows
from wallflower.engines.memory.rows import MemoryRows
from wallflower.engines.profile import Described, Tally
from wallflower.engines.reading_rule import Kind
from wallflower.engines.redaction import broken, damaged, no_room, quietly, unreadable
from wallflower.engines.view import View, view_of, wanted_columns, with_key
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Declaration, Reading

HELD = 100_000
"""Declared rows up to which holding texts is quicker than loading what writes SQL."""
MANY_TIMES = 4
ROOM = 2**28
"""Bytes of texts that are held; DuckDB reads more of them a piece at a time."""


@dataclass(frozen=True)
class DuckSource:
    """The file that a declaration names."""

    declaration: Declaration
    memory_limit: str = MEMORY_LIMIT
    held: int = HELD
    """Up to this declared `max_rows`, texts are held in memory and read there; 0: every question is pushed down."""

    @contextmanager
    def rows(self, columns: Sequence[str], /) -> Iterator[Rows]:
        with self._staged(columns) as (base, view, needed):
            rows = self._in_memory(base, view, needed)
            yield rows or quietly(lambda: DuckRows.over(view, base, needed), broken)

    def verify(self, columns: Sequence[str], /) -> None:
        with database(self.memory_limit) as base:
            self._view(base, columns)

    def refuse_damage(self, columns: Sequence[str], /) -> None:
        file = self._file()
        quietly(file.check, lambda: unreadable(file.path))
        if not file.paged:
            return
        with database(self.memory_limit) as base:
            file, view = self._view(base, columns)
            needed = with_key(self.declaration, view.columns)
            quietly(lambda: file.decode(base, needed), lambda: damaged(file.path), short=no_room)

    @contextmanager
    def open(self, columns: Sequence[str]) -> Iterator[DuckRows]:
        """Every question pushed down, with what the owner may ask as well."""
        with self._staged(columns) as (base, view, needed):
            yield quietly(lambda: DuckRows.over(view, base, needed), broken)

    @contextmanager
    def _staged(self, columns: Sequence[str]) -> Iterator[tuple[Database, View, tuple[str, ...]]]:
        with database(self.memory_limit) as base:
            file, view = self._view(base, columns)
            needed = with_key(self.declaration, view.columns)
            quietly(lambda: file.stage(base, needed), lambda: unreadable(file.path), short=no_room)
            yield base, view, needed

    def _in_memory(self, base: Database, view: View, needed: tuple[str, ...]) -> MemoryRows | None:
        """The same view read from the raw texts; None where they are not held.

        Which of the two reads is a matter of the declared bound alone, but for a file that breaks it many times over, or whose texts
        are long, which would not fit: it is pushed down like any other. No answer depends on it (`tests/contracts/test_engines.py`); Ibis is not loaded.
        """
        if not needed or self.declaration.max_rows > self.held:
            return None
        cells = quietly(lambda: sql.texts(base, most=MANY_TIMES * self.held, room=ROOM), broken)
        if cells is None:
            return None
        named = dict(zip(needed, cells, strict=True))
        return quietly(lambda: MemoryRows.read(view, named, len(cells[0])), broken)

    def tally(self, columns: Sequence[str]) -> Tally:
        """For the owner alone (`profile.examine`)."""
        with self.open(columns) as rows:
            return quietly(lambda: owner_counts.tally(rows), broken)

    def _view(self, base: Database, columns: Sequence[str]) -> tuple[File, View]:
        """From the file's schema alone."""
        wanted = wanted_columns(self.declaration, columns)
        file = self._file()
        needed = with_key(self.declaration, wanted)
        quietly(lambda: file.open(base), lambda: unreadable(file.path))
        kinds = quietly(lambda: file.kinds(base, needed), lambda: unreadable(file.path))
        return file, view_of(self.declaration, wanted, kinds, decimal=file.decimal)

    def _file(self) -> File:
        source = self.declaration.source
        place = Path(source) if source is not None else None
        return open_file(place, self.declaration.source_table, self.declaration.read, ids=self.declaration.person)


def describe(path: str | Path, *, table: str | None = None, read: Reading | None = None) -> list[Described]:
    """Names, kinds and, where they are few, values of the columns of a file. For the owner's first draft. NOT PRIVATE."""
    place = Path(path)
    with database() as base:
        file = open_file(place, table, read or Reading())

        def work() -> list[Described]:
            file.open(base)
            names = list(dict.fromkeys(file.names(base)))
            if not names:
                raise DeclarationError(
                    f"'{place.name}' is empty: it names no column.",
                    hint="A text file begins with a line of names, and in JSON every record names its values.",
                )
            kinds = [_kind_or_none(file, base, name) for name in names]
            file.stage(base, names)
            return list(owner_counts.described(base, names, kinds, decimal=file.decimal))

        return quietly(work, lambda: unreadable(place))


def _kind_or_none(file: File, base: Database, name: str) -> Kind | None:
    try:
        return file.kinds(base, [name])[name]
    except DeclarationError:
        return None  # a type that cannot be declared, or a name that occurs twice
