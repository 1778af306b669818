"""A folder of files is one table, or refused: the same answers as from one file, a person in two files included."""

from dataclasses import replace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.contracts.people_reference import PeopleReference
from tests.contracts.test_people import READ, ROWS, people, table_of
from wallflower.engines import describe, open_source
from wallflower.errors import DeclarationError


def written(folder, tables, ending):
    folder.mkdir()
    for at, table in enumerate(tables):
        place = folder / f"part-{at}.{ending}"
        if ending == "parquet":
            pq.write_table(table, place)
        else:
            rows = [table.column_names, *([cell or "" for cell in row.values()] for row in table.to_pylist())]
            text = "\n".join(",".join(row) for row in rows) + "\n"
            place.write_bytes(text.encode("latin-1" if at else "utf-8", "replace"))
    return folder


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_people_may_lie_in_several_files(tmp_path, ending):
    readable = [row for row in ROWS if "\ufffd" not in (row[0] or "")]
    folder = written(tmp_path / "rows", [table_of(readable[::2]), table_of(readable[1::2])], ending)
    (folder / "_SUCCESS").touch()
    (folder / ".hidden.txt").write_text("no rows")
    declaration = replace(people(x="sum", read=READ), source=folder)
    reference = PeopleReference(declaration, ("x", "c", "d", "n"), table_of(readable).to_pylist())
    source = open_source(declaration)
    source.verify(("x",))
    with source.rows(("x", "c", "d", "n")) as rows:
        assert sorted(rows.fetch(numbers=("x", "c", "d", "n")).numbers.tolist()) == sorted(
            reference.numbers(("x", "c", "d", "n"))
        )
        assert dict(rows.record("P2").numbers) == reference.record("P2")[0]
    assert [column.name for column in describe(folder)] == ["k", "x", "c", "d", "t"]


def test_files_that_disagree_are_refused_by_name(tmp_path):
    first = pa.table({"k": ["a"], "x": [1]})
    cases = {
        "names": pa.table({"k": ["a"], "y": [1]}),
        "order": pa.table({"x": [1], "k": ["a"]}),
        "types": pa.table({"k": ["a"], "x": [1.5]}),
    }
    for name, other in cases.items():
        folder = written(tmp_path / name, [first, other], "parquet")
        with pytest.raises(DeclarationError, match=r"'part-1.parquet' is not as 'part-0.parquet'"):
            open_source(replace(people(), source=folder)).verify(("x",))


@pytest.mark.parametrize("content", [(), ("a.csv", "b.parquet"), ("a.csv", "sub/"), ("a.json",)], ids=str)
def test_what_is_no_folder_of_files_is_refused(tmp_path, content):
    folder = tmp_path / "rows"
    folder.mkdir()
    for name in content:
        (folder / name).mkdir() if name.endswith("/") else (folder / name).write_text("k,x\na,1\n")
    with pytest.raises(DeclarationError, match="is not a folder of CSV files"):
        open_source(replace(people(), source=folder)).verify(("x",))


def test_names_are_no_patterns(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "a[1].csv").write_text("k,x,c,d,t\nP,1,a,,\n")
    (folder / "a1.csv").write_text("k,x,c,d,t\nP,2,a,,\n")
    with open_source(replace(people(x="sum"), source=folder)).rows(("x", "n")) as rows:
        assert rows.fetch(numbers=("x", "n")).numbers.tolist() == [[6, 2]]


def test_a_spreadsheet_says_how_to_export_it(tmp_path):
    (tmp_path / "rows.xlsx").write_bytes(b"PK")
    with pytest.raises(DeclarationError, match="is a spreadsheet"):
        open_source(replace(people(), source=tmp_path / "rows.xlsx")).verify(("x",))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_open_folder_reaches_nothing_but_its_files(tmp_path, ending):
    folder = written(tmp_path / "rows", [table_of(ROWS[:2]), table_of(ROWS[2:4])], ending)
    (tmp_path / "other.csv").write_text("x\n2\n")
    with open_source(replace(people(x="sum", read=READ), source=folder)).open(("x",)) as rows:
        for statement in (
            f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')",
            f"ATTACH '{tmp_path / 'new.duckdb'}'",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                rows.base.run(statement)
