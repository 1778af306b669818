"""A table or view on a PostgreSQL server, as a source of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from wallflower.engines import owner_counts
from wallflower.engines.base import Rows
from wallflower.engines.postgresql.catalogue import Table, kinds, stage
from wallflower.engines.postgresql.rows import PostgresRows
from wallflower.engines.postgresql.snapshot import Snapshot, snapshot
from wallflower.engines.profile import Tally
from wallflower.engines.redaction import broken, quietly
from wallflower.engines.view import View, view_of, wanted_columns, with_key
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Declaration


@dataclass(frozen=True)
class PostgresSource:
    """The table that a declaration names by `source` and `table`."""

    declaration: Declaration

    def __post_init__(self) -> None:
        import psycopg  # noqa: F401 - missing, it is told before anything else

    @contextmanager
    def rows(self, columns: Sequence[str], /) -> Iterator[Rows]:
        with self.open(columns) as rows:
            yield rows

    def verify(self, columns: Sequence[str], /) -> None:
        with snapshot(str(self.declaration.source)) as base:
            self._view(base, columns)

    @contextmanager
    def open(self, columns: Sequence[str]) -> Iterator[PostgresRows]:
        """`rows`, with what the owner may ask as well."""
        with snapshot(str(self.declaration.source)) as base:
            view, needed = self._view(base, columns)
            yield quietly(lambda: PostgresRows.over(view, base, needed), broken)

    def tally(self, columns: Sequence[str]) -> Tally:
        """For the owner alone (`profile.examine`)."""
        with self.open(columns) as rows:
            return quietly(lambda: owner_counts.tally(rows), broken)

    def _view(self, base: Snapshot, columns: Sequence[str]) -> tuple[View, tuple[str, ...]]:
        """From the catalogue alone."""
        if self.declaration.source_table is None:
            raise DeclarationError("a server holds many tables.", hint='Write table = "schema.name" in [table].')
        table = Table.parse(self.declaration.source_table)
        wanted = wanted_columns(self.declaration, columns)
        needed = with_key(self.declaration, wanted)
        found = quietly(lambda: kinds(base, table, needed), broken)
        stage(base, table, needed, found)
        return view_of(self.declaration, wanted, found), needed
