"""Change one small thing of `src` at a time and see whether a test notices: `python scripts/mutations.py --many 200`.

Each mutant is one node of one syntax tree: a comparison, a sign, a constant, a condition, a call that is left out. The tests of the
changed file's package run against a copy of `src`, in a child forked from a process that has already loaded the heavy libraries,
and stop at the first failure or after `--limit` seconds. A mutant that no test notices is printed with its line. It is not part of
`make test`; `make campaign` runs a short one.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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


def mutants(file: Path) -> Iterator[Mutant]:
    """Every mutant of a file, in reading order."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    spoken = _words(tree)
    places = [node for node in ast.walk(tree) if id(node) not in spoken]
    for place, node in enumerate(places):
        for what in _changes(node):
            changed = copy.deepcopy(tree)
            words = _words(changed)
            twin = [one for one in ast.walk(changed) if id(one) not in words][place]
            before = ast.unparse(node)
            _apply(twin, what)
            after = ast.unparse(twin)
            if before != after:
                line = getattr(node, "lineno", 0)
                yield Mutant(file, line, f"{before[:60]}  ->  {after[:60]}", ast.unparse(changed))


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
    pools = {path: list(mutants(path)) for path in files}
    for pool in pools.values():
        draw.shuffle(pool)
    found: list[Mutant] = []
    while len(found) < many and any(pools.values()):
        draw.shuffle(files)
        found += [pools[path].pop() for path in files if pools[path]]
    return found[:many]


def verdict(mutant: Mutant, folder: Path, limit: int) -> str:
    """killed, survived, or slow: no verdict within the limit."""
    place = folder / "src" / "wallflower" / mutant.file.relative_to(SRC)
    honest = place.read_text(encoding="utf-8")
    place.write_text(mutant.source, encoding="utf-8")
    try:
        return _tested(mutant, folder, limit)
    finally:
        place.write_text(honest, encoding="utf-8")


def _tested(mutant: Mutant, folder: Path, limit: int) -> str:
    area = mutant.file.relative_to(SRC).parts[0]
    tests = [name for name in TESTS.get(area, ("tests/contracts",)) if (ROOT / name).exists()]
    child = os.fork()
    if child == 0:
        try:
            code = _run(tests, folder)
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


def _run(tests: list[str], folder: Path) -> int:
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
    return int(pytest.main([*plain, *tests]))


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
        honest: dict[str, bool] = {}
        for mutant in chosen(asked.many, asked.seed, asked.only):
            area = mutant.file.relative_to(SRC).parts[0]
            if area not in honest:  # tests that fail without a change would seem to kill every one
                honest[area] = _tested(mutant, folder, 10 * asked.limit) == "survived"
                if not honest[area]:
                    print(f"the tests of {area} fail without any change; its mutants are left out", flush=True)
            if not honest[area]:
                continue
            found = verdict(mutant, folder, asked.limit)
            counts[found] += 1
            where = f"{mutant.file.relative_to(SRC)}:{mutant.line}"
            if asked.out is not None:
                line = json.dumps({"verdict": found, "where": where, "what": mutant.what})
                with asked.out.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
            if found != "killed":
                print(f"{found:<9} {where}  {mutant.what}", flush=True)
    print(", ".join(f"{number} {word}" for word, number in counts.items()))


if __name__ == "__main__":
    main()
