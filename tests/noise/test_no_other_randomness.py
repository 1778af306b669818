"""Noise has one source: no file of the package but `noise/entropy.py` asks for randomness that could reach an answer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
SOURCE = SRC / "wallflower" / "noise" / "entropy.py"
DEMO_DATA = "demo/made_up_*.py"  # invents rows to show, from a fixed seed; a row that nobody owns is no noise
NO_NOISE = {
    "ledger/events.py": {"secrets"},  # salts, so that nobody guesses a question from a hash
    "stores/postgresql.py": {"secrets"},  # the number of a connection's advisory lock
    "service/passwords.py": {"urandom"},  # salts, tokens, ids of requests
}
"""Files that ask for random bits which never touch an answer, and what they may ask."""
FORBIDDEN_MODULES = {"random", "secrets", "numpy.random", "scipy.stats.sampling", "cupy.random", "opendp"}
FORBIDDEN_NAMES = {
    "urandom",
    "getrandom",
    "default_rng",
    "RandomState",
    "SystemRandom",
    "rvs",
    "token_bytes",
    "random_state",
}


def offences(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [
                node.module or "",
                *(f"{node.module}.{alias.name}" for alias in node.names),
                *(alias.name for alias in node.names),
            ]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node), node.attr] if node.attr in FORBIDDEN_NAMES or _is_numpy_random(node) else []
        elif isinstance(node, ast.keyword):
            names = [node.arg or ""]
        else:
            continue
        found += [
            f"line {node.lineno}: {name}"
            for name in names
            if name in FORBIDDEN_NAMES
            or any(name == module or name.startswith(module + ".") for module in FORBIDDEN_MODULES)
            or _numpy_random_text(name)
        ]
    return found


def _is_numpy_random(node: ast.Attribute) -> bool:
    return _numpy_random_text(ast.unparse(node))


def _numpy_random_text(text: str) -> bool:
    return any(text == start or text.startswith(start + ".") for start in ("np.random", "numpy.random", "xp.random"))


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda path: str(path.relative_to(SRC)))
def test_no_file_but_the_source_asks_for_randomness(path):
    if path == SOURCE:
        assert [line.split(": ")[1] for line in offences(path.read_text(encoding="utf-8"))] == ["urandom"]
    elif path.relative_to(SRC / "wallflower").match(DEMO_DATA):
        seeded = {"np.random.default_rng", "default_rng", "np.random", "np.random.Generator"}
        assert [line for line in offences(path.read_text(encoding="utf-8")) if line.split(": ")[1] not in seeded] == []
    else:
        allowed = NO_NOISE.get(str(path.relative_to(SRC / "wallflower")), set())
        found = {line.split(": ")[1].split(".")[0] for line in offences(path.read_text(encoding="utf-8"))}
        assert found <= allowed | ({"os"} if "urandom" in allowed else set())


@pytest.mark.parametrize(
    "planted",
    [
        "import random",
        "from random import gauss",
        "import secrets",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\nnp.random.laplace()",
        "import numpy\nnumpy.random.default_rng(0)",
        "import os\nos.urandom(4)",
        "from os import urandom",
        "from scipy import stats\nstats.laplace.rvs()",
        "Model(random_state=0)",
    ],
)
def test_a_planted_source_is_found(planted):
    assert offences(planted)


def test_samplers_are_imported_by_mechanisms_and_audit_alone():
    allowed = {"noise", "mechanisms", "audit"}
    for path in sorted((SRC / "wallflower").rglob("*.py")):
        area = path.relative_to(SRC / "wallflower").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            for module in modules:
                if module.startswith("wallflower.noise") and module != "wallflower.noise.entropy":
                    assert area in allowed, f"{path.relative_to(SRC)} imports {module}: only mechanisms draw"
