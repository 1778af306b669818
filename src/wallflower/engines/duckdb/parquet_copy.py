"""A copy of a Parquet file in which every cell can be read.

Text columns of Parquet may hold bytes that are no text, and moments may lie beyond DuckDB's; it then refuses the whole file, so
that one row would fail a release. Such files are rare: whether one is such a file is found by reading its columns once. Moments
in nanoseconds with a zone, which DuckDB rounds, are always read from a copy.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from wallflower.engines.arrow_cells import readable_texts
from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import Database

BATCH = 50_000
"""Rows copied at a time."""
END = 8
"""Bytes that end a Parquet file: how long what it says of itself is, and a mark."""
ARROW = b"\x18\x0cARROW:schema"
"""The name under which Arrow keeps its types there, as it is written: a text of twelve letters."""
FARTHEST = 290_000 * 365 * 86_400 * 10**6
"""Microseconds that DuckDB can hold on either side of 1970, and far beyond any date that can be declared."""


def can_be_read(base: Database, scan: str, cells: Sequence[str]) -> bool:
    """Whether DuckDB can read all of these cells."""
    import duckdb

    if not cells:
        return True
    try:
        sql.decode(base, scan, cells)
    except (duckdb.InvalidInputException, duckdb.ConversionException):
        return False
    return True


def readable_copy(path: Path, columns: Sequence[str], folder: Path) -> Path:
    """The columns once more: U+FFFD (unreadable) in place of bytes that are no text, the farthest moment for any beyond it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    copy = folder / "readable.parquet"
    writer: Any = None
    # Moments of 96 bits would be read in nanoseconds, and far ones come back as near ones.
    with pq.ParquetFile(path, metadata=_plain(path), coerce_int96_timestamp_unit="us") as source:
        for batch in chain(source.iter_batches(BATCH, columns=list(columns)), [source.schema_arrow.empty_table()]):
            cells = [readable_texts(_within(batch.column(name))) for name in columns]
            part = pa.table(cells, names=list(columns))
            writer = writer or pq.ParquetWriter(copy, part.schema)
            writer.write_table(part)
    writer.close()
    return copy


def _plain(path: Path) -> Any:
    """What the file says of itself but for Arrow's own types, which DuckDB does not look at: a category that is no text has none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        file.seek(-END, os.SEEK_END)
        length = int.from_bytes(file.read(END)[:4], "little")
        file.seek(-END - length, os.SEEK_END)
        said = file.read(length + END).replace(ARROW, ARROW.lower())
    return pq.read_metadata(pa.BufferReader(b"PAR1" + said))


def _within(cells: Any) -> Any:
    """Moments in microseconds; those that DuckDB cannot hold are moved to the farthest that it can. Nanoseconds stay, in UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    if t.is_timestamp(cells.type) and cells.type.unit == "ns":
        return cells.cast(pa.timestamp("ns"))
    if not t.is_timestamp(cells.type) or cells.type.unit not in {"s", "ms"}:
        return cells
    factor = 10**6 if cells.type.unit == "s" else 10**3
    limit = FARTHEST // factor
    ticks = pc.max_element_wise(cells.cast(pa.int64()), -limit, skip_nulls=False)
    ticks = pc.multiply(pc.min_element_wise(ticks, limit, skip_nulls=False), factor)
    return ticks.cast(pa.timestamp("us", cells.type.tz))
