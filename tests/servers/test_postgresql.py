"""The server that other tests stand on: it starts, keeps what was committed when it is cut off, and is durable."""

from __future__ import annotations

from tests.servers.postgresql import database, discard, make, server  # noqa: F401 - fixtures


def test_a_database_of_ones_own_is_durable(server, database):  # noqa: F811
    name = database.rpartition("/")[2]
    assert server.execute("SHOW fsync", database=name) == [("on",)]
    assert server.execute("SHOW synchronous_commit", database=name) == [("on",)]


def test_it_comes_back_with_what_was_committed():
    own = make()
    try:
        own.execute("CREATE TABLE kept AS SELECT 1 AS one")
        own.stop()
        own.start()
        assert own.execute("SELECT one FROM kept") == [(1,)]
    finally:
        discard(own)
