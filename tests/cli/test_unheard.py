"""Words that go nowhere: a full disk, a terminal that has ended, a place that the shell has closed. Nothing paid for is lost to them."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.contracts.registry import every_example
from wallflower.cli import asking, serve
from wallflower.cli.app import run
from wallflower.ledger import Ledger
from wallflower.schema import load

EXAMPLES = {example.name: example for example in every_example()}
FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="no device here is always full")


def laid_out(folder, name="count"):
    path = EXAMPLES[name].lay_out(folder)
    Ledger.init(load(path))
    return path, EXAMPLES[name].arguments(path)


def ended(redirected, *arguments):
    """Held back as Python does by default: what it still holds at its end would make an exit code of its own."""
    command = ["sh", "-c", f'"$@" {redirected}', "sh", sys.executable, "-m", "wallflower", *arguments]
    told = {**os.environ, "PYTHONUNBUFFERED": ""}
    return subprocess.run(command, capture_output=True, text=True, env=told, check=False, timeout=600)


@pytest.mark.parametrize(("redirected", "why"), [(">&-", "Bad file descriptor"), ("> /dev/full", "No space left")])
def test_an_answer_that_cannot_be_printed_is_not_told_as_one_that_was(tmp_path, redirected, why):
    path, arguments = laid_out(tmp_path)
    done = ended(redirected, *arguments)
    assert done.returncode == 4, done.stderr
    assert f"recorded as entry 2 and could not be printed: {why}" in done.stderr
    assert "Exception ignored" not in done.stderr
    assert [line.kind for line in Ledger.open(load(path)).history()] == ["limits", "charge", "answer"]


def test_it_is_told_by_its_exit_code_where_no_sentence_can_be(tmp_path):
    _, arguments = laid_out(tmp_path)
    assert ended("> /dev/full 2> /dev/full", *arguments).returncode == 4


def test_an_answer_is_printed_where_there_is_no_place_for_words(tmp_path):
    _, arguments = laid_out(tmp_path)
    done = ended("2>&-", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "count" in done.stdout


def test_a_list_that_cannot_be_printed_keeps_its_exit_code(tmp_path):
    path, _ = laid_out(tmp_path)
    done = ended("> /dev/full", "ledger", "show", str(path))
    assert done.returncode == 2
    assert done.stderr.startswith("usage: No space left on device.")
    assert "Exception ignored" not in done.stderr


class Full(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_warning_that_nobody_can_read_keeps_no_publication_back(tmp_path, monkeypatch):
    """It comes between the record and the file: paid for, told to be answered, and not put in its place."""
    _, arguments = laid_out(tmp_path, "publish-strict")
    arguments[arguments.index("--k") + 1] = "100"
    warned = []
    with monkeypatch.context() as unheard:
        unheard.setattr(sys, "stderr", Full())
        unheard.setattr(
            "wallflower.cli.asking._warn", lambda said, warn=asking._warn: (warned.append(said), warn(said))
        )
        code = run(arguments)
    assert len(warned) == 1
    assert code in {0, 5}
    assert list(tmp_path.rglob("public.csv"))


@pytest.mark.parametrize("how", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()], ids=["full", "interrupted"])
def test_a_service_that_cannot_say_where_it_is_stops_its_children(monkeypatch, how):
    """They went on without their folder, and kept the command from ending, whatever it was told."""
    did = []

    class Started:
        def __init__(self, *_arguments):
            self.start, self.stop = lambda: did.append("started"), lambda: did.append("stopped")

    def unheard(*_arguments, **_named):
        raise how

    monkeypatch.setattr("wallflower.service.supervisor.Supervisor", Started)
    monkeypatch.setattr(serve.signal, "signal", lambda *_: None)
    monkeypatch.setattr(serve, "out", SimpleNamespace(print=unheard))
    with pytest.raises(type(how)):
        serve._serve(SimpleNamespace(certificate=None, host="127.0.0.1", port=1), [])
    assert did == ["started", "stopped"]
