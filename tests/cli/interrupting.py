"""Every command, stopped by Ctrl-C at some moment, and what must be so afterwards."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cli.workspace import lay_out, leave_unanswered
from wallflower.ledger import Ledger
from wallflower.publish import PlainTable
from wallflower.schema import load
from wallflower.session import open as open_session

START = "from wallflower.__main__ import main; print('ready', flush=True); main()"
"""Interrupts before this line meet Python itself, which has its own words for them."""

INTERRUPTED = (
    "interrupted: Interrupted.\nIf a charge had been made it stands; `wallflower ledger history DECL` shows it.\n"
)
UNANSWERED = "was charged (entry 2) and has no answer: the process that was to answer it has ended. Nothing was shown"
STANDING = frozenset(
    {
        "boiler.toml",
        "boiler.results",
        "salaries.csv",
        "salaries.toml",
        "salaries.ledger",
        "release.json",
        "last-year.csv",
        ".salaries.toml.ledger-marker",
        "readings.csv",
    }
)
"""What is there before any command runs; a ledger has files of SQLite beside it."""
COUNT = ("count", "salaries.toml", "--columns", "salary", "--neighbours", "5", "--radius", "1000", "--epsilon", "0.5")
PLAIN = ("--k", "5", "--p", "0.9", "--d", "0.5")


@dataclass(frozen=True)
class Interrupted:
    """What was left of a command."""

    code: int
    printed: str
    complained: str


@dataclass(frozen=True)
class Stoppable:
    """A command, the files it makes, and the exit codes of one that ends before it is stopped."""

    name: str
    arguments: tuple[str, ...]
    makes: tuple[str, ...] = ()
    charges: int = 0
    """How many entries of the ledger it may charge."""
    ends: frozenset[int] = frozenset({0})
    prepare: Callable[[Path], object] | None = None
    seconds: float = 3.0
    """The latest moment of an interrupt."""


def _published(folder: Path) -> None:
    session = open_session(folder / "salaries.toml")
    session.release(
        PlainTable.of(load(folder / "salaries.toml"), out=str(folder / "public.csv"), k=5, p="0.9", d="0.5")
    )


def _asked(name: str, *arguments: str, **more: object) -> Stoppable:
    return Stoppable(name, (*arguments, "--request-id", "once"), charges=1, ends=frozenset({0, 5}), **more)  # type: ignore[arg-type]


COMMANDS = (
    _asked("count", *COUNT),
    _asked("count --json", *COUNT, "--json"),
    _asked("count --owner-report", *COUNT, "--owner-report", "owner.html", makes=("owner.html",)),
    Stoppable("count --picture", (*COUNT, "--picture", "error.svg"), makes=("error.svg",)),
    Stoppable("count --rehearse", (*COUNT, "--rehearse", "last-year.csv", "--rehearsal-report", "try.html"), makes=("try.html",)),
    _asked(
        "count in three columns",
        *("count", "salaries.toml", "--columns", "age,tenure,salary", "--neighbours", "5", "--radius", "2"),
        *("--epsilon", "0.5", "--interval-epsilon", "0.1"),
    ),
    _asked(
        "subspaces",
        *("subspaces", "salaries.toml", "--columns", "age,salary,tenure", "--size", "2", "--top", "1", "--neighbours", "5"),
        *("--radius", "2", "--epsilon", "0.5", "--counts-epsilon", "0.5"),
    ),
    _asked(
        "explain",
        *("explain", "salaries.toml", "--record", "8", "--metric", "salary", "--by", "job_title,city"),
        *("--detector", "lof(neighbours=20)", "--epsilon", "0.2"),
    ),
    _asked("identify", "identify", "salaries.toml", "--value", "age=51,salary=900000", "--epsilon", "1"),
    _asked("publish", "publish", "salaries.toml", "-o", "public.csv", *PLAIN, makes=("public.csv",)),
    _asked("publish parquet", "publish", "salaries.toml", "-o", "public.parquet", *PLAIN, makes=("public.parquet",)),
    Stoppable("attack", ("attack", "salaries.toml", "public.csv"), makes=("public.csv",), charges=1, prepare=_published),
    Stoppable("check", ("check", "salaries.toml")),
    Stoppable("declare", ("declare", "salaries.csv", "-o", "draft.toml"), makes=("draft.toml",)),
    Stoppable("declare --ask", ("declare", "salaries.csv", "-o", "draft.toml", "--ask"), makes=("draft.toml",), ends=frozenset({130})),
    Stoppable("ledger init", ("ledger", "init", "salaries.toml"), prepare=lambda folder: (folder / "salaries.ledger").unlink()),
    Stoppable("ledger show", ("ledger", "show", "salaries.toml")),
    Stoppable("ledger history", ("ledger", "history", "salaries.toml", "--json")),
    Stoppable("ledger verify", ("ledger", "verify", "salaries.toml")),
    Stoppable("ledger backup", ("ledger", "backup", "salaries.toml", "copy.ledger"), makes=("copy.ledger",)),
    Stoppable("ledger close", ("ledger", "close", "salaries.toml", "--request-id", "monday"), charges=1, prepare=leave_unanswered),
    Stoppable("releases", ("releases", "salaries.toml", "--entry", "2", "-o", "again.json", "--certificate", "again.html", "--file", "again.csv"),
              makes=("public.csv", "again.json", "again.html", "again.csv"), charges=1, prepare=_published),
    Stoppable("certificate", ("certificate", "release.json", "-o", "page.html"), makes=("page.html",)),
    Stoppable("certificate --new-key", ("certificate", "--new-key", "desk"), makes=("desk", "desk.pub")),
    Stoppable("stream simulate", ("stream", "simulate", "boiler.toml", "--sensors", "2", "--picture", "boiler.html", "-o", "said.results"),
              makes=("boiler.html", "said.results")),
    Stoppable("stream sensor", ("stream", "sensor", "boiler.toml", "--data", "readings.csv", "--rate", "5", "--name", "boiler-7"), makes=("boiler-7.book",)),
    Stoppable("stream analyst", ("stream", "analyst", "boiler.toml", "-o", "heard.results"), makes=("heard.results",)),
    Stoppable("stream broker", ("stream", "broker", "boiler.toml", "--out", "broker"), makes=("broker",)),
    Stoppable("stream status", ("stream", "status", "boiler.toml", "-o", "boiler.results")),
    Stoppable("doctor", ("doctor",)),
    Stoppable("demo", ("demo", "--out", "demo"), makes=("demo",), seconds=15.0),
    Stoppable("serve --demo", ("serve", "--demo")),
)  # fmt: skip


class Desk:
    """A folder with the files that commands speak of, laid out once and copied for every command."""

    def __init__(self, place: Path) -> None:
        self._place, self._pattern, self._number = place, place / "pattern", 0
        self._pattern.mkdir()
        lay_out(self._pattern)
        others = (self._pattern / "salaries.csv").read_text(encoding="utf-8").replace(",2", ",3")
        (self._pattern / "last-year.csv").write_text(others, encoding="utf-8")
        (self._pattern / "readings.csv").write_text("flow\n" + "50.5\n" * 1000, encoding="utf-8")

    def fresh(self, command: Stoppable) -> Path:
        """A copy in which `command` can run, with a folder of its own for temporary files."""
        self._number += 1
        folder = self._place / f"{self._number}"
        shutil.copytree(self._pattern, folder)
        (folder / "salaries.ledger").unlink()  # a copied ledger is another table's
        Ledger.init(load(folder / "salaries.toml"))
        if command.prepare is not None:
            command.prepare(folder)
        (folder / "tmp").mkdir()
        return folder


def interrupted(
    arguments: tuple[str, ...] | list[str],
    after: float | None,
    *,
    by: int = signal.SIGINT,
    folder: Path | None = None,
) -> Interrupted:
    """A command that is stopped so many seconds after it began; never, if None."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=None if folder is None else {**os.environ, "TMPDIR": str(folder / "tmp")},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if after is not None:
        time.sleep(after)
        process.send_signal(by)
    printed, complained = process.communicate(timeout=600)
    return Interrupted(process.returncode, printed, complained)


