"""A damaged file answers, or is refused before the charge; and what refuses it cannot be moved by what a row holds."""

from __future__ import annotations

import errno
import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import TracebackException

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.damaged_files import CANARY, DAMAGES, KINDS, Damage, Kind, damaged
from wallflower import errors
from wallflower.engines import examine, open_source
from wallflower.engines.duckdb.typed_files import ParquetFile
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


def outcome(session: Session) -> str:
    """Answered and charged, or refused and charged nothing; anything else fails the test."""
    before, refused = charged(session), None
    try:
        session.release(Everything())
    except (errors.DeclarationError, errors.UsageError) as error:
        refused = error
    if refused is None:
        assert charged(session) == before + 1
        return "answered"
    assert refused.exit_code == 2
    assert CANARY not in str(refused)
    assert refused.__context__ is None
    assert charged(session) == before
    return "refused"


def charged(session: Session) -> Fraction:
    return Fraction(session.budget.accounts[0].spent["epsilon"])


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def damage_some(opened, data: st.DataObject) -> None:
    """Any damage to any of the files."""
    held, pushed, path = opened(data.draw(st.integers(0, len(KINDS) - 1)))
    whole = path.read_bytes()
    try:
        path.write_bytes(damaged(whole, data.draw(DAMAGES)))
        outcome(data.draw(st.sampled_from([held, pushed])))
    finally:
        path.write_bytes(whole)


def test_a_damaged_file_answers_or_is_refused_before_the_charge():
    with ExitStack() as stack:
        damage_some(cache(lambda at: stack.enter_context(sessions(KINDS[at]))))


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_any_damage_to_a_file_answers_or_is_refused_before_the_charge(kind):
    seen = set()
    with sessions(kind) as (held, pushed, path):
        whole = path.read_bytes()

        @settings(max_examples=1000, deadline=None, derandomize=True, database=None)
        @given(DAMAGES, st.sampled_from([held, pushed]))
        def law(damages: list[Damage], session: Session) -> None:
            path.write_bytes(damaged(whole, damages))
            seen.add(outcome(session))

        law()
    assert "answered" in seen
    assert "refused" in seen or kind.name in {"rows.csv", "rows.jsonl"}


PAGED = [kind for kind in KINDS if "snappy" in kind.name or kind.name in {"sqlite", "duckdb"}]
OVERWRITTEN = Damage("overwritten", 0.55, 1000, b"\xff")
"""In every kind of file where cells are, and neither names nor types."""


@pytest.mark.parametrize("kind", PAGED, ids=lambda kind: kind.name)
def test_pages_that_were_overwritten_are_found_before_the_charge_and_by_the_owner(kind):
    with sessions(kind) as (held, pushed, path):
        assert outcome(held) == outcome(pushed) == "answered"
        path.write_bytes(OVERWRITTEN.of(path.read_bytes()))
        held._source.verify(COLUMNS)  # names and types are still there
        for session in (held, pushed):
            assert outcome(session) == "refused"
        with pytest.raises(errors.DeclarationError, match="is damaged") as found:
            examine(held._source, held.declaration)
        assert CANARY not in "".join(TracebackException.from_exception(found.value).format())


def test_the_damaged_file_of_a_folder_is_named(tmp_path):
    kind = next(kind for kind in PAGED if "parquet" in kind.name)
    for name in ("a.parquet", "b.parquet"):
        kind.write(tmp_path).rename(tmp_path / name)
    (tmp_path / "b.parquet").write_bytes(OVERWRITTEN.of((tmp_path / "b.parquet").read_bytes()))
    source = open_source(loads(DECLARATION.replace("SOURCE", ".").replace('table = "t"\n', ""), folder=tmp_path))
    source.verify(COLUMNS)
    with pytest.raises(errors.DeclarationError, match=r"'b\.parquet' is damaged"):
        source.refuse_damage(COLUMNS)


