"""Change one small thing of `src` at a time and see whether a test notices: `python scripts/mutations.py --many 200`.

Each mutant is one node of one syntax tree: a comparison, a sign, a constant, a condition, a call that is left out. First the tests
of every changed package run once, unchanged, to see which test reaches which line and how long it takes. Then, for each mutant,
those that reach its line (all of the package's where a line runs only on import) run against a copy of `src`, the shortest first,
in a child forked from a process that has already loaded the heavy libraries, up to the first failure or `--limit` seconds. A mutant
that no test notices is printed with its line. It is not part of `make test`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "wallflower"

TESTS: dict[str, tuple[str, ...]] = {
    "audit": ("tests/audit",),
    "cli": ("tests/cli",),
    "count": ("tests/count", "tests/contracts/test_queries.py"),
    "detectors": ("tests/detectors", "tests/contracts/test_detectors.py", "tests/stream/test_parties.py"),
    "engines": ("tests/engines", "tests/contracts/test_engines.py", "tests/contracts/test_row_order.py"),
    "explain": ("tests/explain",),
    "geometry": ("tests/geometry",),
    "identify": ("tests/identify",),
    "ledger": ("tests/ledger", "tests/privacy", "tests/test_session.py"),
    "mechanisms": ("tests/mechanisms", "tests/statistics"),
    "noise": ("tests/noise", "tests/statistics"),
    "privacy": ("tests/privacy",),
    "publish": ("tests/publish",),
    "report": ("tests/report", "tests/test_pages.py"),
    "schema": ("tests/schema",),
    "session": (
        "tests/test_session.py",
        "tests/contracts/test_queries.py",
        "tests/contracts/test_before_the_charge.py",
    ),
    "stores": ("tests/ledger", "tests/stores"),
    "stream": ("tests/stream",),
}
"""Which tests look at which package."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed file."""

    file: Path
    line: int
    what: str
    source: str


def places(file: Path) -> list[tuple[int, str]]:
    """Where a file can be changed, and how: the place of a node among those that matter, and the kind of change."""
    return [(place, what) for place, node in enumerate(_nodes(_tree(file))) for what in _changes(node)]


def mutant(file: Path, place: int, what: str) -> Mutant | None:
    """The file with that one change; None where it changes nothing."""
    tree = _tree(file)
    node = _nodes(tree)[place]
    before, line = ast.unparse(node), getattr(node, "lineno", 0)
    _apply(node, what)
    after = ast.unparse(node)
    return Mutant(file, line, f"{before[:60]}  ->  {after[:60]}", ast.unparse(tree)) if before != after else None


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _nodes(tree: ast.Module) -> list[ast.AST]:
    spoken = _words(tree)
    return [node for node in ast.walk(tree) if id(node) not in spoken]


def _words(tree: ast.AST) -> set[int]:
    """Nodes whose change is nobody's business: docstrings, annotations, messages, and what only type checkers read."""
    found: set[int] = set()
    for node in ast.walk(tree):
        quiet: list[ast.AST | None] = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            quiet.append(node)
        if isinstance(node, ast.AnnAssign | ast.arg):
            quiet.append(node.annotation)
        if isinstance(node, ast.FunctionDef):
            quiet.append(node.returns)
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            quiet.append(node)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            quiet.append(node)
        for one in quiet:
            if one is not None:
                found |= {id(inner) for inner in ast.walk(one)}
    return found


def _changes(node: ast.AST) -> list[str]:
    swapped = (
        (isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS)
        or (isinstance(node, ast.BinOp) and type(node.op) in SWAPS)
        or isinstance(node, ast.BoolOp)
    )
    if swapped:
        return ["swap"]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return ["drop"]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        return ["constant"]
    if isinstance(node, ast.If):
        return ["always", "never"]
    return ["leave out"] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else []


def _apply(node: ast.AST, what: str) -> None:
    if isinstance(node, ast.Compare) and what == "swap":
        node.ops = [SWAPS[type(node.ops[0])]()]  # type: ignore[list-item]
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)
    elif isinstance(node, ast.Constant):
        node.value = (not node.value) if isinstance(node.value, bool) else int(str(node.value)) + 1
    elif isinstance(node, ast.If):
        node.test = ast.Constant(value=what == "always")
    elif isinstance(node, ast.Expr):
        node.value = ast.Constant(value=None)


def chosen(many: int, seed: int, only: str) -> list[Mutant]:
    """A sample that is spread over the files: a file is drawn, then one of its mutants."""
    draw = random.Random(seed)  # noqa: S311 - nothing private is drawn
    files = [
        path
        for path in sorted(SRC.rglob("*.py"))
        if path.parent != SRC
        and path.name != "__init__.py"
        and "kernels" not in path.name
        and any(part in str(path) for part in only.split(","))
    ]
    pools = {path: places(path) for path in files}
    for pool in pools.values():
        draw.shuffle(pool)
    found: list[Mutant] = []
    while len(found) < many and any(pools.values()):
        draw.shuffle(files)
        made = [mutant(path, *pools[path].pop()) for path in files[: many - len(found)] if pools[path]]
        found += [one for one in made if one is not None]
    return found[:many]


