"""Where a stream's decisions are kept: one row a window with a unique key, its readings packed beside it, in SQLite or PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.stores.decisions import Decided, DecisionStore


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
    """Everything in it is computed from what the sensors let go; there is no true reading to find."""

    def __init__(
        self, place: str | Path | None, *, stream: str, columns: dict[str, float], facts: dict[str, str]
    ) -> None:
        """`columns` gives each column's step; `facts` say what the stream promises and are kept beside the results."""
        self._steps = columns
        self._store = DecisionStore(place, stream=stream)
        try:
            self._store.describe({"stream": stream, **facts})
        except BaseException:
            self._store.close()
            raise

    def known(self, sensors: Sequence[str] | None = None) -> dict[tuple[str, str, int], str]:
        """Every window already stored, with the digest of the bytes it was decided from."""
        return self._store.known(sensors)

    def add(self, windows: Sequence[WindowResult]) -> dict[tuple[str, str, int], str]:
        """Store windows in one transaction, on disk when this returns; one that is there stays as it is.

        Gives the digest that is now stored under each window's key.
        """
        now = time.time()
        return self._store.add(
            [
                Decided(
                    sensor=window.sensor,
                    series=window.series,
                    number=window.number,
                    digest=window.digest,
                    readings=len(window.decided),
                    presumed=int(window.presumed.sum()),
                    decided=int(window.decided.sum()),
                    received=window.received,
                    stored=now,
                    body=self._packed(window),
                )
                for window in windows
            ]
        )

    def totals(self) -> tuple[int, int, int, int]:
        """Windows, readings, presumed and decided outliers so far."""
        return self._store.totals()

    def words(self) -> list[tuple[str, int, bool]]:
        """Of a stream that speaks by the clock: sensor, slot since 1970, and whether it said yes."""
        return self._store.words()

    def heard(self) -> dict[str, tuple[int, float]]:
        """Of every sensor: how many messages, and when the last one came, in seconds since 1970."""
        return self._store.heard()

    def sample(self, sensor: str, most: int) -> dict[str, NDArray[Any]]:
        """The first `most` readings of a sensor in its own order, with what was presumed and decided; for a picture."""
        import pyarrow as pa

        parts, count = [], 0
        for row in self._store.windows(sensor):
            if count >= most:
                break
            table = _unpacked(row)
            parts.append(table)
            count += len(table)
        whole = pa.concat_tables(parts).slice(0, most) if parts else pa.table({})
        return {name: whole[name].to_numpy(zero_copy_only=False) for name in whole.column_names}

    def export(self, path: Path) -> None:
        """All readings as one Parquet file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        writer = None
        for row in self._store.windows():
            table = _unpacked(row)
            count = len(table)
            head = {
                "sensor": pa.array([row.sensor] * count),
                "series": pa.array([row.series] * count),
                "number": pa.array(np.full(count, row.number, dtype=np.int64)),
                "position": pa.array(np.arange(count, dtype=np.uint32)),
            }
            body = {name: table[name] for name in table.column_names}
            received = pa.array([int(row.received * 1e6)] * count, pa.timestamp("us"))
            block = pa.table({**head, **body, "received": received})
            if writer is None:
                writer = pq.ParquetWriter(str(path), block.schema, compression="zstd")
            writer.write_table(block)
        if writer is None:
            pq.write_table(pa.table({"sensor": pa.array([], pa.string())}), str(path))
        else:
            writer.close()

    def close(self) -> None:
        self._store.close()

    def _packed(self, window: WindowResult) -> bytes | None:
        """The window's readings as an Arrow file; a word of one slot is its row."""
        import pyarrow as pa

        count = len(window.decided)
        if window.numbers.shape[1] == 0 and count == 1:
            return None
        columns: dict[str, Any] = {
            name: pa.array(window.numbers[:, place] * step) for place, (name, step) in enumerate(self._steps.items())
        }
        columns["code"] = pa.nulls(count, pa.uint8()) if window.codes is None else pa.array(window.codes)
        columns["presumed"] = pa.array(window.presumed)
        columns["decided"] = pa.array(window.decided)
        columns["probability"] = (
            pa.nulls(count, pa.float32())
            if window.probability is None
            else pa.array(window.probability.astype(np.float32))
        )
        table = pa.table(columns)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        packed: bytes = sink.getvalue().to_pybytes()
        return packed


def _unpacked(row: Decided) -> Any:
    import pyarrow as pa

    if row.body is None:
        said = pa.array([row.decided > 0])
        return pa.table({"presumed": said, "decided": said})
    with pa.ipc.open_stream(pa.py_buffer(row.body)) as reader:
        return reader.read_all()
