"""Decisions: each window once, whoever decides it, in SQLite or PostgreSQL; settings asserted on the live connection."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
from sqlalchemy.exc import OperationalError

from tests.servers.postgresql import database, server  # noqa: F401 - fixtures
from wallflower.errors import UsageError
from wallflower.stores import decisions
from wallflower.stream.results import Results, WindowResult


def window(number, sensor="s", count=4, digest=None):
    flags = np.arange(count) % 2 == 0
    return WindowResult(
        sensor=sensor, series="ab", number=number, digest=digest or f"{number:032x}",
        numbers=np.arange(2 * count).reshape(count, 2), codes=flags.astype(np.uint8), presumed=flags, decided=~flags,
        probability=np.linspace(0, 1, count), received=1e9,
    )  # fmt: skip


def opened(place, stream="one"):
    return Results(place, stream=stream, columns={"flow": 0.5, 'odd "name"': 2.0}, facts={"trust": "nobody"})


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "pumps.results")
    return request.getfixturevalue("database")


def test_windows_are_found_again_with_their_units(place, tmp_path):
    results = opened(place)
    results.add([window(0), window(1)])
    assert results.add([]) == {}
    results.close()
    results = opened(place)
    assert set(results.known()) == {("s", "ab", 0), ("s", "ab", 1)}
    assert set(results.known(["t"])) == set()
    results.add([window(2**63 - 1, sensor="t")])
    assert results.totals() == (3, 12, 6, 6)
    assert results.heard() == {"s": (2, 1e9), "t": (1, 1e9)}
    results.export(tmp_path / "r.parquet")
    rows = pq.read_table(tmp_path / "r.parquet").to_pylist()
    assert [rows[5][name] for name in ("sensor", "number", "position", "flow", 'odd "name"', "code", "decided")] == [
        "s", 1, 1, 1.0, 6.0, 0, True,
    ]  # fmt: skip
    assert len(rows) == 12
    assert {row["received"].isoformat() for row in rows} == {"2001-09-09T01:46:40"}
    assert results.sample("s", 6)["flow"].tolist() == [0.0, 1.0, 2.0, 3.0, 0.0, 1.0]
    results.close()


def test_a_window_that_is_there_stays_and_its_digest_is_told(place):
    one, other = opened(place), opened(place)  # two analysts of one stream
    assert one.add([window(0)]) == {("s", "ab", 0): f"{0:032x}"}
    assert other.add([window(1), window(0, digest="f" * 32)]) == {
        ("s", "ab", 1): f"{1:032x}",
        ("s", "ab", 0): f"{0:032x}",  # not what was offered: the first one stands
    }
    assert one.totals()[0] == 2
    one.close()
    other.close()


def test_another_streams_file_and_no_database_at_all_are_refused(tmp_path):
    opened(tmp_path / "pumps.results").close()
    with pytest.raises(UsageError, match="another stream"):
        opened(tmp_path / "pumps.results", stream="two")
    (tmp_path / "text").write_text("no database" * 100)
    with pytest.raises(UsageError, match="cannot be used"):
        opened(tmp_path / "text")
    with pytest.raises(UsageError) as caught:
        opened("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)


def test_a_commit_is_on_disk_when_it_returns(tmp_path):
    """On the live connection: a store that did not wait for the disk would receipt what a power cut can take back."""
    results = opened(tmp_path / "pumps.results")
    with results._store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    results.add([window(0)])
    with closing(sqlite3.connect(tmp_path / "pumps.results")) as beside:  # an operator may look meanwhile
        assert beside.execute("SELECT count(*) FROM wallflower_windows").fetchone() == (1,)
    results.close()


class Meanwhile(dict):
    """Facts that are asked for in the middle of a transaction: then something else happens first."""

    def __init__(self, first):
        self._first = first

    def items(self):
        self._first()
        return {"trust": "nobody"}.items()


def test_a_file_is_one_streams_whoever_else_begins_at_the_same_moment(tmp_path, monkeypatch):
    """Whether another stream is there, and that this one is, are one step: nobody writes between the two."""
    monkeypatch.setattr(decisions, "PATIENCE_S", 0)
    one, two = (decisions.DecisionStore(tmp_path / "pumps.results", stream=name) for name in ("one", "two"))

    def the_other():
        with pytest.raises(OperationalError, match="locked"):
            two.describe({"trust": "nobody"})

    one.describe(Meanwhile(the_other))
    with pytest.raises(UsageError, match="another stream"):
        two.describe({"trust": "nobody"})
    one.close()
    two.close()


def test_who_reads_keeps_nobody_from_writing(tmp_path, monkeypatch):
    monkeypatch.setattr(decisions, "PATIENCE_S", 0)
    reader, writer = opened(tmp_path / "pumps.results"), opened(tmp_path / "pumps.results")
    writer.add([window(0), window(1)])
    rows = reader._store.windows()
    assert next(rows).number == 0
    writer.add([window(2)])
    assert [row.number for row in rows] == [1]  # as it was when the reading began
    assert reader.totals()[0] == 3
    reader.close()
    writer.close()


def test_streams_share_a_database_and_not_their_windows(database):  # noqa: F811 - the fixture
    """A sensor may bear the same name, and number its windows alike, in two streams."""
    one, other = opened(database), opened(database, stream="two")
    one.add([window(0)])
    assert other.add([window(0, digest="f" * 32)]) == {("s", "ab", 0): "f" * 32}
    assert one.totals()[0] == other.totals()[0] == 1
    one.close()
    other.close()


def test_analysts_that_begin_at_the_same_moment_make_the_tables_once(database, server, monkeypatch):  # noqa: F811 - fixtures
    """Each of them saw no table; all but one were told that the place could not be used, and were not started again."""
    make, name = decisions.METADATA.create_all, database.rpartition("/")[2]
    waiting = f"SELECT 1 FROM pg_stat_activity WHERE datname = '{name}' AND wait_event_type = 'Lock'"

    def slowly(connection):
        make(connection)
        monkeypatch.setattr(decisions.METADATA, "create_all", make)
        other = pool.submit(opened, database)
        while not server.execute(waiting):
            assert not other.done()
            time.sleep(0.01)
        begun.append(other)

    begun = []
    monkeypatch.setattr(decisions.METADATA, "create_all", slowly)
    with ThreadPoolExecutor(1) as pool:
        opened(database).close()
        begun[0].result().close()


class OpenedTwice(sqlite3.Connection):
    """What SQLite does when another process opens the same new file at that moment: it refuses at once, however long it may wait."""

    refusals = 0

    def execute(self, sql, *arguments):
        if "journal_mode" in sql and OpenedTwice.refusals < 2:
            OpenedTwice.refusals += 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(sql, *arguments)


def test_analysts_that_open_a_new_file_at_the_same_moment_all_begin(tmp_path, monkeypatch):
    monkeypatch.setattr(OpenedTwice, "refusals", 0)
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=OpenedTwice))
    results = opened(str(tmp_path / "pumps.results"))
    results.add([window(0)])
    assert results.totals()[0] == 1
    results.close()
    assert OpenedTwice.refusals == 2
