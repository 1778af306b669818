"""Every source is a total function, row by row: no record makes reading fail, and none changes how another is read."""

from __future__ import annotations

import os
import re
import sys
import traceback
from dataclasses import replace
from decimal import Decimal
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.contracts.engine_sources import categories, dates, declare, numbers
from tests.contracts.hostile_files import BROKEN_ARRAYS, CASES, bytes_as_text, parquet_files
from wallflower.engines import examine, from_frame, open_source
from wallflower.engines.arrow_cells import unfolded
from wallflower.engines.duckdb.source import DuckSource
from wallflower.engines.memory.dialect import read
from wallflower.engines.reading_rule import Kind, rule_for
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Becomes, Reading

X = numbers("x", missing=Becomes(-7), edges=(0,))
C = categories("c", ("a", "b", "other"), outside=Becomes(2), missing=Becomes(1))
D = dates("d", missing=Becomes(0))
COLUMNS = ("x", "c", "d")


def opened(path, table=None, *columns):
    declaration = declare(*(columns or (X, C, D)), key=None)
    return open_source(replace(declaration, source=path, source_table=table))


def test_there_are_enough_of_them_and_of_every_format():
    assert len({case.name for case in CASES}) == len(CASES) >= 200
    assert {case.name.split()[0] for case in CASES} >= {"csv", "json", "jsonl", "sqlite", "parquet", "duckdb"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_hostile_record_is_a_row_and_changes_no_other(case, tmp_path):
    few = opened(case.write(tmp_path), case.table)
    source = replace(few, held=0) if isinstance(few, DuckSource) else few
    source.verify(COLUMNS)
    source.refuse_damage(COLUMNS)  # reads every cell before the charge: no value may make it fail
    with source.rows(COLUMNS) as rows, few.rows(COLUMNS) as in_memory:
        first, *between, last = rows.fetch(numbers=COLUMNS).numbers.tolist()
        assert in_memory.fetch(numbers=COLUMNS).numbers.tolist() == [first, *between, last]
        if CASES.index(case) % 8 == 0:  # they are read by the same expressions
            assert rows.cells(["c"], "x", 0).counts.sum() == len(between) + 2
            assert rows.nearest(["c", "x"], "x", 3, 2).multiplicities.sum() == len(between) + 2
    good = [10 if case.name.startswith(("duckdb HUGE", "duckdb UHUGE", "duckdb DECIMAL")) else 15, 0, 10_958]
    assert first == last == good
    assert len(between) == case.rows
    assert all(-50 <= x <= 50 and 0 <= c <= 2 and -2 <= d <= 18_321 for x, c, d in between)


@pytest.mark.parametrize("content", BROKEN_ARRAYS)
def test_an_array_whose_records_cannot_be_told_apart_is_refused_before_the_charge(content, tmp_path):
    (tmp_path / "rows.json").write_bytes(content)
    with pytest.raises(DeclarationError, match="no whole array"):
        opened(tmp_path / "rows.json").refuse_damage(COLUMNS)
    # `wallflower check` says so too, and counts no half of it.
    with pytest.raises(DeclarationError, match="no whole array"):
        examine(opened(tmp_path / "rows.json"), declare(X, C, D, key=None))


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl"])
def test_how_deep_a_record_may_nest_does_not_depend_on_who_asks(name, tmp_path):
    """Python reads as many brackets as its stack has room for, which is less inside a service or a notebook."""
    nested = ["[" * depth + "]" * depth for depth in (1, 198, 199, 200, 450, 900, 960)] + ['"' + "[" * 5_000 + '"']
    records = [f'{{"z": {each}, "x": 1.5}}' for each in nested]
    text = "\n".join(records) if name == "rows.jsonl" else f"[{', '.join(records)}]"
    (tmp_path / name).write_text(text)

    def found(calls: int) -> list[list[int]]:
        if calls:
            return found(calls - 1)
        with opened(tmp_path / name, None, X).rows(("x",)) as rows:
            return rows.fetch(numbers=("x",)).numbers.tolist()

    near, far = found(0), found(500)
    assert near == far == [[15], [15], [15], [-7], [-7], [-7], [-7], [15]]


def test_texts_that_are_none_are_unreadable_in_parquet_as_in_memory(tmp_path):
    cells = bytes_as_text(b"b\xff")
    assert read(cells, rule_for(C, Kind.TEXT)).states.tolist() == [0, 4, 0]
    case = next(case for case in parquet_files() if case.name == "parquet bytes 0")
    with opened(case.write(tmp_path)).rows(COLUMNS) as rows:
        assert rows.fetch(numbers=("c",)).numbers.tolist() == [[0], [1], [0]]


TEXTS = (pa.string(), pa.large_string(), pa.string_view())


@pytest.mark.parametrize("type_", TEXTS, ids=str)
@pytest.mark.parametrize("more", [0, 300])
def test_a_dictionary_is_read_as_the_texts_it_stands_for(type_, more, tmp_path):
    """Also where it holds words that no cell has, nothing, and bytes that are no text."""
    words = pa.array(["1", None, "b", "a", "2000-01-02", *map(str, range(2, 2 + more))]).cast(type_)
    places = pa.array([0, 1, None, 2, 3, 4, 0], pa.int64())
    plain = pa.array(["1", None, None, "b", "a", "2000-01-02", "1"])
    for column in (X, C, D):
        folded = pa.table({column.name: pa.DictionaryArray.from_arrays(places, words)})
        found = [
            from_frame(table, declare(column, key=None)).open((column.name,)).fetch(numbers=(column.name,)).numbers
            for table in (folded, folded.slice(0), pa.table({column.name: plain}))
        ]
        assert found[0].tolist() == found[1].tolist() == found[2].tolist()
    assert (
        from_frame(pa.table({"c": pa.chunked_array([], pa.dictionary(pa.int8(), type_))}), declare(C, key=None))
        .open(("c",))
        .fetch(numbers=("c",))
        .numbers.tolist()
        == []
    )


@pytest.mark.parametrize("type_", TEXTS, ids=str)
def test_ids_and_moments_may_be_words_of_a_dictionary(type_):
    ids = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None]), pa.array(["p", "q"]).cast(type_))
    days = pa.DictionaryArray.from_arrays(pa.array([1, 0, 0, 1]), pa.array(["2000-01-01", "2000-01-02"]).cast(type_))
    people: dict = {"unit": "person", "person": "p", "rows_per_person": 1, "time": "t"}
    declaration = declare(X, key="p", **people)
    with from_frame(pa.table({"p": ids, "t": days, "x": [1, 2, 3, 4]}), declaration).rows(("x",)) as rows:
        assert sorted(rows.fetch(numbers=("x",)).numbers[:, 0].tolist()) == [20, 30]


