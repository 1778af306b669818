"""The shape of the source: no import cycle, however hidden; no file too long to read; no room that is not on the map."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "wallflower"
MOST_LINES = 400
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports(known: dict[str, str]) -> dict[str, set[str]]:
    """Module by module what it imports: at the top, inside functions and for type checkers alone."""
    graph: dict[str, set[str]] = {}
    for name, text in known.items():
        graph[name] = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module:
                wholes = [f"{node.module}.{alias.name}" for alias in node.names]
                graph[name] |= {whole if whole in known else node.module for whole in wholes}
            elif isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names}
        graph[name] &= known.keys() - {name}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[str]:
    """What is left when modules that import nothing that is left are taken away again and again."""
    left = {name: set(others) for name, others in graph.items()}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    # Whoever imports a cycle is left too: take away what nobody left imports.
    while heads := [name for name in left if not any(name in others for others in left.values())]:
        for name in heads:
            del left[name]
    return sorted(left)


def test_no_module_imports_itself_by_way_of_others():
    """Front pages count like any other file: a room does not ask the front page of its own house, which names its rooms."""
    assert cycles(imports({name: path.read_text(encoding="utf-8") for name, path in modules().items()})) == []


@pytest.mark.parametrize(
    "hidden", ["import a", "def f():\n    from a import x", "if TYPE_CHECKING:\n    from a import X"]
)
def test_a_hidden_cycle_would_be_found(hidden):
    assert cycles(imports({"a": "import b", "b": hidden, "c": "import a"})) == ["a", "b"]


def test_no_file_is_too_long_to_read():
    folders = (SOURCE, *(ROOT / name for name in ("tests", "benchmarks", "experiments", "scripts")))
    files = [path for folder in folders for path in folder.rglob("*.py")]
    long = {str(path.relative_to(ROOT)): lines for path in files if (lines := _lines(path)) > MOST_LINES}
    assert long == {}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_folder_holds_one_file():
    folders = {path.parent for path in modules().values()} - {SOURCE}
    assert [str(folder.relative_to(SOURCE)) for folder in sorted(folders) if len(list(folder.glob("*.py"))) < 2] == []


def test_every_package_is_on_the_map_and_in_the_drawing():
    drawing = MAP.split("```")[1]
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    listed = set(re.findall(r"^- `(\w+)`", MAP, flags=re.MULTILINE))
    assert packages - listed == set()
    assert packages - set(re.findall(r"\w+", drawing)) == set()
    drawn = {name for line in drawing.strip().splitlines() for name in re.split(r"\s{2,}", line)[0].split(" | ")}
    assert {name for name in listed | drawn if not _found(name) and not _found(f"{name}.py")} == set()


def test_the_drawing_is_the_layers_that_are_held():
    """From the top down, strangers side by side: what `lint-imports` holds is what a reader is shown."""
    drawn = [re.split(r"\s{2,}", line)[0].split(" | ") for line in MAP.split("```")[1].strip().splitlines()]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    held = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert [sorted(names) for names in drawn] == [
        sorted(name.strip().removeprefix("wallflower.") for name in layer.split("|")) for layer in held
    ]


def test_every_part_of_the_package_has_a_layer():
    """A file beside the packages is a layer too; the front page and `python -m` stand above all."""
    drawn = set(re.findall(r"\w+", " ".join(re.split(r"\s{2,}", line)[0] for line in MAP.split("```")[1].splitlines())))
    parts = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert parts - {"__init__", "__main__"} == drawn


def test_everything_the_map_names_is_there():
    """A name in backquotes with a slash or an ending is a file or folder of the project, or of the package."""
    named = set(re.findall(r"`([\w./-]+)`", MAP))
    places = {name for name in named if "/" in name or re.search(r"\.(py|md|toml|txt|sh)$", name)}
    assert places
    missing = [name for name in sorted(places) if not _found(name)]
    assert missing == []


def _found(name: str) -> bool:
    return any((base / name).exists() for base in (ROOT, SOURCE)) or any(SOURCE.glob(f"*/{name}"))


def test_every_page_that_the_source_names_is_there():
    """A proof is looked for under the name that the code gives it."""
    pages = {path.name for folder in (SOURCE, ROOT / "docs", ROOT / "experiments") for path in folder.rglob("*.md")}
    pages |= {path.name for path in ROOT.glob("*.md")}
    named = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in modules().values()
        for name in re.findall(r"\b(\w+\.md)\b", path.read_text(encoding="utf-8"))
        if name not in pages
    }
    assert named == set()


RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_everything_a_recipe_names_is_there():
    """But for the newcomer's own files, which hold NAME or AREA."""
    named = {
        name for name in re.findall(r"`([\w./-]+)`", RECIPES) if "/" in name or name.endswith((".py", ".md", ".toml"))
    }
    assert {name for name in named if not re.search("NAME|AREA", name) and not _found(name)} <= {
        "rows.py",
        "dialect.py",
    }
    assert "src/wallflower/detectors/NAME.py" in named


def test_every_recipe_ends_in_one_command():
    recipes = RECIPES.split("## Recipes")[1].split("## Rules")[0].split("\n- **")[1:]
    assert len(recipes) >= 6
    for recipe in recipes:
        assert re.search(r"Then `pytest [^`]*NAME", recipe), recipe[:60]


def late_writes(text: str) -> list[int]:
    """Lines that write into an object past its own lock: `object.__setattr__` once it is made, its `__dict__` ever."""
    late = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        making = function.name in {"__post_init__", "__init__"}
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                late += [node.lineno] if ast.unparse(node.func) == "object.__setattr__" and not making else []
                late += [node.lineno] if _is_inside(node.func.value) and node.func.attr in CHANGES else []
            targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [getattr(node, "target", None)]
            late += [node.lineno for each in targets if isinstance(each, ast.Subscript) and _is_inside(each.value)]
    return late


CHANGES = {"update", "setdefault", "pop", "clear", "__setitem__"}


def _is_inside(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "__dict__") or (
        isinstance(node, ast.Call) and ast.unparse(node.func) == "vars"
    )


def test_frozen_things_are_written_to_only_while_they_are_made():
    """`Field.__set__` is how a dataclass writes its own fields, once."""
    late = {
        str(path.relative_to(SOURCE)): lines
        for path in modules().values()
        if (lines := late_writes(path.read_text(encoding="utf-8")))
    }
    field = (SOURCE / "schema" / "fields.py").read_text(encoding="utf-8").splitlines()
    assert {name: len(lines) for name, lines in late.items()} == {"schema/fields.py": 1}
    assert field[late["schema/fields.py"][0] - 2].strip().startswith("def __set__(")


@pytest.mark.parametrize(
    "write",
    [
        "object.__setattr__(self, 'a', 1)",
        "self.__dict__['a'] = 1",
        "other.__dict__.update(a=1)",
        "vars(self)['a'] = 1",
        "del vars(self)['a']",
    ],
)
def test_a_late_write_would_be_found(write):
    assert late_writes(f"def informed(self):\n    {write}") == [2]


def test_what_promises_cannot_be_changed_afterwards():
    """Promises, mechanisms, detectors and questions are frozen values; state has its home in loops and journals."""
    packages = (
        "audit",
        "count",
        "detectors",
        "explain",
        "geometry",
        "identify",
        "mechanisms",
        "noise",
        "privacy",
        "session",
    )
    loose = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path in modules().values()
        if path.relative_to(SOURCE).parts[0] in packages
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
        if (said := ast.unparse(decorator)).startswith("dataclass") and "frozen=True" not in said
    ]
    assert loose == []
