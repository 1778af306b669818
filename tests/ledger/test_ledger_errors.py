"""Whatever is wrong with the file: a sentence that helps, nothing charged, nothing released, no library's traceback."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

from tests.declared import declare
from wallflower.errors import BudgetError, LedgerError
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import PureDP
from wallflower.stores.sqlite import APPLICATION

HALF = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
NOBODY = 65534

# From Python 3.12 on; the children here only use a ledger and end, and hold none of the other threads' locks.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def charge(ledger, declared, **query):
    return ledger.charge(HALF, declaration=declared, query={"command": "count", **query})


@pytest.fixture
def declared(tmp_path):
    declaration = declare(tmp_path)
    Ledger.init(declaration)
    return declaration


def in_a_child(work):
    """What `work` says when it runs in a process of its own, which may spoil its limits and rights."""
    results, result = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = work()
        except BaseException as error:  # noqa: BLE001 - the parent asserts which
            said = f"{type(error).__name__}: {error} [{error.__cause__}, {error.__context__}]"
        os.write(result, str(said).encode())
        os._exit(0)
    os.close(result)
    with os.fdopen(results, encoding="utf-8") as text:
        said = text.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return said


def test_a_child_forked_while_another_thread_uses_the_ledger_refuses_and_a_later_one_works(declared):
    """It waited for ever for a thread that it does not have; and SQLite would take the parent's locks for its own."""
    ledger, inside, leave = Ledger.open(declared), threading.Event(), threading.Event()

    def read():
        with ledger._transaction(write=False):
            inside.set()
            leave.wait()

    def work():
        signal.alarm(60)  # a child that waits ends by this, which is no success
        return charge(ledger, declared).entry

    reader = threading.Thread(target=read)
    reader.start()
    inside.wait()
    try:
        said = in_a_child(work)
    finally:
        leave.set()
        reader.join()
    assert said.startswith("LedgerError: this process was forked while another thread was using a ledger"), said
    assert "Nothing was released" in said
    assert in_a_child(work) == "2"
    assert charge(ledger, declared).entry == 3


def test_missing(tmp_path):
    declared = declare(tmp_path)
    with pytest.raises(LedgerError, match=r"no ledger at .*salaries.ledger.*Run `wallflower ledger init DECL`"):
        Ledger.open(declared)
    assert list(tmp_path.iterdir()) == []  # SQLite would have made an empty file


def test_deleted_between_open_and_charge(declared):
    ledger = Ledger.open(declared)
    declared.ledger.unlink()
    with pytest.raises(LedgerError, match=r"deleted or replaced while it was in use.*Nothing was released.*Restore it"):
        charge(ledger, declared)
    assert not declared.ledger.exists()


def test_deleted_during_the_charge(declared, monkeypatch):
    ledger = Ledger.open(declared)
    append = ledger._append

    def append_and_lose(*arguments, **named):
        entry = append(*arguments, **named)
        declared.ledger.unlink()
        return entry

    monkeypatch.setattr(ledger, "_append", append_and_lose)
    with pytest.raises(LedgerError, match="deleted or replaced while it was in use"):
        charge(ledger, declared)


def test_what_is_left_of_a_deleted_ledger_is_not_mixed_with_a_new_one(tmp_path):
    declared = declare(tmp_path)
    (tmp_path / "salaries.ledger-wal").write_bytes(b"charges that were not yet in the file itself")
    with pytest.raises(LedgerError, match=r"salaries.ledger is missing, but .*-wal is there.*Put it back"):
        Ledger.init(declared)


def test_a_link_that_leads_nowhere_is_not_taken_for_a_missing_ledger(tmp_path):
    """What it led to may have held charges, on a disk that is not mounted today."""
    declared = declare(tmp_path)
    link = Path(declared.ledger)
    link.symlink_to(tmp_path / "elsewhere.ledger")
    for attempt in (Ledger.init, Ledger.open):
        with pytest.raises(LedgerError, match="is a link to a file that is not there") as caught:
            attempt(declared)
        assert "ledger init" not in caught.value.hint
    assert sorted(tmp_path.glob("*.ledger*")) == [link]  # nothing was made, under either name
    link.unlink()
    Ledger.init(declared)
    assert charge(Ledger.open(declared), declared).entry


