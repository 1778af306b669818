"""What is said to Spark and understood of it, without one."""

from __future__ import annotations

from types import SimpleNamespace

import duckdb
import ibis
import pytest

from wallflower.engines.dialect import Dialect
from wallflower.engines.reading_rule import Kind
from wallflower.engines.spark.catalogue import kinds
from wallflower.engines.spark.dialect import SparkDialect
from wallflower.errors import DeclarationError


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