def test_words_of_a_dictionary_are_spelt_out_with_room_and_other_values_as_they_are():
    for type_ in (pa.string(), pa.string_view(), pa.large_string()):
        words = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["a", "b"], type_))
        assert unfolded(words).equals(pa.array(["b", "a", None], pa.large_string()))
    numbers = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array([7, 8]))
    assert unfolded(numbers).equals(pa.array([8, 7]))


def test_a_long_word_of_a_dictionary_may_stand_in_many_cells():
    """Spelt out they would be more than two gibibytes, which Arrow's usual texts cannot hold."""
    words = pa.array(["a" * 3_000, "b"])
    table = pa.table(
        {"c": pa.DictionaryArray.from_arrays(pa.array(np.arange(800_000) % 1_000 == 7).cast(pa.int8()), words)}
    )
    with from_frame(table, declare(C, key=None)).rows(("c",)) as rows:
        assert np.bincount(rows.fetch(numbers=("c",)).numbers[:, 0]).tolist() == [0, 800, 799_200]


@pytest.mark.parametrize("middle", [b"b", b"\xff"])
@pytest.mark.parametrize("held", [1000, 0])
def test_a_name_that_stands_twice_is_refused_in_parquet_as_in_memory(middle, held, tmp_path):
    """Whatever a cell holds: it was refused where a text was none, and the first column read where all were texts."""
    twice = pa.Table.from_arrays([bytes_as_text(middle), pa.array(list("bbb"))], ["c", "c"])
    pq.write_table(twice, tmp_path / "rows.parquet")
    for source in (
        replace(opened(tmp_path / "rows.parquet", None, C), held=held),
        from_frame(twice, declare(C, key=None)),
    ):
        with pytest.raises(DeclarationError, match="several columns named 'c'"):
            source.verify(("c",))


