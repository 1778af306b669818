"""Who is known to be gone: only then is a charge given up that somebody may still be answering."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.declared import declare
from tests.ledger.test_ledger import COUNT, PLAIN, pure
from tests.ledger.test_ledger_errors import in_a_child
from wallflower.errors import LedgerError
from wallflower.ledger import Ledger, processes
from wallflower.ledger.processes import is_gone, this_process

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def unseen(number):
    """What a store says where a presence cannot be seen."""


def test_a_process_that_runs_is_not_gone_and_one_that_ended_is():
    mine = this_process("a", None)
    assert mine["number"] == os.getpid()
    assert not is_gone(mine, unseen, one_machine=True)
    ended = in_a_child(lambda: (os.getpid(), processes.began(os.getpid())))
    number, began = ended.strip("()").replace("'", "").split(", ")
    assert is_gone({**mine, "number": int(number), "began": began}, unseen, one_machine=True)
    assert is_gone({**mine, "began": "1"}, unseen, one_machine=True)  # another process has its number by now


@pytest.mark.parametrize("one_machine", [True, False])
def test_what_was_elsewhere_is_gone_only_where_that_is_known(one_machine):
    mine = this_process("a", None)
    other_start = {**mine, "boot": "another start, or another machine"}
    assert is_gone(other_start, unseen, one_machine=one_machine) is one_machine
    assert not is_gone({**mine, "boot": ""}, unseen, one_machine=one_machine)
    assert not is_gone({**mine, "space": "pid:[1]", "began": "1"}, unseen, one_machine=one_machine)


def test_a_presence_says_more_than_a_number():
    mine = this_process("a", 7)
    for held in (True, False):
        assert is_gone({**mine, "boot": "another"}, {7: held}.get, one_machine=False) is not held
    assert not is_gone({**mine, "boot": "another"}, unseen, one_machine=False)
    assert "presence" not in this_process("a", None)


def test_a_process_that_is_hidden_is_not_gone(monkeypatch):
    """/proc may hide the processes of other users (hidepid); that one runs under this number can be seen all the same."""
    theirs = this_process("a", None)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    read = Path.read_text

    def hides(place, **named):
        if place.name == "stat":
            raise FileNotFoundError(place)
        return read(place, **named)

    monkeypatch.setattr(Path, "read_text", hides)
    assert not is_gone(theirs, unseen, one_machine=True)
    assert is_gone({**theirs, "number": ended.pid}, unseen, one_machine=True)


def test_a_child_with_the_number_of_an_ancestor_says_when_it_began_itself(monkeypatch):
    """Once an ancestor has ended its number may be given again, to a child that inherits what the ancestor knew."""
    number = os.getpid()
    this_process("a", None)

    def in_the_child():
        own = processes.began(os.getpid())
        monkeypatch.setattr(os, "getpid", lambda: number)
        monkeypatch.setattr(processes, "began", lambda _number: own)
        return this_process("a", None)["began"] == own

    assert in_a_child(in_the_child) == "True"


def test_a_start_of_the_machine_that_cannot_be_read_proves_nothing(monkeypatch, tmp_path):
    theirs = this_process("a", None)
    monkeypatch.setattr(processes, "BOOT", tmp_path / "none")
    assert not is_gone(theirs, unseen, one_machine=True)


def test_what_a_process_charged_and_left_is_computed_anew_only_where_nothing_is_drawn(tmp_path):
    declared = declare(tmp_path)
    Ledger.init(declared)

    def ask(guarantee, named):
        return Ledger.open(declared).charge(guarantee, declaration=declared, query=COUNT, request_id=named)

    drawn, public = pure("0.5"), PLAIN
    entries = [
        in_a_child(lambda each=each, named=named: ask(each, named).entry)
        for each, named in ((drawn, "a"), (public, "b"))
    ]
    assert entries == ["2", "3"]
    assert ask(public, "b").entry == 3
    with pytest.raises(LedgerError, match=r"'a' was charged \(entry 2\) and has no answer: the process"):
        ask(drawn, "a")
    with pytest.raises(LedgerError):  # and so it stays
        ask(drawn, "a")
