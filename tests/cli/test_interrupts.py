"""Ctrl-C, at any moment of any command: exit 130 or a finished answer, never a bug and never a traceback."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import pytest

from tests.cli.interrupting import COMMANDS, INTERRUPTED, Desk, interrupted, wrongs
from tests.contracts.registry import every_example
from wallflower import errors
from wallflower.cli.app import run
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.session import Session

FINE = {130, 0, 5}
EXAMPLES = {example.name: example for example in every_example()}


def asked(folder):
    path = EXAMPLES["count"].lay_out(folder)
    Ledger.init(load(path))
    return EXAMPLES["count"].arguments(path)


@pytest.mark.parametrize("after", [0.02, 0.4, 1.5])
def test_an_interrupted_command_says_so(tmp_path, after):
    ended = interrupted(asked(tmp_path), after)
    assert ended.code in FINE, ended
    assert "Traceback" not in ended.complained
    assert ended.code != 130 or ended.complained == INTERRUPTED


def test_a_command_that_is_told_to_end_ends(tmp_path):
    ended = interrupted(asked(tmp_path), 0.2, by=signal.SIGTERM)
    assert ended.code in {143, 0}, ended
    assert "Traceback" not in ended.complained
    assert ended.code != 143 or ended.complained == INTERRUPTED


LATE = """
import atexit, os, signal, sys
by = int(sys.argv[1])
class Late:
    def __del__(self):
        os.kill(os.getpid(), by)
sys.modules["a module that goes last"] = Late()
sys.kept = Late()
atexit.register(os.kill, os.getpid(), by)
sys.argv = ["wallflower", "--version"]
from wallflower.__main__ import main
main()
"""


IGNORED = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
from wallflower.session import Session
price = Session.price
def hung_up(self, query):
    os.kill(os.getpid(), signal.SIGHUP)
    return price(self, query)
Session.price = hung_up
from wallflower.__main__ import main
main()
"""


def test_the_end_of_a_terminal_is_nothing_to_a_command_that_ignores_it(tmp_path):
    command = [sys.executable, "-c", IGNORED, *asked(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])  # what Python still holds at its end makes an exit code of its own
def test_a_command_whose_words_nobody_can_read_keeps_its_exit_code(unbuffered):
    """A bug's code would be told of a terminal that has ended."""
    here, there = os.openpty()
    os.close(here)
    command = [sys.executable, "-m", "wallflower", "count", "salaries.toml", "--unheard-of"]
    told = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=there, env=told, check=False, timeout=600)
    os.close(there)
    assert done.returncode == 2


def test_a_command_without_a_place_for_words_keeps_its_exit_code():
    command = [sys.executable, "-m", "wallflower", "count", "salaries.toml", "--unheard-of"]
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *command], check=False, timeout=600)
    assert done.returncode == 2


DROPPED = """
import os, signal, sys, time, weakref
class One:
    pass
def price(self, query):
    one = One()
    gone = weakref.ref(one, lambda _: os.kill(os.getpid(), signal.SIGINT))  # Python drops what is raised in here
    del one
    while True:
        time.sleep(0.01)
from wallflower.session import Session
Session.price = price
from wallflower.__main__ import main
main()
"""


def test_an_interrupt_that_python_drops_is_heard_a_moment_later(tmp_path):
    arguments = EXAMPLES["count"].arguments(EXAMPLES["count"].lay_out(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", DROPPED, *arguments], capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTED)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_python_shuts_down_does_not_undo_a_finished_command(by):
    command = [sys.executable, "-c", LATE, str(int(by))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("wallflower ")


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    return Desk(tmp_path_factory.mktemp("desk"))


@pytest.mark.campaign
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_any_command_at_any_moment(desk, command):
    draw = random.Random(command.name)
    for _ in range(20):
        folder = desk.fresh(command)
        ended = interrupted(command.arguments, draw.uniform(0, command.seconds), folder=folder)
        assert wrongs(command, ended, folder) == [], ended


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "made_of_it", [RuntimeError("Query interrupted"), errors.ReleaseFailed("could not be read."), ImportError("numpy")]
)
def test_what_a_library_makes_of_an_interrupt_is_still_one(monkeypatch, tmp_path, capsys, made_of_it, by):
    stopped = []

    def price(self, query):
        stopped.append(by)
        raise made_of_it

    monkeypatch.setattr(Session, "price", price)
    path = EXAMPLES["count"].lay_out(tmp_path)
    assert run(EXAMPLES["count"].arguments(path), stopped) == 128 + by
    assert "interrupted" in capsys.readouterr().err
    assert run(EXAMPLES["count"].arguments(path)) == 1  # and without one it is a bug


def test_an_interrupt_in_the_middle_of_a_release_is_not_told_as_a_failure(tmp_path, capsys, monkeypatch):
    def run_it(self, rows, entropy):
        raise KeyboardInterrupt

    path = EXAMPLES["count"].lay_out(tmp_path)
    Ledger.init(load(path))
    query = EXAMPLES["count"].query(tmp_path)
    monkeypatch.setattr(type(query), "prepare", lambda *_: None)
    monkeypatch.setattr(type(query), "run", run_it)
    assert run(EXAMPLES["count"].arguments(path)) == 130
    assert "charge had been made" in capsys.readouterr().err
