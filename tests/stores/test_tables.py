"""What the database itself refuses, whatever writes into it."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import IntegrityError

from wallflower.stores.database import Database
from wallflower.stores.tables import EVENTS, METADATA

WHOLE = {
    "table_id": "visits",
    "entry": 1,
    "at": "2030-01-01T00:00:00Z",
    "kind": "charge",
    "body": "{}",
    "hash": "f" * 64,
}


def test_an_event_that_lacks_a_part_is_never_kept():
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    for name in WHOLE:
        with pytest.raises(IntegrityError), engine.begin() as connection:
            connection.execute(EVENTS.insert().values(WHOLE | {name: None}))
    with engine.begin() as connection:
        connection.execute(EVENTS.insert().values(WHOLE))
    engine.dispose()


def test_a_closed_database_holds_no_connection(tmp_path):
    """Whoever closes the last connection of SQLite writes its log back: the file alone is then the whole."""
    database = Database(str(tmp_path / "service.db"))
    with database.write() as kept:
        kept.run("CREATE TABLE counters (name TEXT, value INTEGER)")
        assert kept.next_number("requests") == 1
    assert (tmp_path / "service.db-wal").exists()
    database.close()
    assert [path.name for path in tmp_path.iterdir()] == ["service.db"]
