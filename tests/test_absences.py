"""Invariants written as absences: what must not be imported, loaded or used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "wallflower"
FILES = sorted(SOURCE.rglob("*.py"))

HEAVY = {
    "numpy", "scipy", "numba", "pandas", "polars", "pyarrow", "duckdb", "ibis", "sqlalchemy", "typer", "click", "rich",
    "matplotlib", "jinja2", "dp_accounting", "paho", "dbscan", "sklearn", "opendp",
    "psycopg", "pyspark", "cryptography", "cupy", "starlette", "uvicorn", "joserfc",
}  # fmt: skip

HOMES = {
    "ibis": ["engines/"],
    "duckdb": ["engines/"],
    "psycopg": ["engines/", "stores/"],
    "pyspark": ["engines/"],
    "cupy": ["explain/gpu/cuda.py"],
    "sqlalchemy": ["stores/"],
    "dp_accounting": ["privacy/accountants.py"],
    "matplotlib": ["report/"],
    "jinja2": ["report/"],
    "cryptography": ["report/signature.py"],
    "paho": ["stream/mqtt.py"],
    "dbscan": ["detectors/dbscan.py"],
    "sklearn": ["detectors/dbscan.py"],
    "rich": ["cli/"],
    "typer": ["cli/"],
    "click": ["cli/"],
    "starlette": ["service/web/"],
    "uvicorn": ["service/web/"],
    "joserfc": ["service/web/openid.py"],
    "tomllib": ["schema/"],
    "sqlite3": ["stores/", "stream/book.py", "stream/book_file.py", "engines/duckdb/sqlite_file.py"],
}
"""Where each is used, and nowhere else. TOML has one front end; a sensor's book says itself why it is no ledger."""


@cache
def imported(path: Path) -> frozenset[str]:
    """Every module a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def calls(path: Path, *words: str) -> Iterator[ast.Call]:
    """Every call in a file of something whose last name is one of these; a file that holds none of them is not even parsed."""
    if any(word in text_of(path) for word in words):
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.Call) and last_name(node) in words:
                yield node


def last_name(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, wallflower; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "wallflower" in loaded
    assert not HEAVY & set(loaded)


@pytest.mark.parametrize("library", sorted(HOMES))
def test_each_library_has_one_home(library):
    strangers = [
        str(path.relative_to(SOURCE))
        for path in FILES
        if any(name.split(".")[0] == library for name in imported(path))
        and not any(str(path.relative_to(SOURCE)).startswith(home) for home in HOMES[library])
    ]
    assert strangers == []


def test_numba_is_found_in_kernel_files_alone_and_compiles_through_one_decorator():
    users = {str(path.relative_to(SOURCE)) for path in FILES if "numba" in {n.split(".")[0] for n in imported(path)}}
    assert {user for user in users if "kernels" not in Path(user).name} == {"compiling.py"}
    own = {"numba.njit", "numba.jit", "numba.vectorize", "numba.guvectorize", "numba.generated_jit", "numba.cfunc"}
    assert [str(path) for path in FILES if own & imported(path)] == []


def test_what_a_kernel_is_made_of_stands_in_kernel_files():
    """The key of compiled code is a digest of these files: a constant from elsewhere would go stale in it."""
    strangers = {
        str(path.relative_to(SOURCE)): outside
        for path in FILES
        if "kernels" in path.name
        and (
            outside := {
                name
                for name in imported(path)
                if name.startswith("wallflower.") and "kernels" not in name and "wallflower.compiling" not in name
            }
        )
    }
    assert strangers == {}


def test_nothing_but_the_two_doors_opens_rows():
    """`engines` make views and may open their own; the doors are the only callers of `source.rows(...)`."""
    openers = {
        str(path.relative_to(SOURCE))
        for path in FILES
        for node in calls(path, "rows")
        if isinstance(node.func, ast.Attribute)
    }
    assert {name for name in openers if not name.startswith("engines/")} == {
        "session/owner_door.py",
        "session/release_door.py",
    }


def test_nothing_but_the_door_of_askers_looks_for_damage():
    """It reads rows before a charge, so whoever else asked for it would read them for nothing; `check` is the owner's."""
    lookers = {str(path.relative_to(SOURCE)) for path in FILES for _ in calls(path, "refuse_damage")}
    assert lookers == {"engines/base.py", "engines/profile.py", "session/release_door.py"}


def test_no_source_is_opened_but_by_the_session():
    """Whoever holds a source could open it: sources are made in `engines` and `session` alone."""
    strangers = [
        str(path.relative_to(SOURCE))
        for path in FILES
        if makes_sources(text_of(path)) and not str(path.relative_to(SOURCE)).startswith(("engines/", "session/"))
    ]
    assert strangers == []


