"""A stream's decisions in one table, in SQLite or PostgreSQL: every window once, whoever decides it, and on disk when a commit returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    func,
    select,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool, StaticPool

from wallflower.errors import UsageError
from wallflower.stores import durable_file

METADATA = MetaData()
WINDOWS = Table(
    "wallflower_windows",
    METADATA,
    Column("stream", Text, primary_key=True),
    Column("sensor", Text, primary_key=True),
    Column("series", Text, primary_key=True),
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("digest", Text, nullable=False),
    Column("readings", Integer, nullable=False),
    Column("presumed", Integer, nullable=False),
    Column("decided", Integer, nullable=False),
    Column("received", Double, nullable=False),
    Column("stored", Double, nullable=False),
    Column("body", LargeBinary),
)
ABOUT = Table(
    "wallflower_streams",
    METADATA,
    Column("stream", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("text", Text, nullable=False),
)
PATIENCE_S = 60
"""How long a writer waits for another; each holds the table for milliseconds."""
AT_ONCE = 200
LOCK = 0x57464453
"""PostgreSQL's advisory lock of those who make the tables ("WFDS")."""


@dataclass(frozen=True, kw_only=True)
class Decided:
    """One row."""

    sensor: str
    series: str
    number: int
    digest: str
    readings: int
    presumed: int
    decided: int
    received: float
    stored: float
    body: bytes | None

    @property
    def key(self) -> tuple[str, str, int]:
        return self.sensor, self.series, self.number


