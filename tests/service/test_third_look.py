"""What a stranger found who read nothing: databases that are away, bindings twice, questions nobody could find again."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest

from tests.servers.postgresql import server  # noqa: F401 - a fixture
from tests.service.desks import COUNT, House
from tests.service.running import add_people, serving, write_files
from wallflower.errors import LedgerError, UsageError
from wallflower.service import child
from wallflower.service.migrations import migrate
from wallflower.stores.database import Database


def _broken(_parent=None) -> None:
    message = "a cell: 4711"
    raise ValueError(message)


def test_a_child_that_breaks_says_one_sentence_and_nothing_of_what_it_held(capfd):
    with pytest.raises(SystemExit) as ended:
        child.body("worker 0", _broken)
    said = capfd.readouterr().err
    assert ended.value.code == 1
    assert said.count("\n") == 1
    assert "4711" not in said
    assert "worker 0" in said


@pytest.mark.parametrize("address", ["postgresql://nobody@127.0.0.1:1/none", "folder/that/is/not/there/service.db"])
def test_a_database_that_is_away_is_said_to_be(address):
    with pytest.raises(LedgerError, match="cannot be opened") as refused:
        migrate(Database(address))
    assert "nobody@" not in str(refused.value)


def test_a_file_that_is_no_database_is_said_to_be(tmp_path):
    (tmp_path / "service.db").write_text("not a database, and long enough to be looked at as one " * 40)
    with pytest.raises(LedgerError, match="cannot be opened"):
        migrate(Database(str(tmp_path / "service.db")))


def test_a_subject_is_one_user(house: House):
    people = house.desk.people
    people.bind_subject("ada", "https://provider.example 1")
    people.bind_subject("ada", "https://provider.example 1")
    with pytest.raises(UsageError, match="'ada' already"):
        people.bind_subject("otto", "https://provider.example 1")


@pytest.mark.slow
def test_children_wait_for_a_server_that_is_away_and_the_log_has_sentences(laid_out, tmp_path, server):  # noqa: F811
    """PostgreSQL goes, every child is killed, PostgreSQL comes back: up again, and no traceback in between."""
    import os
    import shutil
    import signal

    server.execute("CREATE DATABASE away")
    address = server.address("away")
    shutil.copytree(laid_out.folder, tmp_path, dirs_exist_ok=True)
    path, port = write_files(tmp_path, database=address)
    add_people(address, ["otto", "ada", "dora"])
    with serving(tmp_path, path, port, address) as running:
        server.stop()
        try:
            for pid in running.children().values():
                os.kill(pid, signal.SIGKILL)
            log = tmp_path / "serve.log"
            end = time.monotonic() + 60
            while "database is away" not in log.read_text() and time.monotonic() < end:
                time.sleep(0.2)
        finally:
            server.start()
        from tests.service.running import until_healthy

        until_healthy(running)
    said = log.read_text()
    assert "wallflower web: the service's database is away" in said
    assert "Traceback" not in said
