"""A Spark table or Parquet folder, as a source of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from wallflower.engines import owner_counts
from wallflower.engines.base import Rows
from wallflower.engines.made_up import made_up_rows
from wallflower.engines.profile import Tally
from wallflower.engines.redaction import broken, quietly
from wallflower.engines.spark import tasks
from wallflower.engines.spark.catalogue import frame, kinds, stage
from wallflower.engines.spark.executors import MadeUp, TrialExecutors
from wallflower.engines.spark.rows import SparkRows
from wallflower.engines.spark.session import snapshot
from wallflower.engines.spark.snapshot import Snapshot
from wallflower.engines.view import view_of, wanted_columns, with_key
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Declaration


@dataclass(frozen=True)
class SparkSource:
    """The table that a declaration names by `source` and `table`."""

    declaration: Declaration

    def __post_init__(self) -> None:
        import pyspark  # noqa: F401 - missing, it is told before anything else

    @contextmanager
    def rows(self, columns: Sequence[str], /) -> Iterator[Rows]:
        with self.open(columns) as rows:
            yield rows

    def verify(self, columns: Sequence[str], /) -> None:
        with snapshot(str(self.declaration.source)) as base:
            self._view(base, columns)
            if self.declaration.executors:
                tasks.check(base.session)

    @contextmanager
    def made_up(self, columns: Sequence[str], /) -> Iterator[Rows]:
        """Made-up rows, and the executors on which a question tries what it will do there."""
        with made_up_rows(self.declaration, columns) as rows:
            if not self.declaration.executors:
                yield rows
                return
            with snapshot(str(self.declaration.source)) as base:
                yield cast("Rows", MadeUp(rows, TrialExecutors(rows, base.session)))

    @contextmanager
    def open(self, columns: Sequence[str]) -> Iterator[SparkRows]:
        """`rows`, with what the owner may ask as well."""
        with snapshot(str(self.declaration.source)) as base:
            view, table, needed, found = self._view(base, columns)
            quietly(lambda: stage(base, table, needed, found), broken)
            yield quietly(lambda: SparkRows.over(view, base, needed), broken)

    def tally(self, columns: Sequence[str]) -> Tally:
        """For the owner alone (`profile.examine`)."""
        with self.open(columns) as rows:
            return quietly(lambda: owner_counts.tally(rows), broken)

    def _view(self, base: Snapshot, columns: Sequence[str]) -> tuple[Any, Any, tuple[str, ...], Any]:
        """From the catalogue alone."""
        if self.declaration.source_table is None:
            raise DeclarationError(
                "a catalogue holds many tables.", hint='Write table = "catalog.name", or a path to Parquet, in [table].'
            )
        wanted = wanted_columns(self.declaration, columns)
        needed = with_key(self.declaration, wanted)
        table = frame(base, self.declaration.source_table)
        found = quietly(lambda: kinds(table, needed), broken)
        return view_of(self.declaration, wanted, found), table, needed, found
