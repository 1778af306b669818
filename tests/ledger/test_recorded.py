"""Answers that are asked for by their entries, replies that are given once, and files that are kept byte by byte."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest

from tests.declared import declare
from tests.ledger.places import COUNT, pure
from wallflower.errors import LedgerError
from wallflower.ledger import Ledger
from wallflower.schema.declaration import Budget
from wallflower.stores import durable_file, sqlite
from wallflower.stores.sqlite_transaction import SqliteTransaction

TOLD = {"release": {"count": 7}}


@pytest.fixture
def declared(tmp_path):
    """In a file: what is asked here is asked of the ledger, wherever it is kept."""
    return declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4))})


def charged(ledger, declared, request, **more):
    return ledger.charge(pure("1"), declaration=declared, query=COUNT, request_id=request, **more).entry


def test_only_an_answered_charge_has_a_release(declared, ledger):
    answered = charged(ledger, declared, "a")
    reply = answered + 1
    ledger.answer(answered, TOLD)
    closed, waiting = charged(ledger, declared, "b"), charged(ledger, declared, "c")
    ledger.close(closed, "why")
    assert dict(ledger.recorded(answered).release) == TOLD
    for entry in (-1, 0, 1, reply, closed, waiting, ledger.journal.entry, ledger.journal.entry + 1):
        with pytest.raises(LedgerError, match=f"holds no release at entry {entry}\\."):
            ledger.recorded(entry)
    assert [ledger.entry_charged("owner", request) for request in "abcd"] == [answered, closed, waiting, 0]


def test_a_reply_is_given_once_and_only_to_a_charge(declared, ledger):
    answered = charged(ledger, declared, "a")
    ledger.answer(answered, TOLD)
    series = charged(ledger, declared, "s", series=True)
    ledger.part(series, [5], TOLD, after=None)
    entries = ledger.journal.entry
    for entry in (1, answered, answered + 1, series):
        ledger.close(entry, "why")
    assert ledger.journal.entry == entries
    assert ledger.verify().charges == 2


def test_a_request_that_is_answered_or_a_series_cannot_be_closed_by_its_id(declared, ledger):
    ledger.answer(charged(ledger, declared, "a"), TOLD)
    series = charged(ledger, declared, "s", series=True)
    ledger.part(series, [5], TOLD, after=None)
    entries = len(list(ledger.history()))
    for request in ("a", "s", "never"):
        with pytest.raises(LedgerError, match="waits for an answer"):
            ledger.close_request("owner", request, "why")
    assert len(list(ledger.history())) == entries


def test_a_part_of_another_series_is_none_of_this_one(declared, ledger):
    told = [{"release": {"count": count}} for count in (1, 2)]
    one, other = (charged(ledger, declared, request, series=True) for request in "ab")
    for entry, release in zip((one, other), told, strict=True):
        ledger.part(entry, [5], release, after=None)
    assert dict(ledger.recorded(one, like=told[1]).release) == told[0]


def test_releases_of_an_asker_are_theirs_alone(declared, ledger):
    entries = {asker: charged(ledger, declared, "a", asker=asker) for asker in ("ann", "bob")}
    for entry in entries.values():
        ledger.answer(entry, TOLD)
    assert [each.entry for each in ledger.releases()] == sorted(entries.values())
    assert {asker: [each.entry for each in ledger.releases(asker=asker)] for asker in (*entries, "eve")} == {
        "ann": [entries["ann"]], "bob": [entries["bob"]], "eve": [],
    }  # fmt: skip


@pytest.mark.parametrize("claimed", [{"count": True}, {"count": 1.0}, {"count": 1, "more": 2}, {}])
def test_numbers_of_another_type_and_fields_too_many_or_few_are_differences(declared, ledger, claimed):
    entry = charged(ledger, declared, "a")
    ledger.answer(entry, {"release": {"count": 1}})
    found = ledger.recorded(entry)
    others = found.differences({"release": {"count": 1}})
    different = set(found.differences({"release": claimed})) - set(others)
    assert different == {"release.more" if "more" in claimed else "release.count"}


def test_a_kept_file_that_is_not_what_was_recorded_is_never_handed_out(declared, ledger, monkeypatch):
    ledger.answer(charged(ledger, declared, "a"), TOLD, file=b"rows")
    monkeypatch.setattr(SqliteTransaction, "kept", lambda *_: b"other rows")
    with pytest.raises(LedgerError, match="not what was recorded"):
        ledger.kept(sha256(b"rows").hexdigest())


def test_what_a_refused_writer_has_seen_is_not_forgotten(declared, ledger):
    """It charged nothing and read no more than what was there: an older copy is noticed all the same."""
    older, reader = declared.ledger.read_bytes(), Ledger.open(declared)
    charged(ledger, declared, "a")
    with pytest.raises(LedgerError, match="waits for an answer"):
        reader.close_request("owner", "never", "why")
    declared.ledger.write_bytes(older)
    with pytest.raises(LedgerError, match="not the ledger that was opened"):
        charged(reader, declared, "b")


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 25])
def test_a_file_is_kept_byte_by_byte_whatever_its_size(declared, ledger, size, monkeypatch):
    monkeypatch.setattr("wallflower.stores.sqlite_transaction.PART", 10)
    content = bytes(range(size))
    ledger.answer(charged(ledger, declared, "a"), TOLD, file=content)
    assert Ledger.open(declared).kept(sha256(content).hexdigest()) == content
    ledger.verify()


def test_a_ledger_and_its_copy_are_on_disk_with_the_folders_that_name_them(declared, tmp_path, monkeypatch):
    """A file that its folder does not name after a power cut is a file that was never made."""
    flushed, flush = [], os.fsync

    def noted(handle):
        flushed.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        flush(handle)

    monkeypatch.setattr(durable_file.os, "fsync", noted)
    Ledger.init(declared)
    assert flushed.count(str(declared.ledger.parent)) == 1
    (tmp_path / "copies").mkdir()
    Ledger.open(declared).backup(tmp_path / "copies" / "copy.ledger")
    assert flushed.count(str(tmp_path / "copies")) == 1


def test_a_file_with_the_heads_of_two_tables_is_none_of_ours(declared, ledger):
    with closing(sqlite3.connect(declared.ledger)) as connection:
        connection.execute("INSERT INTO heads SELECT 'zebras', entry, hash, checkpoint FROM heads")
        connection.commit()
    with pytest.raises(LedgerError, match="damaged"):
        charged(Ledger.open(declared), declared, "a")


def test_a_process_of_somebody_else_s_is_alive(monkeypatch):
    """Its draft of a ledger is not ours to remove."""

    def refused(process, signal):
        raise PermissionError

    monkeypatch.setattr(sqlite.os, "kill", refused)
    assert sqlite._alive(1)
