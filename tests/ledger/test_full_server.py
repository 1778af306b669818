"""A PostgreSQL server whose disk fills up while a ledger charges: nothing is overspent, lost, or charged unseen."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.declared import declare
from tests.ledger.places import COUNT, pure
from tests.servers.postgresql import discard, make
from wallflower.errors import LedgerError
from wallflower.ledger import Ledger
from wallflower.schema.declaration import Budget

ROOM = 110
"""MiB: a new server takes about 60."""


@contextmanager
def small_disk():
    """A file system of its own with little room; its name is short, because a socket lies in it."""
    folder = Path(tempfile.mkdtemp(prefix="wf-"))
    folder.chmod(0o755)  # the server's user must be able to pass through
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}m,mode=0755", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("making a small file system needs more rights than this user has")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
        folder.rmdir()


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0 or shutil.which("mount") is None, reason="making a small file system needs root")
def test_a_full_disk_refuses_and_forgets_nothing(tmp_path, monkeypatch):
    with small_disk() as place:
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        server = make({"max_wal_size": "32MB", "min_wal_size": "32MB"})
        try:
            made = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(10_000))})
            declared = replace(made, ledger=server.address())
            Ledger.init(declared)
            _fill(place / "filler", leave=256 * 1024)
            charged, refused = _charged_until_refused(Ledger.open(declared), declared)
            assert "Nothing was released" in str(refused) or "same request id" in str(refused)
            (place / "filler").unlink()
            _running(server)
            again = Ledger.open(declared)
            again.verify()
            kept = sum(line.kind == "charge" for line in again.history())
            assert charged <= kept <= charged + 1  # one whose commit was not heard of may have been written
            again.charge(pure("1"), declaration=declared, query=COUNT)
            spent = next(one for one in again.show(declared).accounts if one.account.code == "dp").spent["epsilon"]
            assert spent == kept + 1
        finally:
            discard(server)


def _charged_until_refused(ledger: Ledger, declared) -> tuple[int, LedgerError]:
    """How many charges went through, and the first refusal. Wide questions, so that the server's tables must grow."""
    for number in range(3_000):
        question = {**COUNT, "columns": [os.urandom(8_000).hex()], "number": number}
        try:
            ledger.charge(pure("1"), declaration=declared, query=question)
        except LedgerError as error:
            return number, error
    raise AssertionError


def _fill(path, *, leave: int) -> None:
    """Take all room but a little."""
    free = os.statvfs(path.parent)
    with path.open("wb") as file:
        left = free.f_bavail * free.f_frsize - leave
        while left > 0:
            left -= file.write(b"\0" * min(left, 1 << 20))


def _running(server) -> None:
    try:
        server.execute("SELECT 1")
    except Exception:  # noqa: BLE001 - a server that could not write its log has ended, as it should
        server.start()