@pytest.mark.parametrize("middle", [b"b", b"\xff"])
@pytest.mark.parametrize("held", [1000, 0])
def test_names_that_differ_in_case_are_two_columns_in_parquet_as_in_memory(middle, held, tmp_path):
    small, large, other = (categories(name, ("a", "b"), missing=Becomes(1)) for name in ("c", "C", "c_1"))
    cells = {"C": pa.array(list("bbb")), "c": bytes_as_text(middle), "c_1": pa.array(list("aaa"))}
    declaration = declare(small, large, other, key=None)
    pq.write_table(pa.table(cells), tmp_path / "rows.parquet")
    in_file = replace(opened(tmp_path / "rows.parquet", None, small, large, other), held=held)
    for source in (in_file, from_frame(pa.table(cells), declaration)):
        source.verify(("c", "C", "c_1"))
        with source.rows(("c", "C", "c_1")) as rows:
            assert rows.fetch(numbers=("c", "C", "c_1")).numbers.tolist() == [[0, 1, 0], [1, 1, 0], [0, 1, 0]]


def test_a_field_within_a_column_says_nothing_about_another_column(tmp_path):
    wide = pa.array([{"x": Decimal(1)}] * 2, pa.struct([("x", pa.decimal256(50, 2))]))
    pq.write_table(pa.table({"inner": wide, "x": [1.5, 1.5]}), tmp_path / "rows.parquet")
    with opened(tmp_path / "rows.parquet", None, X).rows(("x",)) as rows:
        assert rows.fetch(numbers=("x",)).numbers.tolist() == [[15], [15]]


@pytest.mark.parametrize("dtype", [object, "string[python]"])
def test_half_a_letter_in_a_frame_spoils_its_own_cell(dtype):
    """Arrow cannot hold it, whichever way pandas holds texts; the other cells are read as ever."""
    frame = pd.DataFrame(
        {"x": pd.Series(["1", "\ud800", "2"], dtype=dtype), "c": pd.Series(["a", "b", "\udc80"], dtype=dtype)}
    )
    with from_frame(frame, declare(X, C, key=None)).rows(("x", "c")) as rows:
        assert rows.fetch(numbers=("x", "c")).numbers.tolist() == [[10, 0], [-7, 1], [20, 1]]


@pytest.mark.parametrize(
    "encoding", ["utf-7", "utf-16", "utf-32", "cp1252", "shift_jis", "hz", "iso2022_jp", "utf-8-sig"]
)
def test_bytes_that_an_encoding_has_no_letter_for_spoil_their_own_cell(tmp_path, encoding):
    """Half a letter, which UTF-7 can spell alone, and bytes that are none."""
    hostile = b"+2AA-" if encoding == "utf-7" else b"\x81\x00\xd8\xff"
    begins = "x,c\n1.5,a\n1.5,b".encode(encoding)
    ends = "\n1.5,a\n".encode(encoding)[len("".encode(encoding)) :]  # without a second mark
    (tmp_path / "rows.csv").write_bytes(begins + hostile + ends)
    source = open_source(
        replace(declare(X, C, key=None), source=tmp_path / "rows.csv", read=Reading(encoding=encoding))
    )
    source.verify(("x", "c"))
    with source.rows(("x", "c")) as rows:
        found = rows.fetch(numbers=("x", "c")).numbers.tolist()
    assert found[0] == [15, 0]
    assert len(found) >= 2


