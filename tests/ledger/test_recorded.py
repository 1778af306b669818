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