def test_init_in_a_folder_that_is_not_there(tmp_path):
    declared = declare(tmp_path, ledger=tmp_path / "nowhere" / "salaries.ledger")
    with pytest.raises(LedgerError, match=r"cannot be made: No such file or directory.*No ledger was made"):
        Ledger.init(declared)


@pytest.mark.parametrize("place", ["file", "folder"])
def test_read_only(declared, place):
    folder = declared.ledger.parent
    charge(Ledger.open(declared), declared)
    for above in (folder, *folder.parents):  # pytest's folders are closed to others, and the child below is another
        if (
            above.stat().st_uid == os.getuid() and Path(tempfile.gettempdir()) in above.parents
        ):  # only where pytest works
            above.chmod(0o755)
    declared.ledger.chmod(0o444 if place == "file" else 0o666)
    folder.chmod(0o777 if place == "file" else 0o555)
    before = declared.ledger.read_bytes()

    def work():
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return charge(Ledger.open(declared), declared)

    said = in_a_child(work)
    folder.chmod(0o755)
    assert said.startswith("LedgerError: the ledger "), said
    assert "cannot be written. Nothing was released. Give the user" in said or "cannot be opened. Nothing" in said, said
    assert said.endswith("[None, None]")
    assert declared.ledger.read_bytes() == before


@pytest.mark.parametrize("room", [0, 4096, 33_000, 40_000])
def test_full_disk(declared, room):
    def work():
        assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN  # else the process would die without a word
        ledger = Ledger.open(declared)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        made = 0
        try:
            while True:
                charge(ledger, declared, text="x" * 9000)
                made += 1
        except LedgerError as error:
            return f"{made} {error}"

    made, said = in_a_child(work).split(" ", 1)
    assert "cannot be read or written: the disk is full, a file-size limit is reached" in said
    assert said.endswith("Nothing was released. Make room and try again.")
    after = Ledger.open(declared)
    assert sum(line.kind == "charge" for line in after.history()) == int(made)
    charge(after, declared)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda raw: b"Not a database, " * (len(raw) // 16), "is damaged, or is not a ledger"),
        (lambda raw: b"\0" * 100 + raw[100:], "is damaged"),
        (lambda raw: raw[:100], "is damaged"),
        (lambda raw: raw[:4096], "is damaged"),
        (lambda raw: raw[:0], "is damaged: it is not a ledger, or has lost its contents"),
        (lambda raw: raw[:4096] + b"\xff" * (len(raw) - 4096), "is damaged"),
    ],
)
def test_corrupted_or_truncated(declared, damage, said):
    ledger = Ledger.open(declared)
    charge(ledger, declared)
    spoiled = damage(declared.ledger.read_bytes())
    declared.ledger.write_bytes(spoiled)
    for attempt in (
        lambda: Ledger.open(declared),
        lambda: charge(ledger, declared),
        lambda: Ledger.init(declared),
    ):
        with pytest.raises(LedgerError, match=said) as caught:
            attempt()
        assert "Nothing was released" in str(caught.value)
        assert "Restore it from a backup" in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
    assert declared.ledger.read_bytes() == spoiled


def test_what_opening_does_not_read_is_noticed_by_verify(declared):
    ledger = Ledger.open(declared)
    charge(ledger, declared)
    declared.ledger.write_bytes(declared.ledger.read_bytes()[:-4096])
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.open(declared).verify()


def test_every_flipped_byte_of_an_event_is_noticed_or_harmless(declared):
    ledger = Ledger.open(declared)
    charge(ledger, declared)
    events = [line.event for line in ledger.history()]
    good = declared.ledger.read_bytes()
    noticed = 0
    for place in range(0, len(good), 101):
        declared.ledger.write_bytes(good[:place] + bytes([good[place] ^ 0x15]) + good[place + 1 :])
        try:
            assert [line.event for line in Ledger.open(declared).history()] == events
        except LedgerError:
            noticed += 1
    assert noticed > 0


