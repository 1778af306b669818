"""Which tests reach which line of `src`, and what each burns: `scripts/mutations.py` asks the shortest first."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from scripts.mutants import Mutant

SHORTEST = 12
"""So many tests run in the order of their times; the rest file by file, for files share what is dear to set up."""


@dataclass
class Reach:
    """Which tests reach which line of which file, and how long each takes."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]
    on_import: dict[str, list[int]]
    failing: list[str]

    @classmethod
    def none(cls) -> Self:
        return cls({}, {}, {}, [])

    @classmethod
    def read(cls, file: Path) -> Self:
        told = json.loads(file.read_text(encoding="utf-8"))
        lines = {name: {int(line): tests for line, tests in by.items()} for name, by in told["lines"].items()}
        return cls(told["seconds"], lines, told["on_import"], told["failing"])

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(vars(self)), encoding="utf-8")

    def tests(self, changed: Mutant) -> list[str]:
        """Those that reach the line, or its function, or its file; the shortest first. What runs on import reaches them all."""
        by_line = self.lines.get(changed.inside, {})
        found = set(by_line.get(changed.line, []))
        if not found and changed.function is not None:
            found = {test for line in changed.function for test in by_line.get(line, [])}
        if not found:
            found = {test for tests in by_line.values() for test in tests}
        first = self._in_order(found - set(self.failing))
        if changed.function is not None:
            return first
        return first + self._in_order(set(self.seconds) - set(first) - set(self.failing))

    def _in_order(self, tests: Iterable[str]) -> list[str]:
        by_time = sorted(tests, key=lambda test: (self.seconds.get(test, 0.0), test))
        first, rest = by_time[:SHORTEST], by_time[SHORTEST:]
        files: dict[str, list[str]] = defaultdict(list)
        for test in rest:
            files[test.split("::")[0]].append(test)
        cheap = sorted(files.values(), key=lambda ones: sum(self.seconds.get(test, 0.0) for test in ones))
        return first + [test for ones in cheap for test in ones]


class Watched:
    """A plugin: which lines of the package each test reaches, and its seconds."""

    def __init__(self, folder: Path) -> None:
        from coverage import Coverage

        self._src = folder / "src" / "wallflower"
        self._seconds: dict[str, float] = {}
        self._began = 0.0
        self._failing: set[str] = set()
        self._shared: dict[str, list[str]] = defaultdict(list)
        self._test = ""
        self._coverage = Coverage(data_file=None, source=[str(self._src)], config_file=False)

    def pytest_runtest_logstart(self) -> None:
        self._began = sum(os.times()[:4])

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._seconds[nodeid] = sum(os.times()[:4]) - self._began

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._failing.add(report.nodeid)

    def pytest_runtest_protocol(self, item: Any) -> None:
        self._test = item.nodeid
        for name in item.fixturenames:
            self._shared[f"fixture {name}"].append(item.nodeid)
        self._coverage.switch_context(item.nodeid)

    def pytest_fixture_setup(self, fixturedef: Any) -> None:
        """What is set up for several tests counts for each of them."""
        shared = fixturedef.scope != "function"
        self._coverage.switch_context(f"fixture {fixturedef.argname}" if shared else self._test)

    def pytest_fixture_post_finalizer(self) -> None:
        self._coverage.switch_context(self._test)

    def pytest_runtest_call(self) -> None:
        self._coverage.switch_context(self._test)

    def __enter__(self) -> Self:
        self._coverage.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._coverage.stop()

    def keep(self) -> Reach:
        data = self._coverage.get_data()
        lines: dict[str, dict[int, list[str]]] = {}
        on_import: dict[str, list[int]] = {}
        for name in data.measured_files():
            inside = str(Path(name).relative_to(self._src))
            contexts = data.contexts_by_lineno(name)
            on_import[inside] = [line for line, tests in contexts.items() if "" in tests]
            lines[inside] = {
                line: sorted({test for one in tests if one for test in self._shared.get(one, [one])})
                for line, tests in contexts.items()
            }
        return Reach(self._seconds, lines, on_import, sorted(self._failing))
