"""Whatever can fail without looking at a row fails before the charge, for every query; each check runs in a fresh process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.searched import searched
from wallflower import errors
from wallflower.engines import open_source
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.session import Session

ROOT = Path(__file__).resolve().parents[2]

START = """
import os, sys, tempfile
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from tests.contracts.registry import every_example
from wallflower.engines import open_source
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.session import Session

def session_on(example, folder):
    declaration = load(example.lay_out(folder))
    Ledger.init(declaration)
    return Session(declaration, open_source(declaration))

def charges(session):
    return sum(event.to_json()["kind"] == "charge" for event in Ledger.open(session.declaration).history())

def chosen(*names):
    found = [example for example in every_example() if example.name in names or not names]
    assert len(found) == len(names) or not names
    return found
"""


def ran(code: str, tmp_path: Path, *, source: Path | None = None, **variables: str) -> str:
    environment = {**os.environ, "TMPDIR": str(tmp_path), **variables}
    first = "" if source is None else f"{source}{os.pathsep}"
    environment["PYTHONPATH"] = first + searched(ROOT)
    done = subprocess.run(
        [sys.executable, "-c", START + code], env=environment, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


COMPILES = """
charged, late = False, []
plain_charge, plain_compile = Ledger.charge, Dispatcher.compile

def charge(self, *args, **kwargs):
    global charged
    charged = True
    return plain_charge(self, *args, **kwargs)

def compile(self, signature):
    if charged:
        late.append((self.py_func.__module__, self.py_func.__name__, str(signature)))
    return plain_compile(self, signature)

Ledger.charge, Dispatcher.compile = charge, compile
for example in chosen():
    charged = False
    with tempfile.TemporaryDirectory() as folder:
        session_on(example, Path(folder)).release(example.query(Path(folder)))
    assert charged
print(late)
"""


@pytest.mark.slow
def test_every_kernel_is_compiled_or_loaded_before_the_charge(tmp_path):
    assert ran(COMPILES, tmp_path).strip() == "[]"


OTHER_LOOPS = """
import random
from dataclasses import replace
from numba.core.dispatcher import Dispatcher
from wallflower.noise.entropy import SeededEntropy
from wallflower.publish import population

population.SAMPLE = 10  # so that a table of few rows has a guide, as one of 16,384 has
late, asked = [], None
plain_compile = Dispatcher.compile

def compile(self, signature):
    if asked is not None:
        late.append((asked, self.py_func.__module__, self.py_func.__name__, str(signature)))
    return plain_compile(self, signature)

Dispatcher.compile = compile
rolled = random.Random(3)
spread = [(rolled.randrange(101), rolled.choice("FM"), rolled.randrange(501)) for _ in range(60)]
crowded = [(40 + i % 3, "F", 100 + i % 7) for i in range(50)] + [(0, "M", 500), (100, "M", 0), (100, "F", 500)]
tables = {{"spread": spread, "crowded": crowded, "one row": spread[:1], "none": []}}
for example in chosen():
    if not example.name.startswith(("publish-attack", "publish-candidate", "publish-strict", "publish-matching")):
        continue
    with tempfile.TemporaryDirectory() as folder:
        session = session_on(example, Path(folder))
        query = example.query(Path(folder))
        for k, p, d in {choices!r}:
            query = replace(query, k=k, p=p, d=d, possible_values=None if query.possible_values is None else k)
            asked = None
            session._prepare(query)
            for name, rows in tables.items():
                cells = "".join(f"{{age}},{{sex}},{{income}}\\n" for age, sex, income in rows)
                (Path(folder) / "rows.csv").write_text("age,sex,income\\n" + cells)
                asked = (example.name, k, p, d, name)
                with open_source(session.declaration).rows(query.columns) as table:
                    query.run(table, SeededEntropy(1))
print(late)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "choices", [((30, "0.9", "0.5"), (2, "0.5", "0.2"), (4, "0.97", "0.1"), (3, "1e-400", "0.5"))], ids=len
)
def test_no_table_needs_a_loop_that_made_up_rows_did_not(tmp_path, choices):
    """The first of the choices makes no group of made-up rows, which are few."""
    assert ran(OTHER_LOOPS.format(choices=choices), tmp_path).strip() == "[]"


RELEASES = """
import wallflower
print(Path(wallflower.__file__).parents[1])
for example in chosen(*{names!r}):
    with tempfile.TemporaryDirectory() as folder:
        session = session_on(example, Path(folder))
        session.release(example.query(Path(folder)))
        print(example.name, charges(session))
"""