Reach = dict[tuple[str, int], list[str]]
"""Which tests reach a line of a file, the shortest first."""


def reach(area: str, folder: Path, limit: int) -> Reach | None:
    """What the area's tests reach; None if one of them fails without any change: it would seem to kill every mutant."""
    kept = folder / f"{area}.json"
    if _judged([], _tests(area), folder, limit, kept) != "survived":
        return None
    told = json.loads(kept.read_text(encoding="utf-8"))
    found: Reach = {}
    for test, lines in sorted(told["lines"].items(), key=lambda one: told["seconds"].get(one[0], 0.0)):
        for file, line in lines:
            found.setdefault((file, line), []).append(test)
    return found


def _tests(area: str) -> list[str]:
    return [name for name in TESTS.get(area, ("tests/contracts",)) if (ROOT / name).exists()]


def verdict(changed: Mutant, folder: Path, limit: int, reached: Reach) -> str:
    """killed, survived, or slow: no verdict within the limit."""
    inside = changed.file.relative_to(SRC)
    place = folder / "src" / "wallflower" / inside
    honest = place.read_text(encoding="utf-8")
    place.write_text(changed.source, encoding="utf-8")
    try:
        tests = reached.get((str(inside), changed.line), [])
        return _judged(tests, _tests(inside.parts[0]), folder, limit, None)
    finally:
        place.write_text(honest, encoding="utf-8")


def _judged(chosen: list[str], all_of_them: list[str], folder: Path, limit: int, kept: Path | None) -> str:
    child = os.fork()
    if child == 0:
        try:
            code = _run(chosen, all_of_them, folder, kept)
        except BaseException:  # noqa: BLE001 - the child ends here, however it ends
            code = 1
        os._exit(code)
    until = time.monotonic() + limit
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "slow"


class _Chosen:
    """A plugin: only these tests, in this order."""

    def __init__(self, names: list[str]) -> None:
        self._rank = {name: rank for rank, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self._rank), key=lambda i: self._rank[i.nodeid])


class _Watched:
    """A plugin: which lines of the package each test reaches, and its seconds."""

    def __init__(self, folder: Path) -> None:
        from coverage import Coverage

        self._src = folder / "src" / "wallflower"
        self._seconds: dict[str, float] = {}
        self._coverage = Coverage(data_file=None, source=[str(self._src)], config_file=False)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(nodeid)

    def __enter__(self) -> Self:
        self._coverage.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._coverage.stop()

    def keep(self, file: Path) -> None:
        data = self._coverage.get_data()
        lines: dict[str, list[tuple[str, int]]] = {}
        for name in data.measured_files():
            for line, tests in data.contexts_by_lineno(name).items():
                for test in filter(None, tests):
                    lines.setdefault(test, []).append((str(Path(name).relative_to(self._src)), line))
        file.write_text(json.dumps({"lines": lines, "seconds": self._seconds}), encoding="utf-8")


def _run(chosen: list[str], all_of_them: list[str], folder: Path, kept: Path | None) -> int:
    """In the child: the tests against the changed copy, in silence."""
    os.setsid()
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silent, stream)
    os.environ |= {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder / "src"))
    os.chdir(ROOT)
    import pytest

    marks = "not slow and not statistics and not campaign"
    plain = ["-q", "-x", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", "-m", marks]
    if kept is not None:
        with _Watched(folder) as watched:
            code = int(pytest.main([*plain, *all_of_them], plugins=[watched]))
        watched.keep(kept)
        return code
    files = sorted({name.split("::")[0] for name in chosen})
    return int(pytest.main([*plain, *(files or all_of_them)], plugins=[_Chosen(chosen)] if chosen else []))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--many", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=180, help="seconds a mutant may take")
    parser.add_argument(
        "--only", default="", help="parts of paths, with commas: only files with one of them are changed"
    )
    parser.add_argument("--out", type=Path, help="a file for one line of JSON per mutant")
    asked = parser.parse_args()
    for heavy in (
        "numpy",
        "scipy.special",
        "numba",
        "pyarrow",
        "pandas",
        "pytest",
        "sqlalchemy",
        "ibis",
        "duckdb",
    ):
        __import__(heavy)
    counts = {"killed": 0, "survived": 0, "slow": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "src", folder / "src")
        known: dict[str, Reach | None] = {}
        for changed in sorted(chosen(asked.many, asked.seed, asked.only), key=lambda one: one.file):
            area = changed.file.relative_to(SRC).parts[0]
            if area not in known:
                known[area] = reach(area, folder, 20 * asked.limit)
            reached = known[area]
            if reached is None:
                print(f"{area}: its tests fail without any change", flush=True)
                continue
            found = verdict(changed, folder, asked.limit, reached)
            counts[found] += 1
            where = f"{changed.file.relative_to(SRC)}:{changed.line}"
            if asked.out is not None:
                line = json.dumps({"verdict": found, "where": where, "what": changed.what})
                with asked.out.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
            if found != "killed":
                print(f"{found:<9} {where}  {changed.what}", flush=True)
    print(", ".join(f"{number} {word}" for word, number in counts.items()))


if __name__ == "__main__":
    main()
