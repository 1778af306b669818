"""Files of every format that names its columns in one place and keeps their cells in others, and what can happen to their bytes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

CANARY = "canary-4711"
ROWS = 600


def table() -> pa.Table:
    """Enough rows for many pages; every text names the canary."""
    rows = range(ROWS)
    return pa.table(
        {
            "k": [f"{CANARY}-{row}" for row in rows],
            "x": [(row * 37 % 101 - 50) / 10 for row in rows],
            "c": [f"{CANARY}-{'abc'[row % 3]}" for row in rows],
            "d": pa.array([86_400_000 * (row % 50) for row in rows], pa.int64()).cast(pa.timestamp("ms")),
        }
    )


@dataclass(frozen=True)
class Kind:
    name: str
    write: Callable[[Path], Path]
    """Writes the whole file into a folder and says where it is."""
    table: str | None = None


def _parquet(folder: Path, **choices: Any) -> Path:
    pq.write_table(table(), folder / "rows.parquet", row_group_size=200, data_page_size=512, **choices)
    return folder / "rows.parquet"


def _sqlite(folder: Path, *, index: bool) -> Path:
    path = folder / "rows.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 512")
    connection.execute("CREATE TABLE t (k, x, c, d)")
    days = ((f"2000-02-{1 + row % 28:02}",) for row in range(ROWS))
    cells = zip(*(table().column(name).to_pylist() for name in ("k", "x", "c")), strict=True)
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?)", [(*row, *day) for row, day in zip(cells, days, strict=True)]
    )
    if index:  # holds every column, so that it may be read in place of the table
        connection.execute("CREATE INDEX every ON t (c, x, d, k)")
    connection.commit()
    connection.close()
    return path


def _duckdb(folder: Path) -> Path:
    path = folder / "rows.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.register("given", table())
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return path


def _lines(folder: Path, name: str) -> Path:
    rows = [{**row, "d": str(row["d"].date())} for row in table().to_pylist()]
    text = {
        "rows.csv": "\n".join(["k,x,c,d", *(",".join(map(str, row.values())) for row in rows)]),
        "rows.json": json.dumps(rows),
        "rows.jsonl": "\n".join(map(json.dumps, rows)),
    }[name]
    (folder / name).write_text(text)
    return folder / name


KINDS = [
    *(
        Kind(
            f"parquet {codec} {'dictionary' if words else 'plain'} {version}",
            partial(_parquet, compression=codec, use_dictionary=words, data_page_version=version),
        )
        for codec, words, version in product(["none", "snappy", "gzip", "zstd"], [True, False], ["1.0", "2.0"])
    ),
    Kind("sqlite", partial(_sqlite, index=False), "t"),
    Kind("sqlite index", partial(_sqlite, index=True), "t"),
    Kind("duckdb", _duckdb, "t"),
    *(Kind(name, partial(_lines, name=name)) for name in ("rows.csv", "rows.json", "rows.jsonl")),
]


@dataclass(frozen=True)
class Damage:
    """Of a stretch of bytes; where it begins and ends is a part of the file's length."""

    how: str
    start: float
    length: int
    filling: bytes

    def of(self, content: bytes) -> bytes:
        start = int(self.start * len(content))
        end = min(start + self.length, len(content))
        if self.how == "cut off":
            return content[:start]
        if self.how == "lost":
            return content[:start] + content[end:]
        if self.how == "doubled":
            return content[:end] + content[start:]
        new = bytes(end - start) if self.how == "blank" else (self.filling * self.length)[: end - start]
        return content[:start] + new + content[end:]


def damaged(content: bytes, damages: list[Damage]) -> bytes:
    for damage in damages:
        content = damage.of(content)
    return content


HOW = ("overwritten", "overwritten", "overwritten", "blank", "blank", "lost", "doubled", "cut off")
DAMAGES = st.lists(
    st.builds(
        Damage,
        how=st.sampled_from(HOW),
        start=st.integers(0, 9_999).map(lambda place: place / 10_000),
        length=st.sampled_from([1, 2, 4, 16, 100, 512, 4_096]),
        filling=st.binary(min_size=1, max_size=8),
    ),
    min_size=1,
    max_size=2,
)
