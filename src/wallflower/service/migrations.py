"""The service's own tables, as numbered steps from nothing to today. A step is never edited once it has been released.

A database says in `service_version` which steps it has taken; `migrate` takes the rest in one transaction each. A database
from a later version is refused: this code does not know what its columns mean.
"""

from __future__ import annotations

from wallflower.errors import LedgerError
from wallflower.stores.database import Database, Transaction, is_unusable

FIRST = """
CREATE TABLE users (
    name TEXT PRIMARY KEY, password TEXT, operator INTEGER NOT NULL, disabled INTEGER NOT NULL, subject TEXT UNIQUE,
    made_at TEXT NOT NULL);
CREATE TABLE sessions (
    digest TEXT PRIMARY KEY, name TEXT NOT NULL, made_at DOUBLE PRECISION NOT NULL, ends_at DOUBLE PRECISION NOT NULL);
CREATE TABLE tokens (
    digest TEXT PRIMARY KEY, name TEXT NOT NULL, label TEXT NOT NULL, made_at DOUBLE PRECISION NOT NULL,
    ends_at DOUBLE PRECISION NOT NULL, revoked INTEGER NOT NULL, UNIQUE (name, label));
CREATE TABLE attempts (who TEXT PRIMARY KEY, failures INTEGER NOT NULL, wait_until DOUBLE PRECISION NOT NULL);
CREATE TABLE grants (
    holder TEXT NOT NULL, subject TEXT NOT NULL, role TEXT NOT NULL, by_whom TEXT NOT NULL,
    PRIMARY KEY (holder, subject, role));
CREATE TABLE shares (
    subject TEXT NOT NULL, asker TEXT NOT NULL, family TEXT NOT NULL, epsilon TEXT NOT NULL, by_whom TEXT NOT NULL,
    PRIMARY KEY (subject, asker, family));
CREATE TABLE policies (
    id TEXT PRIMARY KEY, subject TEXT NOT NULL, command TEXT NOT NULL, epsilon_at_most TEXT NOT NULL,
    askers TEXT NOT NULL, by_whom TEXT NOT NULL, made_at TEXT NOT NULL, ended INTEGER NOT NULL);
CREATE TABLE requests (
    id TEXT PRIMARY KEY, number BIGINT NOT NULL UNIQUE, subject TEXT NOT NULL, asker TEXT NOT NULL,
    command TEXT NOT NULL, fields TEXT NOT NULL, purpose TEXT NOT NULL, price TEXT NOT NULL, bound TEXT NOT NULL,
    submitted_at TEXT NOT NULL, state TEXT NOT NULL, decided_by TEXT, decided_at TEXT, decided_number BIGINT UNIQUE,
    reason TEXT, taken_tick BIGINT, worker INTEGER, finished_tick BIGINT, outcome TEXT);
CREATE INDEX requests_by_state ON requests (state, decided_number);
CREATE INDEX requests_by_asker ON requests (asker, number);
CREATE TABLE shared (
    request TEXT NOT NULL, asker TEXT NOT NULL, by_whom TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (request, asker));
CREATE TABLE ticks (tick BIGINT PRIMARY KEY, taken INTEGER NOT NULL, missed INTEGER NOT NULL);
CREATE TABLE looks (
    id TEXT PRIMARY KEY, subject TEXT NOT NULL, owner TEXT NOT NULL, kind TEXT NOT NULL, request TEXT,
    state TEXT NOT NULL, asked_at DOUBLE PRECISION NOT NULL, ends_at DOUBLE PRECISION NOT NULL);
CREATE TABLE edits (subject TEXT PRIMARY KEY, text TEXT NOT NULL, by_whom TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE stopped (subject TEXT PRIMARY KEY, by_whom TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE audit (
    number BIGINT PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, source TEXT NOT NULL, did TEXT NOT NULL,
    subject TEXT NOT NULL, words TEXT NOT NULL);
CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL)
"""

SECOND = """
ALTER TABLE requests ADD COLUMN sent_as TEXT;
CREATE UNIQUE INDEX requests_by_sender ON requests (asker, sent_as);
CREATE TABLE errands (
    id TEXT PRIMARY KEY, asker TEXT NOT NULL, subject TEXT NOT NULL, command TEXT NOT NULL, fields TEXT NOT NULL,
    kind TEXT NOT NULL, state TEXT NOT NULL, result TEXT, asked_at DOUBLE PRECISION NOT NULL,
    ends_at DOUBLE PRECISION NOT NULL)
"""
"""Requests sent twice under one id are one; errands are what a clerk computes for the web process."""

THIRD = """
CREATE INDEX requests_by_taken ON requests (taken_tick);
CREATE INDEX requests_by_finished ON requests (finished_tick)
"""
"""What is under way is looked for at every price."""

STEPS: tuple[str, ...] = (FIRST, SECOND, THIRD)


def migrate(database: Database) -> list[int]:
    """Bring the database to today's version; says which steps were taken. A database that is away, or is none, is said to be."""
    try:
        return _migrate(database)
    except Exception as error:
        if not is_unusable(error):
            raise
        # Its text may name an address, and a user with it.
        raise LedgerError(
            "the service's database cannot be opened: it is away, cannot be written, or is something else.",
            hint="Look at 'database' in the service's file, and whether its server runs and lets this user in.",
        ) from None


def _migrate(database: Database) -> list[int]:
    taken: list[int] = []
    with database.write() as changes:
        changes.run("CREATE TABLE IF NOT EXISTS service_version (version INTEGER PRIMARY KEY, at TEXT NOT NULL)")
    while True:
        with database.write() as changes:
            done = version(changes)
            if done > len(STEPS):
                raise LedgerError(
                    f"the service's database is of version {done}, and this Wallflower knows versions up to {len(STEPS)}.",
                    hint="Install the version that wrote it, or a later one.",
                )
            if done == len(STEPS):
                return taken
            for statement in STEPS[done].split(";"):
                changes.run(statement)
            changes.run(
                "INSERT INTO service_version (version, at) VALUES (:version, :at)",
                version=done + 1,
                at=database.now_text(),
            )
            taken.append(done + 1)


def version(changes: Transaction) -> int:
    found = changes.one("SELECT max(version) AS version FROM service_version")
    return int(found["version"] or 0) if found else 0
