"""An engine as another package would bring it: `twice://FOLDER` has every row of a folder's `rows.csv` two times."""

from __future__ import annotations

from contextlib import contextmanager

import pyarrow as pa
from pyarrow import csv

from wallflower.engines.memory.source import MemorySource
from wallflower.engines.redaction import broken, quietly
from wallflower.engines.registry import Engine

ENGINE = Engine(name="twice", schemes=("twice", "file"), opens="tests.engines.elsewhere:Twice")


class Twice:
    def __init__(self, declaration) -> None:
        self.declaration = declaration

    def _memory(self):
        rows = quietly(lambda: csv.read_csv(f"{self.declaration.source.removeprefix('twice://')}/rows.csv"), broken)
        return MemorySource(pa.concat_tables([rows, rows]), self.declaration)

    def verify(self, columns, /):
        self._memory().verify(columns)

    @contextmanager
    def rows(self, columns, /):
        with self._memory().rows(columns) as rows:
            yield rows
