"""The owner's look: the same true numbers from every engine."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from tests.contracts.engine_reference import Reference, found
from tests.contracts.engine_sources import (
    EVERYWHERE,
    categories,
    dates,
    declare,
    from_arrow,
    from_csv,
    from_parquet,
    numbers,
)
from tests.contracts.test_engines import TEXT_ROWS, text_table
from wallflower.engines import describe, examine
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Becomes, Drop


@pytest.mark.parametrize("place", EVERYWHERE, ids=lambda make: make.__name__)
def test_examine_counts_what_the_rule_finds(place, tmp_path):
    declaration = declare(numbers(missing=Becomes(0)), categories(), dates(), max_rows=10)
    seen = examine(place(text_table(), declaration, tmp_path), declaration)
    rows = text_table().to_pylist()
    told = json.loads(json.dumps(seen.to_json()))
    for name, column in declaration.columns.items():
        states = [found(row[name], column) for row in rows]
        numbers_ = told["columns"][name]
        assert numbers_["missing"] == states.count("missing")
        assert numbers_["unreadable"] == states.count("unreadable")
        assert numbers_["outside"] == states.count("below") + states.count("above")
        assert numbers_["clipped"] == (0 if isinstance(column.outside, Drop) else numbers_["outside"])
    assert told["rows"] == len(rows)
    assert told["rows_that_leave"] == len(rows) - len(Reference(declaration, tuple("xcd"), rows).rows)
    assert told["repeated_keys"] == 1
    assert told["rows_without_key"] == 2
    assert any("more than max_rows = 10" in line for line in seen.lines())
    assert [row[0] for row in seen.table()] == ["x", "c", "d"]


@pytest.mark.parametrize("place", [from_csv, from_parquet], ids=lambda make: make.__name__)
def test_describe_tells_names_kinds_and_few_values(place, tmp_path):
    source = place(text_table(), declare(), tmp_path)
    seen = {column.name: column for column in describe(source.declaration.source)}
    assert list(seen) == ["k", "x", "c", "d"]
    assert seen["x"].kind == "text"
    assert seen["x"].values is None
    assert seen["c"].values == tuple(sorted({row[2] for row in TEXT_ROWS if row[2]}))


@pytest.mark.parametrize("place", [from_arrow, from_csv], ids=lambda make: make.__name__)
def test_a_table_without_a_key_misses_and_repeats_none(place, tmp_path):
    declaration = declare(numbers(missing=Becomes(0)), key=None)
    seen = examine(place(text_table(), declaration, tmp_path), declaration).to_json()
    assert (seen["rows"], seen["repeated_keys"], seen["rows_without_key"]) == (len(TEXT_ROWS), 0, 0)


@pytest.mark.parametrize("content", ["", "\n", "\ufeff"])
def test_an_empty_file_is_called_empty_and_not_broken(content, tmp_path):
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    with pytest.raises(DeclarationError, match=r"'t\.csv' is empty"):
        describe(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a,b\n", encoding="utf-8")
    assert [column.name for column in describe(tmp_path / "t.csv")] == ["a", "b"]


def test_describe_reads_what_every_cell_can_be(tmp_path):
    (tmp_path / "t.csv").write_text("i,r,d,b,t,e\n1,1.5,2020-01-01,true,x,\n-2,1e3,2020-01-02,false,y,\n,,,,,\n")
    kinds = [column.kind for column in describe(tmp_path / "t.csv")]
    assert kinds[:5] == ["integer", "real", "date", "boolean", "text"]
    (tmp_path / "t.jsonl").write_text('{"b": 1, "a": "x"}\n{"a": true, "c": [1]}\n')
    assert [column.name for column in describe(tmp_path / "t.jsonl")] == ["a", "b", "c"]


def test_every_leaf_in_which_a_hierarchy_differs_is_named(tmp_path):
    (tmp_path / "c.csv").write_text("a;any\nx;any\nb;any\ny;any\n", encoding="utf-8")
    column = replace(categories("c", values=("a", "b", "3", "4")), hierarchy="c.csv")
    whole = replace(categories("d", values=("a", "b")), hierarchy={"both": ["a", "b"]})
    declaration = declare(column, whole, key=None, path=tmp_path / "t.toml")
    table = pa.table({"c": ["a"], "d": ["b"]})
    seen = examine(from_arrow(table, declaration, tmp_path), declaration)
    assert list(seen.hierarchy_lines()) == [
        'c: declared, and no leaf of its hierarchy: "3", "4"',
        'c: not declared, and a leaf of its hierarchy: "x", "y"',
    ]
    told = seen.to_json()["columns"]
    assert told["c"]["hierarchy"] == {"not_covered": ["3", "4"], "not_declared": ["x", "y"]}
    assert "hierarchy" not in told["d"]
    gone = replace(declaration, columns={"c": replace(column, hierarchy="gone.csv")})
    (line,) = examine(from_arrow(table, gone, tmp_path), gone).hierarchy_lines()
    assert "cannot be read" in line
