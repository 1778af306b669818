"""How the tests run against one mutant of `src`: in a child of a process that has already imported what it needs."""

from __future__ import annotations

import ast
import ctypes
import doctest
import gc
import importlib
import json
import os
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from scripts.mutant_reach import SHORTEST, Reach, Watched
from scripts.mutants import ROOT, Mutant

DOCTEST = "doctest of"

NOT_HERE = 3
"""A child's exit status: the function cannot be changed in a process that has imported it."""

PATIENCE = 12
"""A mutant may take so many times its limit where it waits, or others burn the processors."""

CHILD_SUBREAPER = 36
"""Linux: who is left behind by a child becomes ours, and is ended."""


@dataclass(frozen=True)
class Judged:
    """What became of a mutant: killed, survived, slow (no verdict within the limit) or unjudged (its killer fails anyway)."""

    mutant: Mutant
    verdict: str
    by: str
    asked: int


class Runs:
    """The tests of one package, against a copy of `src`."""

    def __init__(self, folder: Path, tests: list[str], limit: int, *, wide: bool) -> None:
        self._folder, self._tests, self._limit, self._wide = folder, tests, limit, wide
        self._now = folder / "now"

    def reach(self) -> Reach:
        """What the tests reach on the honest code."""
        kept = self._folder / "reach.json"

        def watch() -> int:
            with Watched(self._folder) as watched:
                self._pytest(self._tests, [watched])
            watched.keep().write(kept)
            return 0

        ended = _forked(watch, 60 * self._limit)
        if ended != 0:
            raise SystemExit(f"the honest tests came to no end: {self._tests}")
        return Reach.read(kept)

    def judged(self, mutants: list[Mutant], reach: Reach) -> list[Judged]:
        with tempfile.TemporaryFile("w+") as results:
            warm = [one for one in mutants if not self._run_on_import(one, reach)]

            def host() -> int:
                return self._pytest(self._tests, [_Host(self, warm, reach, results)])

            if warm:
                _forked(host, None)
            results.seek(0)
            told = {place: tuple(rest) for place, *rest in map(json.loads, results)}
        found = [
            Judged(one, *told[index]) if (index := warm.index(one) if one in warm else -1) in told else None
            for one in mutants
        ]
        return [one or self._fresh(changed, reach) for one, changed in zip(found, mutants, strict=True)]

    @staticmethod
    def _run_on_import(changed: Mutant, reach: Reach) -> bool:
        return changed.function is None or changed.line in reach.on_import.get(changed.inside, [])

    def _fresh(self, changed: Mutant, reach: Reach) -> Judged:
        """By a process that has imported nothing of ours; the few shortest tests alone first."""
        tests = reach.tests(changed)
        with self.on_disk(changed):
            for some in filter(None, (tests[:SHORTEST], tests[SHORTEST:])) if tests else ([],):
                files = sorted({name.split("::")[0] for name in some}) or self._tests
                plugins = [_Chosen(some, reach, self._now)]
                work = partial(_doctested, changed, self._now), partial(self._pytest, files, plugins)
                ended = _forked(lambda work=work: work[0]() or work[1](), self._limit)
                if ended != 0:
                    break
        return Judged(changed, *self.verdict(ended), len(tests))

    def verdict(self, ended: int | None) -> tuple[str, str]:
        by = self._now.read_text(encoding="utf-8") if self._now.exists() else ""
        if ended is None:
            return "slow", by
        if ended == -signal.SIGPROF:
            return "killed", f"{by} (endless)"
        return ("killed", by) if ended else ("survived", "")

    def one(self, session: Any, changed: Mutant, tests: list[str], reach: Reach) -> int | None:
        """In the host: the exit status of a child that has taken the change over; None past the limit."""
        with self.on_disk(changed) as place:
            work = partial(_doctested, changed, self._now), partial(_loop, session, tests, reach, self._now)
            return _forked(lambda: _take_over(changed, place) or work[0]() or work[1](), self._limit)

    def on_disk(self, changed: Mutant) -> _OnDisk:
        """For what is imported later, and by programs that tests start."""
        return _OnDisk(changed, self._folder / "src" / "wallflower" / changed.inside)

    def control(self, session: Any, tests: list[str], reach: Reach) -> set[str]:
        """Those that fail on the honest code too."""
        asked = [test for test in tests if not test.startswith(DOCTEST)]
        return {test for test in asked if _forked(partial(_loop, session, [test], reach, self._now), self._limit)}

    def _pytest(self, names: list[str], plugins: list[Any]) -> int:
        os.chdir(ROOT)
        import pytest

        marks = "not campaign" if self._wide else "not slow and not statistics and not campaign"
        plain = ["-q", "-s", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", "--tb=no", "-o", "addopts="]
        plain += ["--import-mode=importlib", f"--basetemp={self._folder / 'tests'}", "-m", marks]
        if not isinstance(plugins[0], Watched):
            plain.append("-x")
        return int(pytest.main([*plain, *names], plugins=[_Plain(), *plugins]))


class _OnDisk:
    def __init__(self, changed: Mutant, place: Path) -> None:
        self._source, self._place = ast.unparse(changed.tree), place
        self._honest = place.read_text(encoding="utf-8")

    def __enter__(self) -> Path:
        self._place.write_text(self._source, encoding="utf-8")
        return self._place

    def __exit__(self, *_: object) -> None:
        self._place.write_text(self._honest, encoding="utf-8")


def _forked(work: Callable[[], int], limit: float | None) -> int | None:
    """How a child ended that did this work in silence; None where it had to be ended."""
    ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(silent, stream)
            code = work()
        except BaseException:  # noqa: BLE001 - the child ends here, however it ends
            code = 1
        os._exit(code)
    ended = None
    while ended is None and (
        limit is None or (_burnt(child) < limit and time.monotonic() < started + PATIENCE * limit)
    ):
        time.sleep(0.05)
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            ended = os.waitstatus_to_exitcode(status)
    if ended is None:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    _end_what_was_left()
    return ended


def _burnt(pid: int) -> float:
    """Processor seconds of a process and of its children that have ended: a busy machine makes nothing slow."""
    told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, told[11:15])) / os.sysconf("SC_CLK_TCK")