MAKERS = {"open_source", "from_frame"}


def makes_sources(text: str) -> bool:
    """Whether a maker of sources is imported, from wherever, or reached for in a module."""
    if not any(maker in text for maker in MAKERS):
        return False
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wallflower.engines"):
            if MAKERS & {alias.name for alias in node.names}:
                return True
        elif isinstance(node, ast.Attribute) and node.attr in MAKERS:
            return True
    return False


@pytest.mark.parametrize(
    "hidden",
    [
        "from wallflower.engines import open_source",
        "def look(declaration):\n    from wallflower.engines.registry import open_source as begin",
        "from wallflower import engines\nengines.from_frame(frame, declaration)",
    ],
)
def test_a_source_opened_elsewhere_would_be_found(hidden):
    assert makes_sources(hidden)


def test_samplers_are_used_by_mechanisms_and_audits_alone():
    """`noise.entropy` is a type that anyone may name; everything else in `noise` draws."""
    allowed = ("noise/", "mechanisms/", "audit/")
    strangers = {}
    for path in FILES:
        where = str(path.relative_to(SOURCE))
        samplers = {
            name
            for name in imported(path)
            if name.startswith("wallflower.noise.") and not name.startswith("wallflower.noise.entropy")
        }
        if samplers and not where.startswith(allowed):
            strangers[where] = samplers
    assert strangers == {}


def test_there_is_one_written_form():
    """Whoever sorts the names of a JSON text means one text for one value: fingerprints, ids and comparisons ask `canonical`."""
    others = [
        str(path.relative_to(SOURCE))
        for path in FILES
        if "sort_keys" in text_of(path)
        for node in ast.walk(ast.parse(text_of(path)))
        if isinstance(node, ast.Call) and any(given.arg == "sort_keys" for given in node.keywords)
    ]
    assert others == ["schema/canonical.py"]


def test_one_place_connects_to_what_this_package_keeps_in_sqlite():
    """There it is said that a commit is on disk; a book in memory and somebody else's rows are no ledger."""
    callers = {
        str(path.relative_to(SOURCE))
        for path in FILES
        for node in calls(path, "connect")
        if ast.unparse(node.func) == "sqlite3.connect"
    }
    assert callers == {"stores/durable_file.py", "stream/book_file.py", "engines/duckdb/sqlite_file.py"}


def test_there_is_one_atomic_writer():
    """A file that is put in place whole is put there by `atomic_file`; a new ledger is linked, since a rename would replace one."""
    movers = {"os.replace", "os.rename", "os.link", "shutil.move", "tempfile.mkstemp", "tempfile.NamedTemporaryFile"}
    found = {
        f"{path.relative_to(SOURCE)}: {ast.unparse(node.func)}"
        for path in FILES
        for node in calls(path, *(name.rpartition(".")[2] for name in movers))
        if ast.unparse(node.func) in movers
    }
    assert found == {"atomic_file.py: tempfile.mkstemp", "stores/sqlite.py: os.link"}


WRITERS = {
    "atomic_file.py": {"os.open", "os.fdopen"},
    "stores/sqlite.py": {"os.open"},  # makes the ledger that the driver then writes
    "stream/book_file.py": {"os.open"},  # a sensor's book, the same
    "stream/broker.py": {"write_text"},  # read when the broker starts, by another user
    "engines/duckdb/csv_file.py": {"open"},  # a copy in a private folder that goes with the reading
}
"""Who else writes a file, and why a half one does no harm or cannot be."""


def writes(node: ast.Call) -> bool:
    if last_name(node) in {"write_text", "write_bytes"}:
        return True
    called = ast.unparse(node.func)
    flags = " ".join(ast.unparse(given) for given in (*node.args, *(given.value for given in node.keywords)))
    if called == "os.open":
        return "os.devnull" not in flags and any(flag in flags for flag in ("O_CREAT", "O_WRONLY", "O_RDWR", "O_TRUNC"))
    return called.rpartition(".")[2] in {"open", "fdopen"} and any(
        isinstance(given, ast.Constant) and re.fullmatch("[wax]b?[+]?|[wax][+]b", str(given.value))
        for given in (*node.args, *(given.value for given in node.keywords))
    )


def test_whoever_writes_a_file_writes_it_whole():
    found: dict[str, set[str]] = {}
    for path in FILES:
        for node in calls(path, "write_text", "write_bytes", "open", "fdopen"):
            if writes(node):
                name = ast.unparse(node.func)
                where = str(path.relative_to(SOURCE))
                found.setdefault(where, set()).add(name if name.startswith("os.") else name.rpartition(".")[2])
    assert {where: calls for where, calls in found.items() if not where.startswith("demo/")} == WRITERS
