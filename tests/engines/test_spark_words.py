"""What is said to Spark and understood of it, without one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import duckdb
import ibis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.engine_sources import categories, declare, numbers
from wallflower.engines.dialect import Dialect
from wallflower.engines.duckdb.database import database
from wallflower.engines.duckdb.source import DuckSource
from wallflower.engines.reading_rule import Kind
from wallflower.engines.spark import parts, session
from wallflower.engines.spark.catalogue import kinds
from wallflower.engines.spark.dialect import SparkDialect
from wallflower.engines.spark.rows import SparkRows
from wallflower.errors import DeclarationError, UsageError


def frame(**types):
    fields = [
        SimpleNamespace(name=name, dataType=SimpleNamespace(simpleString=lambda t=t: t)) for name, t in types.items()
    ]
    return SimpleNamespace(columns=list(types), schema=SimpleNamespace(fields=fields))


def test_types_are_known_by_their_first_word_and_others_are_refused():
    found = kinds(frame(a="decimal(38,2)", b="string collate UNICODE", c="bigint", d="binary"), ["c", "a", "b"])
    assert found == {"c": Kind.INTEGER, "a": Kind.DECIMAL, "b": Kind.TEXT}
    with pytest.raises(DeclarationError, match="'d'"):
        kinds(frame(c="bigint", d="binary"), ["c", "d"])


@pytest.mark.parametrize(
    ("value", "infinite"), [("Infinity", True), ("-Infinity", True), ("1.5", False), ("NaN", False)]
)
def test_infinite_is_infinite(value, infinite):
    """Every database has equality; DuckDB is here to be asked."""
    asked = Dialect().compiled(SparkDialect().is_infinite(ibis.literal(value).cast("float64")).name("found"))
    assert duckdb.sql(asked).fetchone() == (infinite,)


@settings(max_examples=15)
@given(st.lists(st.integers(-3, 12), min_size=1, max_size=40))
def test_range_after_range_every_row_comes_once_and_ascending(values):
    """The declared domain is cut to its last value, whatever lies at its ends; DuckDB is here to be asked."""
    with pytest.MonkeyPatch.context() as patch, database() as base:
        patch.setattr(parts, "AT_A_TIME", 3)
        patch.setattr(parts, "CELLS", 4)
        base.define(
            "kept",
            "SELECT * FROM (VALUES " + ", ".join(f"({each})" for each in values) + ") AS kept(v)",
            {"v": "int64"},
        )
        ends = list(parts.ranges(base, base.table("kept"), "v", -3, 12))
        assert [value for low, high in ends for value in range(low, high + 1)] == list(range(-3, 13))
        held = [[each for each in values if low <= each <= high] for low, high in ends]
        assert all(len(rows) <= 3 or len(set(rows)) == 1 for rows in held)
        found = parts.in_ranges(base, base.table("kept"), ["v"], "v", (-3, 12))
        assert [
            v for rows in found for (v,), n in zip(rows.numbers.tolist(), rows.times, strict=True) for _ in range(n)
        ] == sorted(values)


def test_a_stream_of_ranges_is_of_the_views_columns_alone(tmp_path):
    """Refused in words before anything is asked; DuckDB is here to be asked."""
    path = tmp_path / "rows.csv"
    path.write_text("k,x,c\n1,2,a\n2,-1,b\n3,2,a\n")
    declaration = replace(declare(numbers(step="1"), categories()), source=path)
    with DuckSource(declaration).open(("x",)) as asked:
        rows = SparkRows(asked.view, asked.base, asked.needed, asked.places)
        found = [(each.numbers.tolist(), each.times.tolist()) for each in rows.stream(["x"])]
        assert found == [([[-1], [2]], [1, 2])]
        for ask in (lambda: rows.stream(["c"]), lambda: rows.stream(["x"], by="c")):
            with pytest.raises(UsageError, match="not part of this view"):
                next(ask())


def test_a_session_that_runs_elsewhere_is_not_taken(monkeypatch):
    """A process has one session, and Spark would hand it out whatever address was asked for."""
    running = SimpleNamespace(sparkContext=SimpleNamespace(master="local[2]"))
    monkeypatch.setattr(session, "_running", lambda: running)
    assert session.session_at("spark:") is running
    assert session.session_at("local[2]") is running
    with pytest.raises(DeclarationError, match=r"is not at 'spark://elsewhere:7077'"):
        session.session_at("spark://elsewhere:7077")
    monkeypatch.setattr(session, "_running", lambda: None)
    with pytest.raises(DeclarationError, match="the session that is running, and none is"):
        session.session_at("spark:")