def read_only_copy(folder: Path) -> Path:
    """The package where nothing can be kept: a file stands where each cache folder would; that stops a superuser too."""
    copy = folder / "installed"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for place in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (place / "__pycache__").write_text("")
    return copy


def released_without_a_home(tmp_path: Path, names: tuple[str, ...]) -> list[str]:
    copy = read_only_copy(tmp_path)
    shown = ran(RELEASES.format(names=names), tmp_path, source=copy, HOME="/dev/null", XDG_CACHE_HOME="/dev/null")
    where, *released = shown.splitlines()
    assert where == str(copy)
    return released


def test_a_read_only_installation_without_a_home_releases(tmp_path):
    assert released_without_a_home(tmp_path, ("count", "identify")) == ["count 1", "identify 1"]


@pytest.mark.campaign
def test_a_read_only_installation_without_a_home_releases_everything(tmp_path):
    assert all(line.endswith(" 1") for line in released_without_a_home(tmp_path, ()))


FORKS = """
for example in chosen("count-lomax", "explain overlap"):
    with tempfile.TemporaryDirectory() as folder:
        session = session_on(example, Path(folder))
        session.release(example.query(Path(folder)))
        child = os.fork()
        if child == 0:
            try:
                session.release(example.query(Path(folder)))
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(9)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(example.name, code, charges(session))
"""


@pytest.mark.slow
def test_a_child_forked_after_a_release_releases_too(tmp_path):
    assert ran(FORKS, tmp_path).splitlines() == ["count-lomax 0 2", "explain overlap 0 2"]


def test_what_breaks_while_making_ready_costs_nothing(example, prepared, tmp_path, monkeypatch):
    session, watched, _ = prepared()
    query = example.query(tmp_path)

    def fail(self, rows, entropy):
        raise OverflowError("cannot convert float infinity to integer")

    monkeypatch.setattr(type(query), "prepare", fail)
    with pytest.raises(errors.UsageError, match="nothing has been charged"):
        session.release(query)
    assert watched.opened == watched.tried == 0
    assert not [e for e in Ledger.open(session.declaration).history() if e.to_json()["kind"] == "charge"]


def test_damage_is_looked_for_last_and_costs_nothing(example, prepared, tmp_path, monkeypatch):
    """For every question: when the ledger would accept it and it has been made ready, and before it is charged."""
    session, watched, _ = prepared()
    query = example.query(tmp_path)
    done = []

    def noted(holder, name):
        plain = getattr(holder, name)

        def note(self, *args, **choices):
            done.append(name)
            return plain(self, *args, **choices)

        monkeypatch.setattr(holder, name, note)

    def damaged(self, columns):
        done.append("refuse_damage")
        raise errors.DeclarationError("the source is damaged.")

    noted(Ledger, "check")
    noted(type(watched), "verify")
    noted(type(query), "prepare")
    monkeypatch.setattr(type(watched), "refuse_damage", damaged)
    with pytest.raises(errors.DeclarationError, match="is damaged"):
        session.release(query)
    assert list(dict.fromkeys(done)) == ["check", "verify", "prepare", "refuse_damage"]
    assert watched.opened == 0
    assert not [e for e in Ledger.open(session.declaration).history() if e.to_json()["kind"] == "charge"]


def test_without_a_folder_for_temporary_files_nothing_is_charged(example, tmp_path, monkeypatch):
    declaration = load(example.lay_out(tmp_path))
    Ledger.init(declaration)
    query = example.query(tmp_path)

    def full(*_args, **_choices):
        raise PermissionError(13, "Permission denied", "a folder's name")

    session = Session(declaration, open_source(declaration))
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "mkdtemp", full)
        with pytest.raises(errors.UsageError, match="no folder for temporary files that can be written") as refused:
            session.release(query)
    assert "TMPDIR" in (refused.value.hint or "")
    assert not [e for e in Ledger.open(declaration).history() if e.to_json()["kind"] == "charge"]


def test_making_ready_leaves_no_trace(example, prepared, tmp_path, monkeypatch):
    """It sees made-up rows, writes no file, and is left out when a recorded answer is given again."""
    session, watched, _ = prepared()
    query = example.query(tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    Session(session.declaration, watched)._prepare(query)
    assert watched.opened == watched.tried == 0
    assert {path.name for path in tmp_path.iterdir()} == before
    session.release(query, request_id="a")
    monkeypatch.setattr(type(query), "prepare", None)
    session.release(query, request_id="a")
