"""Where a stream's decisions are kept: a DuckDB file, one transaction per batch of windows, each window at most once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowResult:
    """One decided window."""

    sensor: str
    series: str
    number: int
    digest: str
    numbers: NDArray[np.int64]
    """Noised readings in steps, one column per declared column."""
    codes: NDArray[np.uint8] | None
    presumed: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    probability: NDArray[np.float64] | None
    received: float
    """Seconds since 1970 when the window came in."""


class Results:
    """Table `windows` (one row per window) and view `readings` (one per reading: as received, presumed, decided).

    Everything in it is computed from what the sensors let go; there is no true reading to find.
    """

    def __init__(self, path: Path | None, *, stream: str, columns: dict[str, float], facts: dict[str, str]) -> None:
        """`columns` gives each column's step; `facts` say what the stream promises and are kept beside the results."""
        import duckdb

        self._steps = columns
        try:
            self._db: Any = duckdb.connect(":memory:" if path is None else str(path))
        except duckdb.Error:
            raise UsageError(
                f"'{path}' cannot be opened as a DuckDB file.",
                hint="Another process may be writing to it, or it is something else.",
            ) from None
        self._db.execute("SET threads = 1")  # batches are small; threads would only compete with the analyst
        measured = ", ".join(f"{_quoted(name)} DOUBLE" for name in columns)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS windows (id UBIGINT, sensor VARCHAR, series VARCHAR, number UBIGINT, digest VARCHAR,"
            " readings UINTEGER, presumed UINTEGER, decided UINTEGER, received TIMESTAMP, stored TIMESTAMP,"
            " PRIMARY KEY (sensor, series, number))"
        )
        # A reading names its window by number: texts repeated a million times would be most of the work of storing it.
        self._db.execute(
            f"CREATE TABLE IF NOT EXISTS points (id UBIGINT, position UINTEGER, {measured},"
            " code UTINYINT, presumed BOOLEAN, decided BOOLEAN, probability FLOAT)"
        )
        self._db.execute(
            "CREATE VIEW IF NOT EXISTS readings AS SELECT w.sensor, w.series, w.number, p.* EXCLUDE (id), w.received"
            " FROM points p JOIN windows w USING (id)"
        )
        self._db.execute("CREATE TABLE IF NOT EXISTS about (name VARCHAR PRIMARY KEY, text VARCHAR)")
        self._describe({"stream": stream, **facts}, path)
        self._next = int(self._db.execute("SELECT coalesce(max(id) + 1, 0) FROM windows").fetchone()[0])

    def _describe(self, facts: dict[str, str], path: Path | None) -> None:
        known = dict(self._db.execute("SELECT name, text FROM about").fetchall())
        if known and known.get("stream") != facts["stream"]:
            raise UsageError(f"'{path}' holds results of another stream.", hint="Name a new file with -o.")
        self._db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", list(facts.items()))

    def known(self) -> dict[tuple[str, str, int], str]:
        """Every window already stored, with the digest of the bytes it was decided from."""
        rows = self._db.execute("SELECT sensor, series, number, digest FROM windows").fetchall()
        return {(sensor, series, number): digest for sensor, series, number, digest in rows}

    def add(self, windows: Sequence[WindowResult]) -> None:
        """Store windows, all or none; on disk when this returns. A window already there is refused by its key."""
        import pyarrow as pa

        if not windows:
            return
        first = self._next
        heads = pa.table(
            {
                "id": pa.array(range(first, first + len(windows)), pa.uint64()),
                "sensor": [window.sensor for window in windows],
                "series": [window.series for window in windows],
                "number": pa.array([window.number for window in windows], pa.uint64()),
                "digest": [window.digest for window in windows],
                "readings": [len(window.numbers) for window in windows],
                "presumed": [int(window.presumed.sum()) for window in windows],
                "decided": [int(window.decided.sum()) for window in windows],
                "received": _moments([window.received for window in windows]),
                "stored": _moments([time.time()] * len(windows)),
            }
        )
        rows = pa.concat_tables([self._rows(first + place, window) for place, window in enumerate(windows)])
        self._db.execute("BEGIN")
        try:
            self._db.register("heads", heads)
            self._db.register("rows", rows)
            self._db.execute("INSERT INTO windows SELECT * FROM heads")
            self._db.execute("INSERT INTO points SELECT * FROM rows")
            self._db.execute("COMMIT")
            self._next += len(windows)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        finally:
            self._db.unregister("heads")
            self._db.unregister("rows")

    def _rows(self, identity: int, window: WindowResult) -> Any:
        import pyarrow as pa

        count = len(window.numbers)
        columns: dict[str, Any] = {
            "id": pa.array(np.full(count, identity, dtype=np.uint64)),
            "position": pa.array(np.arange(count, dtype=np.uint32)),
        }
        for place, (name, step) in enumerate(self._steps.items()):
            columns[f"value {name}"] = pa.array(window.numbers[:, place] * step)
        columns["code"] = pa.nulls(count, pa.uint8()) if window.codes is None else pa.array(window.codes)
        columns["presumed"] = pa.array(window.presumed)
        columns["decided"] = pa.array(window.decided)
        columns["probability"] = (
            pa.nulls(count, pa.float32())
            if window.probability is None
            else pa.array(window.probability.astype(np.float32))
        )
        return pa.table(columns)

    def totals(self) -> tuple[int, int, int, int]:
        """Windows, readings, presumed and decided outliers so far."""
        row = self._db.execute(
            "SELECT count(*), coalesce(sum(readings), 0), coalesce(sum(presumed), 0), coalesce(sum(decided), 0) FROM windows"
        ).fetchone()
        windows, readings, presumed, decided = (int(number) for number in row)
        return windows, readings, presumed, decided

    def sample(self, sensor: str, most: int) -> dict[str, NDArray[Any]]:
        """The first `most` readings of a sensor in its own order, with what was presumed and decided; for a picture."""
        found: dict[str, NDArray[Any]] = self._db.execute(
            f"SELECT * FROM readings WHERE sensor = ? ORDER BY number, position LIMIT {int(most)}", [sensor]
        ).fetchnumpy()
        return found

    def export(self, path: Path) -> None:
        """All readings as one Parquet file."""
        target = str(path).replace("'", "''")
        self._db.execute(
            "COPY (SELECT * FROM readings ORDER BY sensor, series, number, position)"
            f" TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
        )

    def close(self) -> None:
        self._db.close()


def _moments(seconds: list[float]) -> Any:
    """Seconds since 1970 as UTC timestamps, whatever the machine's time zone."""
    import pyarrow as pa

    return pa.array([int(moment * 1e6) for moment in seconds], pa.timestamp("us"))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
