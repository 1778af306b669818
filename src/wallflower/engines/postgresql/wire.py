"""PostgreSQL's binary COPY format, for rows of whole numbers without NULLs: every row has the same length."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
TRAILER = b"\xff\xff"
BATCH = 1 << 22
"""Bytes gathered before a batch is made."""


def integers(blocks: Iterable[Any], widths: Sequence[int]) -> Iterator[Any]:
    """Arrow batches from the blocks of a COPY whose columns are integers of 4 or 8 bytes."""
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    for at, width in enumerate(widths):
        fields += [(f"length{at}", ">i4"), (f"v{at}", f">i{width}")]
    row = np.dtype(fields)
    held = bytearray()
    started = False
    for block in blocks:
        held += block
        if not started and len(held) >= 19:
            _header(held)
            started = True
        if started and len(held) >= BATCH:
            yield from _rows(held, row, widths)
    if not started or bytes(held[-2:]) != TRAILER:
        raise ValueError("the answer of PostgreSQL has no end")
    del held[-2:]
    yield from _rows(held, row, widths)
    if held:
        raise ValueError("the answer of PostgreSQL is not made of whole rows")


def _header(held: bytearray) -> None:
    if bytes(held[:11]) != SIGNATURE:
        raise ValueError("not PostgreSQL's binary format")
    (extension,) = struct.unpack(">i", held[15:19])
    del held[: 19 + extension]


def _rows(held: bytearray, row: np.dtype[Any], widths: Sequence[int]) -> Iterator[Any]:
    import pyarrow as pa

    count = len(held) // row.itemsize
    if not count:
        return
    table = np.frombuffer(bytes(held[: count * row.itemsize]), row)
    if (table["fields"] != len(widths)).any() or any((table[f"length{at}"] != w).any() for at, w in enumerate(widths)):
        raise ValueError("a row of PostgreSQL's answer is not what was asked for")
    del held[: count * row.itemsize]
    columns = [pa.array(table[f"v{at}"].astype(f"=i{width}")) for at, width in enumerate(widths)]
    yield pa.record_batch(columns, names=[f"v{at}" for at in range(len(widths))])
