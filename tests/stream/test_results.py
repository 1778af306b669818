"""Decisions in DuckDB: each window once, all or none of a batch."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from wallflower.errors import UsageError
from wallflower.stream.results import Results, WindowResult


def window(number, sensor="s", count=4):
    flags = np.arange(count) % 2 == 0
    return WindowResult(
        sensor=sensor, series="ab", number=number, digest=f"{number:032x}", numbers=np.arange(2 * count).reshape(count, 2),
        codes=flags.astype(np.uint8), presumed=flags, decided=~flags, probability=np.linspace(0, 1, count), received=1e9,
    )  # fmt: skip


def opened(path, stream="one"):
    return Results(path, stream=stream, columns={"flow": 0.5, 'odd "name"': 2.0}, facts={"trust": "nobody"})


def test_windows_are_found_again_with_their_units(tmp_path):
    results = opened(tmp_path / "r.duckdb")
    results.add([window(0), window(1)])
    results.add([])
    results.close()
    results = opened(tmp_path / "r.duckdb")
    assert set(results.known()) == {("s", "ab", 0), ("s", "ab", 1)}
    results.add([window(2**63 + 5, sensor="t")])
    assert results.totals() == (3, 12, 6, 6)
    results.close()
    with duckdb.connect(str(tmp_path / "r.duckdb")) as db:
        rows = db.execute(
            "SELECT * EXCLUDE (received, series) FROM readings WHERE number = 1 ORDER BY position"
        ).fetchall()
        assert rows[1] == ("s", 1, 1, 1.0, 6.0, 0, False, True, pytest.approx(1 / 3))
        assert db.execute("SELECT count(*) FROM readings WHERE sensor = 't'").fetchone() == (4,)


def test_a_batch_with_a_known_window_is_refused_whole(tmp_path):
    results = opened(tmp_path / "r.duckdb")
    results.add([window(0)])
    with pytest.raises(duckdb.ConstraintException):
        results.add([window(1), window(0)])
    assert results.totals()[:2] == (1, 4)
    results.add([window(1)])
    assert results.totals()[:2] == (2, 8)
    results.close()


def test_another_streams_file_and_no_file_at_all_are_refused(tmp_path):
    opened(tmp_path / "r.duckdb").close()
    with pytest.raises(UsageError, match="another stream"):
        opened(tmp_path / "r.duckdb", stream="two")
    (tmp_path / "text.duckdb").write_text("no database")
    with pytest.raises(UsageError, match="DuckDB"):
        opened(tmp_path / "text.duckdb")
