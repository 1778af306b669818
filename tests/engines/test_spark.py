"""Spark on two threads of this machine: the same rule, the same answers, one snapshot."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.contracts.engine_reference import Reference, agree
from tests.contracts.engine_sources import categories, dates, declare, numbers
from tests.contracts.test_engines import DAYS, INTEGERS, MOMENTS, REALS, text_table
from tests.servers.spark import session
from wallflower.engines import open_source
from wallflower.engines.dialect import Dialect
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Becomes

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
X = numbers(edges=(-10, 0, 3))


def from_spark(table: pa.Table, declaration, folder):
    session()
    pq.write_table(table, folder / "rows.parquet", coerce_timestamps="us")
    return open_source(replace(declaration, source="spark:", source_table=str(folder / "rows.parquet")))


def test_text_cells_are_read_by_the_rule(tmp_path):
    declaration = declare(X, categories(), dates())
    reference = Reference(declaration, ("x", "c", "d"), text_table().to_pylist())
    with from_spark(text_table(), declaration, tmp_path).rows(("x", "c", "d")) as rows:
        agree(rows, reference, by=["c", "d"], metric="x", centres=(3,), keys=["1", "3", "05", "ключ"], sides=(2,))


def test_typed_cells_are_read_by_the_rule(tmp_path):
    decimals = [
        Decimal(text) for text in ("0.05", "-0.05", "0.15", "99999999.99", "-5.04", "3.00", "2.50", "0.25", "4.95", "0")
    ]
    table = pa.table(
        {
            "k": pa.array(range(10)),
            "i": pa.array(INTEGERS),
            "r": pa.array(REALS),
            "e": pa.array(decimals, pa.decimal128(12, 2)),
            "b": pa.array([True, False, None] * 3 + [True]),
            "d": pa.array(DAYS),
            "m": pa.array(MOMENTS, pa.timestamp("us")),
            "c": pa.array(REALS),
        }
    )
    columns = (
        numbers("i"), numbers("r"), numbers("e", edges=(0,)), categories("b", ("true", "false")), dates("d", missing=Becomes(0)),
        dates("m", missing=Becomes(0)), categories("c", ("5", "-0.05", "x"), outside=Becomes(2)),
    )  # fmt: skip
    declaration, names = declare(*columns), tuple(column.name for column in columns)
    with from_spark(table, declaration, tmp_path).rows(names) as rows:
        agree(
            rows,
            Reference(declaration, names, table.to_pylist()),
            by=["b", "c"],
            metric="r",
            centres=(0,),
            keys=["3"],
            sides=(1,),
        )


def test_a_release_sees_one_state_and_leaves_the_session_as_it_was(tmp_path):
    spark = session()
    spark.conf.set("spark.sql.session.timeZone", "America/Lima")
    before = {view.name for view in spark.catalog.listTables()}
    source = from_spark(pa.table({"x": [1.0] * 20}), declare(X, key=None), tmp_path)
    with source.rows(("x",)) as rows:
        pq.write_table(pa.table({"x": [2.0] * 5}), tmp_path / "rows.parquet")
        assert rows.fetch(numbers=("x",)).numbers.tolist() == [[10]] * 20
        assert rows.cells(["x"], "x", 0).counts.sum() == 20
    assert spark.conf.get("spark.sql.session.timeZone") == "America/Lima"
    assert {view.name for view in spark.catalog.listTables()} == before


def test_what_cannot_be_read_is_refused_by_name_or_type(tmp_path):
    source = from_spark(pa.table({"x": [[1]], "c": [b"a"]}), declare(X, categories(), key=None), tmp_path)
    for name in ("x", "c"):
        with pytest.raises(DeclarationError, match=f"'{name}' has a type"):
            source.verify((name,))
    with pytest.raises(DeclarationError, match="no table or Parquet"):
        open_source(replace(declare(X, key=None), source="spark:", source_table="none.such")).verify(("x",))


@pytest.mark.parametrize("name", ["bigquery", "snowflake"])
def test_the_common_expressions_compile_for_other_warehouses(name):
    """Compiled, and no more: nobody has run them there."""
    import ibis

    from wallflower.engines import expressions
    from wallflower.engines.reading_rule import Kind, rule_for

    class Other(Dialect):
        pass

    Other.name = name
    cells = ibis.table({"x": "string", "c": "string", "d": "date"}, name="staged")
    for column, kind in ((X, Kind.TEXT), (categories(), Kind.TEXT), (dates(), Kind.DATE)):
        value, readable = expressions.prepared(cells[column.name], rule_for(column, kind), Other())
        settled = expressions.settled(value, readable, rule_for(column, kind), Other())
        assert "SELECT" in Other().compiled(cells.select(n=settled))
