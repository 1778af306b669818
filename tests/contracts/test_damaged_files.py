"""A damaged file answers, or is refused before the charge; and what refuses it cannot be moved by what a row holds."""

from __future__ import annotations

import errno
import os
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.damaged_files import CANARY, DAMAGES, KINDS, Damage, Kind
from wallflower import errors
from wallflower.engines import examine, open_source
from wallflower.engines.duckdb import parquet_copy, sqlite_file, typed_files
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import PureDP
from wallflower.privacy.price import Price
from wallflower.schema import loads
from wallflower.session import Session

COLUMNS = ("x", "c", "d")
DECLARATION = f"""
[table]
id = "rows"
source = "SOURCE"
table = "t"
key = "k"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
ledger = "rows.ledger"
[budget.dp]
epsilon = "1000000"
[columns.x]
role = "sensitive"
lower = -5
upper = 5
step = "0.1"
bins = [-5, 0]
outside = "clip"
missing = "drop"
[columns.c]
role = "quasi-identifier"
values = ["{CANARY}-a", "{CANARY}-b", "other"]
outside = "other"
missing = "drop"
[columns.d]
role = "quasi-identifier"
lower = 1970-01-01
upper = 2020-01-01
bins = [1970-01-01]
outside = "clip"
missing = "drop"
"""


@dataclass(frozen=True, kw_only=True)
class Everything:
    """Reads every cell in most of the ways that there are, and says nothing."""

    name = "everything"
    columns: tuple[str, ...] = COLUMNS
    epsilon: str = "1"

    def price(self, declaration):
        guarantee = PureDP(epsilon=Fraction(self.epsilon), neighbours=declaration.neighbours)
        return Price(guarantee=guarantee, mechanism={"name": "none"})

    def prepare(self, rows, entropy):
        pass

    def run(self, rows, entropy):
        rows.fetch(numbers=COLUMNS, codes=COLUMNS)
        rows.record(f"{CANARY}-7")
        rows.between(["c"], "x", -10, 10)
        for _ in rows.stream(("x", "d"), by="x"):
            pass
        return {}

    def inspect(self, rows):
        return {}


@contextmanager
def sessions(kind: Kind) -> Iterator[tuple[Session, Session, Path]]:
    """Two sessions of one ledger on a file of this kind: one holds texts in memory, the other pushes every question down."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = kind.write(folder)
        text = DECLARATION.replace("SOURCE", path.name)
        declaration = loads(text if kind.table else text.replace('table = "t"\n', ""), folder=folder)
        Ledger.init(declaration)
        source = open_source(declaration)
        yield Session(declaration, source), Session(declaration, replace(source, held=0)), path


def spent(session: Session) -> int:
    return len(Ledger.open(session.declaration).history())


def told(error: BaseException) -> str:
    """What an error says, with everything behind it and in the frames that it came through."""
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


def outcome(session: Session) -> str:
    """"answered", charged once, or "refused", charged nothing; anything else fails the test."""
    before = session.budget.accounts[0].spent["epsilon"]
    try:
        session.release(Everything())
    except (errors.DeclarationError, errors.UsageError) as refused:
        assert refused.exit_code == 2
        assert CANARY not in str(refused)
        assert refused.__context__ is None
        assert session.budget.accounts[0].spent["epsilon"] == before
        return "refused"
    assert session.budget.accounts[0].spent["epsilon"] != before
    return "answered"


def hold(kind: Kind, examples: int) -> set[str]:
    """What came of so many damages of a file of this kind."""
    seen = set()
    with sessions(kind) as (held, pushed, path):
        content = path.read_bytes()

        @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
        @given(DAMAGES, st.booleans())
        def law(damages: list[Damage], down: bool) -> None:
            broken = content
            for damage in damages:
                broken = damage.of(broken)
            path.write_bytes(broken)
            seen.add(outcome(pushed if down else held))

        law()
        path.write_bytes(content)
        assert outcome(held) == outcome(pushed) == "answered"
    return seen


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_damaged_file_answers_or_is_refused_before_the_charge(kind):
    hold(kind, 10)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_damaged_file_answers_or_is_refused_before_the_charge_at_length(kind):
    assert "answered" in hold(kind, 1000)