def wrongs(command: Stoppable, ended: Interrupted, folder: Path) -> list[str]:
    """What must not be so once a command was stopped; nothing, if all is well."""
    found = [
        f"'{word}' was printed"
        for word in ("Traceback", "Exception ignored", "bug:")
        if word in ended.printed + ended.complained
    ]
    if ended.code == 130:
        if "--json" in command.arguments:
            said = [json.loads(line) for line in ended.printed.splitlines()]
            found += (
                [] if said and said[-1]["error"]["kind"] == "interrupted" else ["no object says that it was stopped"]
            )
        elif not ended.complained.endswith(INTERRUPTED):
            found.append("no sentence says that it was stopped")
    elif ended.code not in command.ends:
        found.append(f"it ended with {ended.code}")
    found += _left(command, folder)
    found += _half_written(command, folder)
    return found + _ledger(command, folder)


def _left(command: Stoppable, folder: Path) -> list[str]:
    """Temporary files, which may hold rows."""
    known = STANDING | set(command.makes) | {"tmp"}
    about = {
        path.name
        for path in folder.iterdir()
        if not any(path.name in (name, f"{name}-wal", f"{name}-shm") for name in known)
    }
    return [f"left behind: {name}" for name in sorted(about | {path.name for path in (folder / "tmp").iterdir()})]


def _half_written(command: Stoppable, folder: Path) -> list[str]:
    files = [folder / name for name in command.makes if (folder / name).is_file()]
    return [f"half written: {path.name}" for path in files if not _whole(path.suffix, path.read_bytes())]


def _whole(suffix: str, content: bytes) -> bool:
    if suffix in {".html", ".svg"}:
        return content.rstrip().endswith(f"</{suffix[1:]}>".encode())
    if suffix == ".parquet":
        return content.startswith(b"PAR1") and content.endswith(b"PAR1")
    if suffix == ".csv":
        return content.endswith(b"\n") and len(set(map(len, csv.reader(content.decode().splitlines())))) == 1
    if suffix == ".json":
        return bool(json.loads(content))
    return b"[columns.salary]" in content if suffix == ".toml" else bool(content)


def _ledger(command: Stoppable, folder: Path) -> list[str]:
    """It can be read, holds at most one charge of the request, and the same request then ends without a second one."""
    if not (folder / "salaries.ledger").exists():
        return [] if command.name == "ledger init" else ["the ledger is gone"]
    declared = load(folder / "salaries.toml")
    verified = Ledger.open(declared).verify()
    found = [] if verified.charges <= command.charges else [f"{verified.charges} charges"]
    if "--request-id" not in command.arguments or command.name == "ledger close":
        return found
    again = interrupted(command.arguments, None, folder=folder)
    charges = Ledger.open(declared).verify().charges
    if verified.charges and UNANSWERED in again.printed + again.complained:
        return found  # it was stopped between the charge and the answer: what it cost stays spent
    if again.code not in command.ends:
        found.append(f"asked again it ended with {again.code}: {again.complained}{again.printed}")
    return found if charges == 1 else [*found, f"asked again there are {charges} charges"]