def test_making_a_ledger_again_is_said_loudly(tmp_path):
    path = tmp_path / "salaries.toml"
    path.touch()
    declared = declare(tmp_path, path=path)
    assert Ledger.init(declared) == ["Made the ledger salaries.ledger of table 'salaries'."]
    first = Ledger.open(declared).history()[0].event.hash
    declared.ledger.unlink()
    said = Ledger.init(declared)
    assert said[1].startswith("WARNING: table 'salaries' has had a ledger before")
    assert first in said[1]
    assert Ledger.open(declared).history()[0].event.content["replaces"] == first


def test_format_1_is_refused_in_words(declared):
    raw = sqlite3.connect(declared.ledger)
    raw.execute("PRAGMA user_version = 1")
    raw.close()
    with pytest.raises(LedgerError, match=r"format 1, which no published version.*Nothing was released"):
        Ledger.open(declared)


def test_an_unknown_kind_or_field_is_refused_by_name(declared):
    ledger = Ledger.open(declared)
    with pytest.raises(LedgerError, match="a kind this version does not know: 'later'"):
        ledger.batch(lambda transaction: ledger._append(transaction, "later", {}))
    with pytest.raises(LedgerError, match="a field this version does not know: 'later'"):
        ledger.batch(lambda transaction: ledger._append(transaction, "closed", {"charge": 1, "why": "", "later": 1}))
    assert len(ledger.history()) == 1


def test_another_database(tmp_path):
    declared = declare(tmp_path)
    raw = sqlite3.connect(declared.ledger)
    raw.execute("CREATE TABLE patients (name TEXT)")
    raw.close()
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.init(declared)


def test_a_format_from_the_future(declared):
    raw = sqlite3.connect(declared.ledger)
    raw.execute("PRAGMA user_version = 3")
    raw.close()
    with pytest.raises(LedgerError, match="written in format 3, and this Wallflower reads format 2"):
        Ledger.open(declared)


def test_locked_too_long(declared):
    ledger = Ledger.open(declared.ledger, patience_s=0)
    raw = sqlite3.connect(declared.ledger, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=r"in use by another process that does not finish.*Nothing was released"):
        charge(ledger, declared)
    raw.execute("ROLLBACK")
    raw.close()
    assert charge(ledger, declared).entry == 2


def test_what_makes_it_durable_is_on(declared):
    ledger = Ledger.open(declared.ledger, patience_s=7)
    with ledger._store.transaction(write=True) as transaction:
        connection = transaction.connection

        def pragma(name):
            return connection.execute(f"PRAGMA {name}").fetchone()[0]

        assert pragma("journal_mode") == "wal"
        assert pragma("synchronous") == 2  # FULL: every commit is synced before it returns
        assert pragma("fullfsync") == 1
        assert pragma("checkpoint_fullfsync") == 1
        assert pragma("busy_timeout") == 7000
        assert pragma("application_id") == APPLICATION
        assert connection.isolation_level is None
        assert connection.in_transaction
        other = sqlite3.connect(declared.ledger, timeout=0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")  # the write lock is held from the first read on
        other.close()


def test_threads_share_one_ledger(declared):
    ledger = Ledger.open(declared)
    entries = []
    # The dp limit of 4 is not reached, but the weaker output-constrained account holds 2: four charges of a half.
    with ThreadPoolExecutor(max_workers=4) as pool:
        tries = [pool.submit(charge, ledger, declared) for _ in range(6)]
    for each in tries:
        if each.exception() is None:
            entries.append(each.result().entry)
        else:
            assert isinstance(each.exception(), BudgetError)
    assert sorted(entries) == [2, 3, 4, 5]


def test_the_file_is_for_its_owner_only(declared):
    assert declared.ledger.stat().st_mode & 0o777 == 0o600


def test_importing_the_ledger_loads_no_database_package():
    code = "import sys, wallflower.ledger; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