def computed_in_sqlite(path: Path) -> None:
    """Two ways to compute a cell that fails for the row that holds the least number."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE plain (k, y, c, d)")
    connection.execute("INSERT INTO plain VALUES ('a', -9223372036854775808, 'b', '2000-01-01')")
    connection.execute("CREATE VIEW seen AS SELECT k, abs(y) AS x, c, d FROM plain")
    connection.execute("ALTER TABLE plain ADD COLUMN x AS (abs(y))")
    connection.commit()
    connection.close()


def computed_in_duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE plain AS SELECT 'a' AS k, 'b' AS c, DATE '2000-01-01' AS d")
        connection.execute("CREATE VIEW seen AS SELECT k, CAST(c AS INTEGER) AS x, c, d FROM plain")


@pytest.mark.parametrize(
    ("write", "table"), [(computed_in_sqlite, "seen"), (computed_in_sqlite, "plain"), (computed_in_duckdb, "seen")]
)
def test_what_is_computed_is_not_tried_because_it_may_fail_for_a_row(write, table, tmp_path):
    write(tmp_path / "rows.db")
    text = DECLARATION.replace("SOURCE", "rows.db").replace('table = "t"', f'table = "{table}"')
    source = open_source(loads(text, folder=tmp_path))
    source.refuse_damage(COLUMNS)
    with pytest.raises((errors.DeclarationError, errors.ReleaseFailed)), source.rows(COLUMNS) as rows:
        rows.fetch(numbers=COLUMNS)


SHORTAGES = [
    MemoryError(CANARY),
    OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), CANARY),
    duckdb.OutOfMemoryException(f"failed to allocate {CANARY}"),
    duckdb.IOException(f"Could not write {CANARY}: {os.strerror(errno.ENOSPC)}"),
]


@pytest.mark.parametrize("error", SHORTAGES, ids=lambda error: type(error).__name__)
def test_too_little_memory_or_room_is_told_as_such_and_costs_nothing(error, monkeypatch):
    def short(self, base, columns):
        raise error

    with sessions(KINDS[0]) as (held, _, _):
        monkeypatch.setattr(ParquetFile, "decode", short)
        assert outcome(held) == "refused"
        with pytest.raises(errors.UsageError, match="not enough memory, or not enough room") as told:
            held.release(Everything())
        assert CANARY not in "".join(TracebackException.from_exception(told.value).format())


def test_the_trial_keeps_to_the_memory_limit_of_the_reading(tmp_path):
    cells = pa.array(["a" * 3_000_000 + str(row) for row in range(4)])
    pq.write_table(
        pa.table({"k": cells, "x": [1.0] * 4, "c": cells, "d": [date(2000, 1, 1)] * 4}), tmp_path / "rows.parquet"
    )
    text = DECLARATION.replace("SOURCE", "rows.parquet").replace('table = "t"\n', "")
    source = open_source(loads(text, folder=tmp_path))
    source.refuse_damage(COLUMNS)
    with pytest.raises(errors.UsageError, match="not enough memory"):
        replace(source, memory_limit="4MiB").refuse_damage(COLUMNS)


BOUNDS = [("x", "<d", 1.25, 1e300), ("x", "<d", 1.25, -7e5), ("d", "<i", 10_959, 10**6), ("d", "<i", 10_959, -(2**31))]


@pytest.mark.parametrize(("column", "form", "stated", "held"), BOUNDS)
def test_bounds_that_a_footer_states_and_its_pages_do_not_keep_are_not_believed(column, form, stated, held, tmp_path):
    """DuckDB would leave out what clips to the declared domain where a file says that nothing lies beyond it."""
    usual = {"x": 1.5, "d": 10_958}
    cells = {name: [often] * 50 + [stated if name == column else often] + [often] * 50 for name, often in usual.items()}
    days = pa.array(cells["d"], pa.int32()).cast(pa.date32())
    whole = pa.table({"k": ["a"] * 101, "x": cells["x"], "c": ["b"] * 101, "d": days})
    path = tmp_path / "rows.parquet"
    pq.write_table(whole, path, compression="none", use_dictionary=False)
    content, beside = path.read_bytes(), struct.pack(form, usual[column])
    place = content.index(beside + struct.pack(form, stated) + beside) + len(beside)
    path.write_bytes(content[:place] + struct.pack(form, held) + content[place + len(beside) :])
    declaration = loads(DECLARATION.replace("SOURCE", path.name).replace('table = "t"\n', ""), folder=tmp_path)
    domain = declaration.column(column).domain
    source = replace(open_source(declaration), held=0)
    source.refuse_damage(COLUMNS)
    with source.rows(COLUMNS) as rows:
        seen = set(rows.fetch(numbers=(column,)).numbers[:, 0].tolist())
    assert len(seen) == 2
    assert all(domain.first <= number <= domain.last for number in seen)
