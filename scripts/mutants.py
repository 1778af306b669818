"""Small changes of `src`, one node of one syntax tree each: `scripts/mutations.py` judges them.

A comparison, a sign, a constant, a condition, a bound turned round, two arguments exchanged, a call or a step of a sum that is left
out. Kernels are not changed: what is compiled is kept between runs, and the slow twin of each is asked for the same answers.
"""

from __future__ import annotations

import ast
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "wallflower"

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip

RENAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}

ORDERED_BY_TYPE = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "cast"}
"""Calls whose arguments nobody exchanges unnoticed."""


@dataclass(frozen=True)
class Mutant:
    """One changed file."""

    file: Path
    place: int
    kind: str
    line: int
    what: str
    function: range | None
    """The lines of the outermost function whose body holds the change; None where it is run on import."""
    tree: ast.Module
    """With the lines of the honest file."""

    @property
    def inside(self) -> str:
        """The file, as seen from the package."""
        return str(self.file.relative_to(SRC))

    @property
    def area(self) -> str:
        return self.file.relative_to(SRC).parts[0].removesuffix(".py")

    @property
    def where(self) -> str:
        return f"{self.inside}:{self.line}"


def places(file: Path, lines: Container[int] | None = None) -> list[tuple[int, str]]:
    """Where a file can be changed, and how: the place of a node among those that matter, and the kind of change; all of
    them where no lines are named.
    """
    nodes = enumerate(_nodes(_tree(file)))
    wanted = [(place, node) for place, node in nodes if lines is None or getattr(node, "lineno", 0) in lines]
    return [(place, kind) for place, node in wanted for kind in _changes(node)]


def mutant(file: Path, place: int, kind: str) -> Mutant | None:
    """The file with that one change; None where it changes nothing."""
    tree = _tree(file)
    node = _nodes(tree)[place]
    function = _function_around(tree, node)
    before, line = ast.unparse(node), getattr(node, "lineno", 0)
    _apply(node, kind)
    after = ast.unparse(node)
    if before == after:
        return None
    what = f"{before[:80]}  ->  {after[:80]}".replace("\n", " ")
    return Mutant(file, place, kind, line, what, function, ast.fix_missing_locations(tree))


def chosen(many: int, seed: int, only: str, since: str = "") -> list[Mutant]:
    """A sample that is spread over the files: a file is drawn, then one of its mutants; with `since` a revision, only of
    lines that are new or other since then.
    """
    draw = random.Random(seed)  # noqa: S311 - nothing private is drawn
    files = [
        path
        for path in sorted(SRC.rglob("*.py"))
        if path.name not in {"__init__.py", "__main__.py", "version.py"}
        and "kernels" not in path.name
        and any(str(path.relative_to(SRC)).startswith(start) for start in only.split(","))
    ]
    new = _new_lines(since) if since else None
    pools = {path: places(path, None if new is None else new.get(path, set())) for path in files}
    for pool in pools.values():
        draw.shuffle(pool)
    found: list[Mutant] = []
    while len(found) < many and any(pools.values()):
        draw.shuffle(files)
        made = [mutant(path, *pools[path].pop()) for path in files[: many - len(found)] if pools[path]]
        found += [one for one in made if one is not None]
    return found[:many]


def _new_lines(since: str) -> dict[Path, set[int]]:
    """Which lines of which files of the working tree a revision does not have."""
    options = ("--unified=0", "--no-color", "--no-ext-diff", "--dst-prefix=b/")
    git = ["git", "-C", str(ROOT), "diff", *options, since, "--", str(SRC)]
    told = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    found: dict[Path, set[int]] = defaultdict(set)
    file = SRC
    for line in told.splitlines():
        if line.startswith("+++ "):
            file = ROOT / line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, many = int(hunk[1]), int(hunk[2] or 1)
            found[file] |= set(range(first, first + many))
    return found


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
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            quiet.append(node.returns)
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            quiet.append(node)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            quiet.append(node)
        for one in quiet:
            if one is not None:
                found |= {id(inner) for inner in ast.walk(one)}
    return found


def _function_around(tree: ast.Module, wanted: ast.AST) -> range | None:
    for function in ast.walk(tree):  # from the outside in
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            body = [function.body] if isinstance(function, ast.Lambda) else function.body
            if any(node is wanted for part in body for node in ast.walk(part)):
                return range(function.lineno, (function.end_lineno or function.lineno) + 1)
    return None


def _changes(node: ast.AST) -> list[str]:
    swapped = (
        (isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS)
        or (isinstance(node, ast.BinOp) and type(node.op) in SWAPS)
        or isinstance(node, ast.BoolOp)
        or (isinstance(node, ast.Call) and _name(node.func) in RENAMES)
    )
    if swapped:
        return ["swap"]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return ["drop"]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        return ["constant"]
    if isinstance(node, ast.If | ast.IfExp):
        return ["always", "never"]
    if isinstance(node, ast.Call) and len(node.args) > 1 and _name(node.func) not in ORDERED_BY_TYPE:
        return [] if any(isinstance(one, ast.Starred) for one in node.args[:2]) else ["exchange"]
    left_out = isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return ["leave out"] if left_out else []


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _apply(node: ast.AST, kind: str) -> None:
    if isinstance(node, ast.Compare):
        node.ops = [SWAPS[type(node.ops[0])]()]  # type: ignore[list-item]
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Call):
        _call_otherwise(node, kind)
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)
        else:
            node.op = ast.UAdd()
    elif isinstance(node, ast.Constant):
        node.value = _other(node.value)
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.Constant(value=kind == "always")
    elif isinstance(node, ast.Expr):
        node.value = ast.Constant(value=None)
    elif isinstance(node, ast.AugAssign):
        node.op, node.value = ast.Mult(), ast.Constant(value=1)


def _call_otherwise(node: ast.Call, kind: str) -> None:
    if kind == "exchange":
        node.args[:2] = node.args[1::-1]
    elif isinstance(node.func, ast.Attribute):
        node.func.attr = RENAMES[node.func.attr]
    else:
        node.func = ast.Name(RENAMES[_name(node.func)], ast.Load())


def _other(value: object) -> bool | int | float:
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return value * 2 if value else 0.5
    return int(str(value)) + 1