def _end_what_was_left() -> None:
    while left := Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split():
        for pid in map(int, left):
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _take_over(changed: Mutant, place: Path) -> int:
    """In the child: the changed code in every function of the file that is already there."""
    codes: dict[tuple[str, int], list[CodeType]] = defaultdict(list)
    for code in _codes(compile(changed.tree, str(place), "exec")):
        codes[code.co_qualname, code.co_firstlineno].append(code)
    taken = False
    gc.unfreeze()  # tests set aside what lives as long as the process, and it would not be listed
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename == str(place):
            new = codes.get((one.__code__.co_qualname, one.__code__.co_firstlineno), [])
            if one.__code__ in new:
                continue
            if len(new) != 1 or len(new[0].co_freevars) != len(one.__code__.co_freevars):
                return NOT_HERE
            one.__code__ = new[0]
            taken = True
    loaded = any(getattr(module, "__file__", None) == str(place) for module in list(sys.modules.values()))
    return 0 if taken or not loaded else NOT_HERE


def _doctested(changed: Mutant, now: Path) -> int:
    """In the child: the examples of the changed file; those of the honest one are tests of their own."""
    now.write_text(f"{DOCTEST} {changed.inside}", encoding="utf-8")
    module = ".".join(("wallflower", *Path(changed.inside).with_suffix("").parts))
    return int(doctest.testmod(importlib.import_module(module)).failed > 0)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _loop(session: Any, tests: list[str], reach: Reach, now: Path) -> int:
    """In the child: these of the collected tests, in this order; all of them where none is named."""
    from _pytest.main import pytest_runtestloop

    chosen = _Chosen(tests, reach, now)
    session.config.pluginmanager.register(chosen)
    chosen.pytest_collection_modifyitems(session.items)
    with suppress(session.Failed, session.Interrupted):
        pytest_runtestloop(session)
    with suppress(BaseException):
        session._setupstate.teardown_exact(None)  # noqa: SLF001 - after a failure, what is shared is still there
    return int(session.testsfailed > 0)


class _Plain:
    """A plugin: properties look for a failure and not for the smallest, the same examples each time."""

    def pytest_collection(self) -> None:
        from hypothesis import Phase, settings

        parent = settings.get_profile("untimed")
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", parent, phases=phases, derandomize=True, database=None)
        settings.load_profile("mutants")


class _Chosen:
    """A plugin: only these tests, in this order, each with a bound on the time it burns; all of them where none is named."""

    def __init__(self, names: list[str], reach: Reach, now: Path) -> None:
        self._rank = {name: rank for rank, name in enumerate(names)}
        self._seconds, self._now = reach.seconds, now
        self._failing = set(reach.failing)
        now.unlink(missing_ok=True)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._rank:
            items[:] = sorted((one for one in items if one.nodeid in self._rank), key=lambda i: self._rank[i.nodeid])
        else:
            items[:] = [one for one in items if one.nodeid not in self._failing]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._now.write_text(nodeid, encoding="utf-8")
        signal.setitimer(signal.ITIMER_PROF, 5 + 5 * self._seconds.get(nodeid, 10.0))


class _Host:
    """A plugin: the tests are collected and never run here, but in children that took a mutant over."""

    def __init__(self, runs: Runs, mutants: list[Mutant], reach: Reach, results: Any) -> None:
        self._runs, self._mutants, self._reach, self._results = runs, mutants, reach, results

    def pytest_runtestloop(self, session: Any) -> bool:
        killers: dict[str, list[int]] = defaultdict(list)
        told: list[tuple[str, str, int] | None] = []
        for index, changed in enumerate(self._mutants):
            tests = self._reach.tests(changed)
            ended = self._runs.one(session, changed, tests, self._reach)
            told.append(None if ended == NOT_HERE else (*self._runs.verdict(ended), len(tests)))
            if ended not in {0, None, NOT_HERE}:
                killers[self._runs.verdict(ended)[1].removesuffix(" (endless)")].append(index)
        for test in self._runs.control(session, list(killers), self._reach):
            for index in killers[test]:
                told[index] = ("unjudged", f"{test} fails on the honest code too", 0)
        for index, one in enumerate(told):
            if one is not None:
                self._results.write(json.dumps([index, *one]) + "\n")
        self._results.flush()
        return True
