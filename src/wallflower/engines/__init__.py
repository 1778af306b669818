"""Where rows live.

`open_source(declaration)` gives the rows that a declaration names (a file, or a server by its scheme, `registry`); `from_frame(frame, declaration)` a pandas, polars or Arrow table.
Both give a `Source`; `with source.rows(columns) as rows:` gives a view (`base.Rows`). The rule by which cells become declared
integers is `reading_rule`. `describe` and `examine` are the owner's look at the rows (`profile`) and never serve a query.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wallflower.engines.base import Cells, Nearest, Record, Rows, Source
from wallflower.engines.profile import Described, examine
from wallflower.engines.registry import engine_for
from wallflower.schema.declaration import Declaration, Reading

__all__ = ["Cells", "Nearest", "Record", "Rows", "Source", "describe", "examine", "from_frame", "open_source"]


def open_source(declaration: Declaration) -> Source:
    """The rows at the `source` of the declaration, by the engine registered for its scheme; nothing is read yet."""
    return engine_for(declaration.source).open(declaration)


def from_frame(frame: Any, declaration: Declaration) -> Source:
    """The rows of a pandas or polars DataFrame or a pyarrow Table; nothing is read yet."""
    from wallflower.engines.memory.frames import library_of
    from wallflower.engines.memory.source import MemorySource

    library_of(frame)
    return MemorySource(frame, declaration)


def describe(path: str | Path, *, table: str | None = None, read: Reading | None = None) -> list[Described]:
    """Names, kinds and, where they are few, values of the columns of a file. For the owner's first draft. NOT PRIVATE."""
    from wallflower.engines.duckdb.source import describe as describe_file

    return describe_file(path, table=table, read=read)