@pytest.mark.parametrize("held", [100_000, 0])
@pytest.mark.parametrize("first", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_a_line_whatever_the_first_one_is(tmp_path, first, held):
    """One file a case would be slow: every mix of line ends stands between two rows of one file."""
    mixes = ["".join(ends) for length in (1, 2, 3, 4) for ends in product("\r\n", repeat=length)]
    path = tmp_path / "rows.csv"
    for names, blank in (("x,c", False), ("x", True)):  # a blank line of a single column is an empty cell
        path.write_bytes((names + first + "2.5".join(["", *mixes, first])).encode())
        declaration = replace(declare(X, key=None), source=path)
        with DuckSource(declaration, held=held).rows(("x",)) as rows:
            found = rows.fetch(numbers=("x",)).numbers[:, 0].tolist()
        blanks = [len(re.findall("\r\n|\r|\n", mix)) - 1 if blank else 0 for mix in mixes]
        assert found == [each for more in blanks for each in [25, *[-7] * more]] + [25]


def test_a_name_that_no_pattern_can_spell_is_refused_before_a_row_is_read(tmp_path):
    place = tmp_path / "a\\[1]"
    place.mkdir()
    for name in ("rows.csv", "rows.jsonl"):
        (place / name).write_text("x\n1.5\n")
        with pytest.raises(DeclarationError, match=r"a backslash beside one of"):
            opened(place / name, None, X).verify(("x",))
    elsewhere = tmp_path / os.fsdecode(b"\xff.csv")
    elsewhere.write_text("x\n1.5\n")
    with pytest.raises(DeclarationError, match="not UTF-8, and DuckDB reads no other"):
        opened(elsewhere, None, X).verify(("x",))
    (tmp_path / "a\\b.csv").write_text("x\n1.5\n")
    with opened(tmp_path / "a\\b.csv", None, X).rows(("x",)) as rows:
        assert rows.fetch(numbers=("x",)).numbers.tolist() == [[15]]


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NFC", "NOCASE.NOACCENT"])
@pytest.mark.parametrize("table", ["t", "seen"])
def test_texts_are_compared_letter_by_letter_whatever_a_column_says_of_their_order(collation, table, tmp_path):
    path, words = tmp_path / "rows.duckdb", ("a", "A", "\u00e1", "\u00e9", "e\u0301")
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t (c VARCHAR COLLATE {collation})")
        connection.executemany("INSERT INTO t VALUES (?)", [[word] for word in words])
        connection.execute("CREATE VIEW seen AS SELECT c FROM t")
    column = categories("c", ("\u00e9", "a", "other"), outside=Becomes(2))
    declaration = replace(declare(column, key="c"), source=path, source_table=table)
    for held in (1000, 0):
        with replace(open_source(declaration), held=held).rows(("c",)) as rows:
            assert rows.fetch(numbers=("c",)).numbers.tolist() == [[1], [2], [2], [0], [2]]
            assert [rows.record(word).codes["c"] for word in words] == [1, 2, 2, 0, 2]


def test_an_unclosed_quote_in_a_header_leaves_no_row_in_the_frames_of_its_error(tmp_path):
    canary, here = "canary-6172", sys._getframe()
    (tmp_path / "rows.csv").write_text(f'x,"c\n1,{canary}\n2,"b\n')
    for ask in ("verify", "rows"):
        with pytest.raises(DeclarationError) as caught:
            getattr(opened(tmp_path / "rows.csv", None, X, C), ask)(("x", "c")).__enter__()
        held = [repr(frame.f_locals) for frame, _ in traceback.walk_tb(caught.tb) if frame is not here]
        assert len(held) > 2
        assert canary not in "".join(held) + str(caught.value)


def test_files_of_a_folder_that_disagree_leave_no_row_in_the_frames_of_their_error(tmp_path):
    """A file without a line of names begins with a row."""
    canary, here = "canary-6172", sys._getframe()
    (tmp_path / "a.csv").write_text(f"x,c\n1,{canary}\n")
    (tmp_path / "b.csv").write_text(f"1,{canary}\n2,b\n")
    (tmp_path / "c.csv").write_text(f"3,{canary}\n")
    for names in (("a.csv", "b.csv"), ("b.csv", "c.csv")):
        folder = tmp_path / names[0][0]
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes((tmp_path / name).read_bytes())
        with pytest.raises(DeclarationError, match="disagree about the names") as caught:
            opened(folder, None, X, C).verify(("x", "c"))
        held = [repr(frame.f_locals) for frame, _ in traceback.walk_tb(caught.tb) if frame is not here]
        assert len(held) > 2
        assert canary not in "".join(held) + str(caught.value)


@pytest.mark.parametrize("type_", ["Int128", "UInt128"])
def test_an_integer_type_that_arrow_lacks_is_refused_by_its_name(type_):
    frame = pl.DataFrame({"x": pl.Series([1], dtype=getattr(pl, type_, pl.Object), strict=False)})
    with pytest.raises(DeclarationError, match="column 'x' has a type"):
        from_frame(frame, declare(X, key=None)).verify(("x",))


MOMENTS = [
    -(2**63),
    -(2**63) + 1,
    -(2**63) + 2,
    2**63 - 1,
    -86_400 * 10**9 - 1,
    -86_400 * 10**9,
    -1_000,
    -999,
    -1,
    0,
    1,
    None,
]


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("of", [MOMENTS, []], ids=["moments", "none"])
@pytest.mark.parametrize("format_", ["parquet", "folder", "duckdb"])
def test_the_last_nanosecond_of_a_day_is_of_that_day(zone, of, format_, tmp_path):
    """DuckDB cuts what is less than a microsecond off, towards 1970."""
    table = pa.table({"d": pa.array(of, pa.int64()).cast(pa.timestamp("ns", zone))})
    path = tmp_path / "rows.parquet"
    if format_ == "duckdb":
        path, table = tmp_path / "rows.duckdb", table.cast(pa.schema([("d", pa.timestamp("ns"))]))
        with duckdb.connect(str(path)) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE t AS SELECT * FROM given")
    else:
        pq.write_table(table, path)
    source = opened(tmp_path if format_ == "folder" else path, "t", D)
    source.refuse_damage(("d",))
    with source.rows(("d",)) as rows, from_frame(table, declare(D, key=None)).rows(("d",)) as in_memory:
        found = rows.fetch(numbers=("d",)).numbers[:, 0].tolist()
        assert in_memory.fetch(numbers=("d",)).numbers[:, 0].tolist() == found
    assert found == ([-2, -2, -2, 18_321, -2, -1, -1, -1, -1, 0, 0, 0] if of else [])


@pytest.mark.parametrize("held", [1000, 0])
def test_bytes_that_are_no_text_spoil_their_own_cell_in_a_folder_too(held, tmp_path):
    """The folder was refused as damaged, before the charge, because of a row."""
    for name, cells in (("a.parquet", bytes_as_text(b"b")), ("b.parquet", bytes_as_text(b"\xff"))):
        pq.write_table(pa.table({"c": cells}), tmp_path / name)
    source = replace(opened(tmp_path, None, C), held=held)
    source.refuse_damage(("c",))
    with source.rows(("c",)) as rows:
        assert rows.fetch(numbers=("c",)).numbers[:, 0].tolist() == [0, 1, 0, 0, 1, 0]
