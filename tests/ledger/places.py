"""Where a ledger may be: every test that takes `place` runs on a SQLite file and on a PostgreSQL server."""

from __future__ import annotations

import uuid
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.declared import declare
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import PureDP
from wallflower.schema.declaration import Budget

STORES = ["sqlite", "postgresql"]
COUNT = {"command": "count", "columns": ["x"]}


def pure(epsilon: str, **other: str) -> PureDP:
    return PureDP(epsilon=Fraction(epsilon), neighbours="add-remove", **other)


@pytest.fixture(params=STORES)
def declared(request, tmp_path):
    """A declaration whose ledger is a file, or a table of its own on the server."""
    made = declare(tmp_path, budgets={"dp": Budget(epsilon=Fraction(4))})
    if request.param == "sqlite":
        return made
    running = request.getfixturevalue("server")
    name = "ledgers"
    if not running.execute("SELECT 1 FROM pg_database WHERE datname = 'ledgers'"):
        running.execute(f"CREATE DATABASE {name}")
    return replace(made, id=f"t{uuid.uuid4().hex}", ledger=running.address(name))


@pytest.fixture
def ledger(declared):
    Ledger.init(declared)
    return Ledger.open(declared)
