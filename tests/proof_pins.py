"""The pin of a proof: twelve hex digits of the code it is about. `python -m tests.proof_pins` prints every current pin.

The pin is over the syntax tree without docstrings, so rewording or reformatting keeps it and a changed formula breaks it. Empty
fields are left out, because which ones exist differs between versions of Python.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"
CODE = re.compile(r"^Code: `(?P<name>[\w.]+)`(?: at (?P<pin>\S+))?", re.MULTILINE)


def proofs() -> Iterator[tuple[Path, str, str]]:
    """(file, dotted name, stated pin) for each `Code:` line of each Markdown file beside the code."""
    for path in sorted(SRC.rglob("*.md")):
        for line in CODE.finditer(path.read_text(encoding="utf-8")):
            yield path, line["name"], line["pin"] or ""


def pin(dotted: str, src: Path = SRC) -> str:
    """The pin of a function, class or method named as `package.module.Name`."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        base = src.joinpath(*parts[:cut])
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file() and cut < len(parts):
                return pin_of_source(file.read_text(encoding="utf-8"), parts[cut:])
    raise LookupError(f"no module for {dotted}")


def pin_of_source(source: str, path: list[str]) -> str:
    node: ast.AST = ast.parse(source)
    for name in path:
        node = _named(node, name)
    return hashlib.sha256(_dump(node).encode()).hexdigest()[:12]


def _named(node: ast.AST, name: str) -> ast.AST:
    for child in getattr(node, "body", []):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and child.name == name:
            return child
        targets = child.targets if isinstance(child, ast.Assign) else [getattr(child, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return child
    raise LookupError(f"no {name} there")


def _dump(value: object) -> str:
    if isinstance(value, ast.AST):
        fields = [(name, child) for name, child in ast.iter_fields(value) if child is not None and child != []]
        return f"{type(value).__name__}({', '.join(f'{name}={_dump(child)}' for name, child in fields)})"
    if isinstance(value, list):
        return f"[{', '.join(_dump(child) for child in value if not _is_docstring(child))}]"
    return repr(value)


def _is_docstring(node: object) -> bool:
    """A string that stands alone says something to people only, under a field as well as at the top."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


if __name__ == "__main__":
    for path, name, stated in proofs():
        current = pin(name)
        print(f"{current} {'' if current == stated else '(stale) '}{name}  {path.relative_to(SRC.parent)}")  # noqa: T201
