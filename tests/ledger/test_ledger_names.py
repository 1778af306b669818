"""A ledger has one name, one draft and one newest copy: whatever else stands for it is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import pytest

from tests.declared import declare
from tests.ledger.test_ledger_errors import charge, in_a_child
from wallflower.errors import LedgerError, UsageError
from wallflower.ledger import Ledger
from wallflower.stores import durable_file, sqlite

# From Python 3.12 on; the children here only use a ledger and end, and hold none of the other threads' locks.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


@pytest.fixture
def declared(tmp_path):
    declaration = declare(tmp_path)
    Ledger.init(declaration)
    return declaration


def test_a_second_name_is_refused(declared):
    """Two names have two write-ahead logs: each would be charged as if the other were not."""
    ledger = Ledger.open(declared)
    charge(ledger, declared)
    os.link(declared.ledger, declared.ledger.with_name("other.ledger"))
    for place in (declared.ledger, declared.ledger.with_name("other.ledger")):
        with pytest.raises(LedgerError, match=r"second name \(a hard link\).*Nothing was released"):
            Ledger.open(place)
    with pytest.raises(LedgerError, match="second name"):
        charge(ledger, declared)
    declared.ledger.with_name("other.ledger").unlink()
    assert charge(ledger, declared).entry == 3


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
def test_a_ledger_may_lie_where_names_are_no_utf_8(tmp_path):
    folder = tmp_path / os.fsdecode(b"Jos\xe9 %41#?x")
    folder.mkdir()
    declaration = declare(folder)
    Ledger.init(declaration)
    assert charge(Ledger.open(declaration), declaration).entry == 2
    Ledger.open(declaration).backup(folder / os.fsdecode(b"\xff.ledger"))
    assert len(list(folder.glob("*.ledger"))) == 2


def test_the_draft_of_a_crash_is_cleaned_up(declared):
    """Killed between linking the ledger into place and removing its draft: the draft is no second name to refuse."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    draft = declared.ledger.with_name(f".{declared.ledger.name}.draft-{gone.pid}-{'0' * 32}")
    os.link(declared.ledger, draft)
    running = declared.ledger.with_name(f".{declared.ledger.name}.draft-{os.getpid()}-{'1' * 32}")
    running.touch()
    charge(Ledger.open(declared), declared)
    assert not draft.exists()
    assert running.exists()  # a draft of a process that runs is its own


@pytest.mark.parametrize("over_again", [False, True])
def test_an_older_copy_is_refused_however_often_it_is_asked(declared, over_again):
    """A refused charge made the process forget what it had seen, and the next one was charged to the old copy."""
    ledger = Ledger.open(declared)
    charge(ledger, declared)
    old = declared.ledger.with_name("old.ledger")
    ledger.backup(old)
    charge(ledger, declared)
    if over_again:
        again = Ledger.open(replace(declared, ledger=old))
        for _ in range(2):
            charge(again, declared)
    old.replace(declared.ledger)
    for _ in range(3):
        with pytest.raises(LedgerError, match="not the ledger that was opened"):
            charge(ledger, declared)
    assert "not the ledger that was opened" in in_a_child(lambda: charge(ledger, declared))
    assert charge(Ledger.open(declared), declared).entry == (5 if over_again else 3)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_nothing_is_put_where_the_database_keeps_a_part_of_the_ledger(declared, tmp_path, ending):
    """A copy there would be taken for that part, and removed with it."""
    there = declared.ledger.with_name(declared.ledger.name + ending)
    with pytest.raises(UsageError, match="the ledger's own"):
        Ledger.open(declared).backup(there)
    assert not there.exists()
    assert declared.is_own_file(there)
    link = tmp_path / "elsewhere.ledger"
    link.symlink_to(declared.ledger)
    assert replace(declared, ledger=link).is_own_file(there)


def test_a_ledger_that_is_being_made_is_waited_for(declared, monkeypatch):
    """Whoever looks between the link that puts a ledger in place and the end of its draft sees two names for a moment."""
    draft = declared.ledger.with_name(f".{declared.ledger.name}.draft-{os.getpid()}-{'2' * 32}")
    os.link(declared.ledger, draft)
    looks = iter(range(3))

    def meanwhile(_seconds):
        if next(looks) == 2:
            draft.unlink()

    monkeypatch.setattr(sqlite, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=meanwhile))
    assert charge(Ledger.open(declared), declared).entry == 2
    assert not list(looks)
    assert Ledger.init(declared) == []


def test_a_ledger_that_is_never_made_to_its_end_is_not_waited_for_without_end(declared, monkeypatch):
    draft = declared.ledger.with_name(f".{declared.ledger.name}.draft-{os.getpid()}-{'2' * 32}")
    os.link(declared.ledger, draft)
    seconds = count()
    monkeypatch.setattr(sqlite, "time", SimpleNamespace(monotonic=lambda: next(seconds), sleep=lambda _seconds: None))
    with pytest.raises(LedgerError, match="second name"):
        Ledger.open(declared)
    assert next(seconds) == sqlite.BEING_MADE_S + 1


def test_a_ledger_whose_making_never_ends_is_waited_for_no_longer_than_asked(declared, monkeypatch):
    os.link(declared.ledger, declared.ledger.with_name(f".{declared.ledger.name}.draft-{os.getpid()}-{'3' * 32}"))
    monkeypatch.setattr("wallflower.stores.sqlite.time.sleep", lambda _seconds: pytest.fail("it waits on"))
    with pytest.raises(LedgerError, match="second name"):
        Ledger.open(declared, patience_s=0)


def test_a_ledger_mounted_as_a_single_file_is_refused(declared, tmp_path, monkeypatch):
    mounts = tmp_path / "mountinfo"
    root = "23 1 254:0 / / rw - ext4 /dev/vda rw\n"
    mounts.write_text(f"{root}41 23 254:0 /host/x.ledger {declared.ledger} rw,relatime - ext4 /dev/vda rw\n")
    monkeypatch.setattr(durable_file, "MOUNTS", mounts)
    with pytest.raises(LedgerError, match=r"mounted as a single file.*Mount its folder"):
        Ledger.open(declared)
    mounts.write_text(f"{root}41 23 254:0 /host {declared.ledger.parent} rw,relatime - ext4 /dev/vda rw\n")
    Ledger.open(declared)


@pytest.mark.parametrize(
    "odd", ["a b", "a\\b", "a\tb", "a\nb", "a\rb", "a\x0cb", "a\x1cb", "a\x85b", "a\u2028b", "ü", "#"]
)
def test_a_mounted_file_is_known_by_any_name(tmp_path, monkeypatch, odd):
    """The kernel writes four bytes as octal numbers, and all others as they are."""
    path, mounts = tmp_path / f"{odd}.ledger", tmp_path / "mountinfo"
    path.touch()
    written = str(path)
    for byte in "\\ \t\n":  # the backslash first: the others bring backslashes of their own
        written = written.replace(byte, f"\\{ord(byte):03o}")
    monkeypatch.setattr(durable_file, "MOUNTS", mounts)
    mounts.write_bytes(f"41 23 254:0 /x {written} rw,relatime - ext4 /dev/vda rw\n".encode())
    with pytest.raises(LedgerError, match="mounted as a single file"):
        durable_file.refuse_second_name(path)
    mounts.write_bytes(f"41 23 254:0 /x {written}x rw,relatime - ext4 /dev/vda rw\n".encode())
    durable_file.refuse_second_name(path)