class DecisionStore:
    """One stream's decisions; several analysts may hold it at once. Without a place it lives in memory."""

    def __init__(self, place: str | Path | None, *, stream: str) -> None:
        self._stream = stream
        self._place = place
        self._engine = _engine(place)
        try:
            with self._engine.begin() as connection:
                if self._engine.dialect.name == "postgresql":
                    # Analysts of several parts start at the same moment; the second waits, and finds the tables.
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
                METADATA.create_all(connection)
        except DBAPIError as error:
            self.close()
            raise self._refused(error) from None
        self._insert = postgresql.insert if self._engine.dialect.name == "postgresql" else sqlite.insert

    def _refused(self, error: DBAPIError) -> UsageError:
        where = str(self._place).rsplit("@", 1)[-1]  # an address may hold a password
        if "full" in str(error.orig):
            return UsageError(
                f"the disk of the results '{where}' is full; nothing was receipted.", hint="Make room and start again."
            )
        return UsageError(
            f"'{where}' cannot be used for a stream's results.",
            hint="Give a file of their own, or postgresql://host/database; something else is there, or it cannot be reached.",
        )

    def describe(self, facts: dict[str, str]) -> None:
        """What is promised, kept beside the results. Another stream in the same file is refused."""
        with self._write() as connection:
            if self._engine.dialect.name == "sqlite":
                others = connection.execute(
                    select(ABOUT.c.stream).where(ABOUT.c.stream != self._stream).limit(1)
                ).first()
                if others is not None:
                    raise UsageError(
                        f"'{self._place}' holds results of another stream.", hint="Name a new file with -o."
                    )
            rows = [{"stream": self._stream, "name": name, "text": text} for name, text in facts.items()]
            added = self._insert(ABOUT).values(rows)
            connection.execute(
                added.on_conflict_do_update(index_elements=["stream", "name"], set_={"text": added.excluded.text})
            )

    def add(self, rows: Sequence[Decided]) -> dict[tuple[str, str, int], str]:
        """Store what is not there yet, in one transaction; gives the digest that is now stored for each."""
        if not rows:
            return {}
        written = [{"stream": self._stream, **vars(row)} for row in rows]
        try:
            with self._write() as connection:
                done = connection.execute(self._insert(WINDOWS).on_conflict_do_nothing(), written)
                stored = {row.key: row.digest for row in rows}
                if done.rowcount != len(rows):  # some were decided before, perhaps by another analyst: theirs stand
                    stored |= self._digests(connection, [row.key for row in rows])
        except DBAPIError as error:
            raise self._refused(error) from None
        return stored

    def _digests(self, connection: Connection, keys: Sequence[tuple[str, str, int]]) -> dict[tuple[str, str, int], str]:
        found = {}
        for start in range(0, len(keys), AT_ONCE):
            these = tuple_(WINDOWS.c.sensor, WINDOWS.c.series, WINDOWS.c.number).in_(keys[start : start + AT_ONCE])
            query = select(WINDOWS.c.sensor, WINDOWS.c.series, WINDOWS.c.number, WINDOWS.c.digest)
            for sensor, series, number, digest in connection.execute(
                query.where(WINDOWS.c.stream == self._stream, these)
            ):
                found[sensor, series, number] = digest
        return found

    def known(self, sensors: Sequence[str] | None) -> dict[tuple[str, str, int], str]:
        """Every stored window of these sensors, with the digest of the bytes it was decided from."""
        query = select(WINDOWS.c.sensor, WINDOWS.c.series, WINDOWS.c.number, WINDOWS.c.digest).where(self._mine())
        wanted = None if sensors is None else set(sensors)
        with self._read() as connection:
            rows = connection.execute(query)
            return {(s, series, n): digest for s, series, n, digest in rows if wanted is None or s in wanted}

    def totals(self) -> tuple[int, int, int, int]:
        parts = (WINDOWS.c.readings, WINDOWS.c.presumed, WINDOWS.c.decided)
        query = select(func.count(), *(func.coalesce(func.sum(part), 0) for part in parts)).where(self._mine())
        with self._read() as connection:
            windows, readings, presumed, decided = connection.execute(query).one()
        return int(windows), int(readings), int(presumed), int(decided)

    def words(self) -> list[tuple[str, int, bool]]:
        query = select(WINDOWS.c.sensor, WINDOWS.c.number, WINDOWS.c.decided).where(self._mine())
        with self._read() as connection:
            rows = connection.execute(query.order_by(WINDOWS.c.sensor, WINDOWS.c.number))
            return [(str(sensor), int(number), decided > 0) for sensor, number, decided in rows]

    def heard(self) -> dict[str, tuple[int, float]]:
        """Of every sensor: how many messages, and when the last one came."""
        query = select(WINDOWS.c.sensor, func.count(), func.max(WINDOWS.c.received)).where(self._mine())
        with self._read() as connection:
            return {
                str(s): (int(n), float(last)) for s, n, last in connection.execute(query.group_by(WINDOWS.c.sensor))
            }

    def windows(self, sensor: str | None = None) -> Iterator[Decided]:
        """Whole rows in the order of sensor, series and number."""
        query = select(*(WINDOWS.c[name] for name in Decided.__dataclass_fields__)).where(self._mine())
        if sensor is not None:
            query = query.where(WINDOWS.c.sensor == sensor)
        query = query.order_by(WINDOWS.c.sensor, WINDOWS.c.series, WINDOWS.c.number)
        with self._read() as connection:
            for row in connection.execution_options(yield_per=100).execute(query):
                yield Decided(**row._asdict())

    def close(self) -> None:
        self._engine.dispose()

    def _mine(self) -> Any:
        return WINDOWS.c.stream == self._stream

    def _write(self) -> Any:
        return self._engine.begin()

    def _read(self) -> Connection:
        """Beside writers: whoever exports a long stream keeps no analyst waiting."""
        return self._engine.connect().execution_options(write=False)


def _engine(place: str | Path | None) -> Engine:
    if isinstance(place, str) and place.startswith(("postgresql://", "postgres://")):
        try:
            return create_engine("postgresql+psycopg://" + place.split("://", 1)[1], hide_parameters=True)
        except ModuleNotFoundError:
            raise UsageError(
                "results on PostgreSQL need the psycopg package.", hint="Run `pip install 'wallflower[postgresql]'`."
            ) from None
    if place is None:
        return create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    engine = create_engine(
        "sqlite://",
        creator=lambda: durable_file.connect_beside_readers(Path(place), patience_s=PATIENCE_S),
        poolclass=QueuePool,
        hide_parameters=True,
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(
            "BEGIN IMMEDIATE" if connection.get_execution_options().get("write", True) else "BEGIN"
        )

    return engine
