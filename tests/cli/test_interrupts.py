"""Ctrl-C, at any moment of any command: exit 130 or a finished answer, never a bug and never a traceback."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.contracts.registry import every_example
from wallflower import errors
from wallflower.cli.app import run
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.session import Session

START = "from wallflower.__main__ import main; print('ready', flush=True); main()"
"""Interrupts before this line meet Python itself, which has its own words for them."""
FINE = {130, 0, 5}
EXAMPLES = {example.name: example for example in every_example()}


def interrupted(arguments, after, *, by=signal.SIGINT):
    """(exit code, what was printed) of a command that is interrupted so many seconds after it began."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(after)
    process.send_signal(by)
    shown = process.communicate(timeout=120)[0]
    return process.returncode, shown


def commands(folder, name):
    path = EXAMPLES[name].lay_out(folder)
    Ledger.init(load(path))
    return [
        EXAMPLES[name].arguments(path),
        [*EXAMPLES[name].arguments(path), "--json"],
        ["check", str(path)],
        ["ledger", "show", str(path)],
        ["declare", str(path.with_suffix(".csv")), "-o", str(folder / "new.toml")],
    ]


@pytest.mark.parametrize("after", [0.02, 0.4, 1.5])
def test_an_interrupted_command_says_so(tmp_path, after):
    code, shown = interrupted(commands(tmp_path, "count")[0], after)
    assert code in FINE, shown
    assert "Traceback" not in shown


def test_a_command_that_is_told_to_end_ends(tmp_path):
    code, shown = interrupted(commands(tmp_path, "count")[0], 0.2, by=signal.SIGTERM)
    assert code in {143, 0}, shown
    assert "Traceback" not in shown


LATE = """
import atexit, os, signal
class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
import sys
sys.modules["a module that goes last"] = Late()
sys.kept = Late()
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.argv = ["wallflower", "--version"]
from wallflower.__main__ import main
main()
"""


def test_an_interrupt_while_python_shuts_down_does_not_undo_a_finished_command():
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("wallflower ")


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["count", "identify", "explain exact", "publish-candidate"])
def test_any_command_at_any_moment(tmp_path, name):
    draw = random.Random(name)
    for _ in range(20):
        folder = tmp_path / os.urandom(4).hex()
        folder.mkdir()
        for arguments in commands(folder, name):
            code, shown = interrupted(arguments, draw.uniform(0, 4))
            assert code in FINE | {3}, (arguments, shown)  # 3: an earlier one of this folder has spent the budget
            assert "Traceback" not in shown


@pytest.mark.parametrize(
    "made_of_it", [RuntimeError("Query interrupted"), errors.ReleaseFailed("could not be read."), ImportError("numpy")]
)
def test_what_a_library_makes_of_an_interrupt_is_still_one(monkeypatch, tmp_path, capsys, made_of_it):
    stopped = []

    def price(self, query):
        stopped.append(signal.SIGINT)
        raise made_of_it

    monkeypatch.setattr(Session, "price", price)
    path = EXAMPLES["count"].lay_out(tmp_path)
    assert run(EXAMPLES["count"].arguments(path), stopped) == 130
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
