"""Files in which one record is hostile, for every format: whatever it holds, it is one row and changes no other.

Each case writes a file with a good record, a hostile one, and a good one again; the columns are x (a number), c (a text), d (a
date). `rows` is how many rows the hostile record is.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

GOOD = (1.5, "a", date(2000, 1, 2))
FIRST, LAST = "1.5,a,2000-01-02", "1.5,a,2000-01-02"
OBJECT = '{"x": 1.5, "c": "a", "d": "2000-01-02"}'


@dataclass(frozen=True)
class Case:
    name: str
    write: Callable[[Path], Path | str]
    """Writes the file into a folder and says where it is: what `source` would name."""
    rows: int = 1
    table: str | None = None


def _file(name: str, content: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content)
        return path

    return write


NUMBERS = [
    "", " ", "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e999", "1e-999", "5e-324", "1.7976931348623157e308", "0x10",
    "1_000", "1.", ".5", ".", "e1", "1e", "--1", "+-1", "1 2", "٣", "１", "1,5", "true", "None", "NULL", "\\N", "=1+1", "1" * 5000,
    "-" + "9" * 400, "0" * 70_000, "1e" + "9" * 30, "\u2028", "\x85", "\x1a", "\x7f", "\u202e1", "'1'", "1;2", "a" * 70_000, "\ufffd",
]  # fmt: skip
TEXTS = [
    "#x",
    "é",
    "e\u0301",
    "\U0001f480",
    "\ufeffa",
    "a\tb",
    "a ",
    "A",
    "'; DROP TABLE staged; --",
    "%s",
    "{}",
    "\\",
    "$1",
    "\x01",
]
DAYS = [
    "2000-02-30",
    "0000-01-01",
    "9999-12-31",
    "-001-01-01",
    "2000-1-1",
    "20000101",
    "2000-01-01T00:00",
    "infinity",
    "epoch",
    "today",
]


def csv_files() -> Iterator[Case]:
    lines: list[tuple[str, bytes, int]] = []
    for at, text in enumerate(NUMBERS + TEXTS):
        quoted = text.replace('"', '""')
        lines.append((f"number {at}", f'"{quoted}",a,2000-01-01'.encode(), 1))
    lines += [(f"text {at}", f"1,{text},2000-01-01".encode(), 1) for at, text in enumerate(TEXTS)]
    lines += [(f"day {at}", f"1,a,{text}".encode(), 1) for at, text in enumerate(DAYS)]
    lines += [
        ("one cell", b"1", 1),
        ("surplus", b"1,a,2000-01-01,4,5,6,7,8,9", 1),
        ("commas", b",,", 1),
        ("many commas", b"," * 500, 1),
        ("blank", b"", 0),
        ("blanks", b"\n\n", 0),
        ("spaces", b"   ", 1),
        ("bytes", b"\xff\xfe\x80,\xc0\xaf,\xed\xa0\x80", 1),
        ("half a letter", b"1,\xe2\x82,2000-01-01", 1),
        ("nul", b"\x00,\x00,\x00", 1),
        ("quoted newline", b'1,"a\nb",2000-01-01', 1),
        ("quoted windows newline", b'"1\r\n",a,2000-01-01', 1),
        ("quoted comma", b'1,"a,b",2000-01-01', 1),
        ("doubled quotes", b'1,"""",2000-01-01', 1),
        ("after a quote", b'1,"a"b,2000-01-01', 1),
        ("inner quote", b'1,a"b,2000-01-01', 1),
        ("only quotes", b'"","",""', 1),
        ("windows line", b"1,a,2000-01-01\r", 1),
        ("long", b"1," + b"b" * 3_000_000 + b",2000-01-01", 1),
        ("html", b"<script>,</script>,&lt;", 1),
    ]
    for name, line, rows in lines:
        content = b"x,c,d\n" + FIRST.encode() + b"\n" + line + b"\n" + LAST.encode() + b"\n"
        yield Case(f"csv {name}", _file("rows.csv", content), rows)
    returns = [
        ("between", b"5,b\r6,c", 2),
        ("last", b"5,b,2000-01-01\r", 1),
        ("alone", b"\r", 0),
        ("after a quote", b'5,"b"\r6', 2),
    ]
    for name, line, rows in returns:
        content = b"".join(each + b"\r\n" for each in (b"x,c,d", FIRST.encode(), line, LAST.encode()))
        yield Case(f"csv windows file return {name}", _file("rows.csv", content), rows)


RECORDS: list[tuple[str, bytes]] = [
    ("bare number", b"7"),
    ("bare list", b"[1,2]"),
    ("bare text", b'"x"'),
    ("null", b"null"),
    ("true", b"true"),
    ("empty", b"{}"),
    ("repeated", b'{"x":1,"x":2,"c":"a","d":"2000-01-01"}'),
    ("repeated elsewhere", b'{"y":1,"y":2,"x":1,"c":"a","d":"2000-01-01"}'),
    ("lone surrogate", b'{"x":1,"c":"\\ud800","d":"2000-01-01"}'),
    ("lone surrogate elsewhere", b'{"x":1,"z":"\\ud800"}'),
    ("lone surrogate as a name", b'{"\\ud800":1,"x":1}'),
    ("two halves", b'{"x":1,"c":"\\ud83d\\ude00"}'),
    ("halves the wrong way round", b'{"c":"\\ude00\\ud83d"}'),
    ("nested", b'{"x":{"x":1},"c":["a"],"d":[[]]}'),
    ("large", b'{"x":1e400,"c":1e400,"d":-1e400}'),
    ("leading zero", b'{"x":01}'),
    ("no zero", b'{"x":.5}'),
    ("single quotes", b"{'x':1}"),
    ("no quotes", b"{x:1}"),
    ("NaN", b'{"x":NaN}'),
    ("Infinity", b'{"x":Infinity,"c":-Infinity}'),
    ("long integer", b'{"x":' + b"9" * 6000 + b"}"),
    ("long text", b'{"c":"' + b"a" * 70_000 + b'"}'),
    ("escaped nul", b'{"c":"\\u0000","x":"\\u0000"}'),
    ("unknown escape", b'{"c":"\\q"}'),
    ("trailing comma", b'{"x":1,}'),
    ("missing comma", b'{"x":1 "c":"a"}'),
    ("missing colon", b'{"x" 1}'),
    ("brackets in text", b'{"c":"][","x":1}'),
    ("record in text", b'{"c":"},{\\"x\\":2","x":1}'),
    ("escaped quote", b'{"c":"\\"}","x":1}'),
    ("escaped backslash", b'{"c":"\\\\","x":1}'),
    ("deep list", b"[" * 3000 + b"]" * 3000),
    ("deep record", b'{"x":' * 3000 + b"1" + b"}" * 3000),
    ("other case", b'{"X":1,"C":"a"}'),
    ("spaced name", b'{" x":1,"x ":2}'),
    ("number as text", b'{"x":"1","c":3,"d":20000101}'),
    ("booleans", b'{"x":true,"c":true,"d":false}'),
    ("nulls", b'{"x":null,"c":null,"d":null}'),
    ("empties", b'{"x":"","c":"","d":""}'),
    ("comment", b'{"x":1}/*c*/'),
    ("two records", b'{"x":1}{"x":2}'),
    ("invalid bytes", b'{"x":1,"c":"\xff\xfe"}'),
    ("invalid name", b'{"\xff":1,"x":1}'),
    ("mark", b'\xef\xbb\xbf{"x":1}'),
    ("wide digits", '{"x":"１","c":"٣"}'.encode()),
    ("23 digits", b'{"x":12345678901234567890123,"c":12345678901234567890123}'),
    ("minus zero", b'{"x":-0,"c":-0.0}'),
    ("exponent", b'{"x":0.1e1,"c":1E2,"d":1e0}'),
    ("control", b'{"c":"a\x01b"}'),
    ("tab", b'{"c":"a\tb"}'),
    ("words", b"not json at all"),
    ("empty text", b'""'),
]


def json_files() -> Iterator[Case]:
    good = OBJECT.encode()
    for name, record in RECORDS:
        yield Case(f"json {name}", _file("rows.json", b"[" + good + b",\n" + record + b"\n, " + good + b"]\n"))
        yield Case(f"jsonl {name}", _file("rows.jsonl", good + b"\n" + record + b"\n" + good + b"\n"))
    yield Case("json empty element", _file("rows.json", b"[" + good + b",," + good + b"]"))
    pieces = [
        ("split", b'{"x":\n1}', 2),
        ("split text", b'{"c":"a\nb"}', 2),
        ("unclosed", b'{"x":1', 1),
        ("unclosed text", b'{"c":"a', 1),
        ("closed twice", b'{"x":1}}', 1),
        ("array", b"[" + good + b"]", 1),
        ("open array", b"[", 1),
        ("blank", b" \t ", 0),
        ("windows", good + b"\r", 1),
    ]
    for name, piece, rows in pieces:
        yield Case(f"jsonl {name}", _file("rows.jsonl", good + b"\n" + piece + b"\n" + good + b"\n"), rows)


def _sqlite(
    statement: str,
    cells: tuple[Any, ...],
    *,
    create: str = 'CREATE TABLE "t" (x, c, d)',
    encoding: str = "UTF-8",
) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "rows.sqlite"
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.execute(create)
        good = (1.5, "a", "2000-01-02")
        connection.execute('INSERT INTO "t" VALUES (?, ?, ?)', good)
        connection.execute(statement, cells)
        connection.execute('INSERT INTO "t" VALUES (?, ?, ?)', good)
        connection.commit()
        connection.close()
        return path

    return write


def sqlite_files() -> Iterator[Case]:
    insert = 'INSERT INTO "t" VALUES (?, ?, ?)'
    cells: list[Any] = [
        None, b"", b"\xff", b"a\x00b", 2**63 - 1, -(2**63), 1e308, 5e-324, math.inf, -math.inf, -0.0, "\x00", "a\x00", "9" * 5000,
        "nan", "'", '"', "1e999", "2000-02-30", "é", "\U0001f480", "\ufffd", "a" * 70_000, 0.1 + 0.2,
    ]  # fmt: skip
    for at, cell in enumerate(cells):
        yield Case(f"sqlite cell {at}", _sqlite(insert, (cell, cell, cell)), table="t")
    expressions = {
        "bytes as text": "CAST(x'ff80' AS TEXT)",
        "surrogate as text": "CAST(x'eda080' AS TEXT)",
        "half a letter": "CAST(x'e282' AS TEXT)",
        "division": "1/0",
        "long blob": "zeroblob(100000)",
        "large real": "9e999",
    }
    for name, expression in expressions.items():
        statement = f'INSERT INTO "t" SELECT {expression}, {expression}, {expression}'
        yield Case(f"sqlite {name}", _sqlite(statement, ()), table="t")
    for at, half in enumerate([b"\x00\xd8", b"\xd8\x00\xd8", b"a"]):
        write = _sqlite('INSERT INTO "t" SELECT CAST(?1 AS TEXT), CAST(?1 AS TEXT), NULL', (half,), encoding="UTF-16le")
        yield Case(f"sqlite half a letter of two {at}", write, table="t")
    for at, create in enumerate(
        ['CREATE TABLE "t" (x INTEGER, c TEXT, d DATE)', 'CREATE TABLE "t" (x REAL, c BLOB, d NUMERIC)']
    ):
        yield Case(f"sqlite affinity {at}", _sqlite(insert, ("x", 3, 2451545.5), create=create), table="t")


def _parquet(cells: dict[str, Any], **choices: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "rows.parquet"
        columns = {"x": pa.array([1.5] * 3), "c": pa.array(["a"] * 3), "d": pa.array([GOOD[2]] * 3)}
        pq.write_table(pa.table({**columns, **cells}), path, **choices)
        return path

    return write


def bytes_as_text(middle: bytes, type_: Any = None) -> Any:
    """An Arrow column of texts in which the middle one is no text."""
    raw = pa.array([b"a", middle, b"a"], pa.binary())
    return pa.Array.from_buffers(type_ or pa.string(), 3, raw.buffers())


def parquet_files() -> Iterator[Case]:
    for at, raw in enumerate(
        [b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x82", b"\x00", b"a\x00b", b"\xf8\x88\x80\x80\x80"]
    ):
        yield Case(f"parquet bytes {at}", _parquet({"c": bytes_as_text(raw)}))
        yield Case(f"parquet coded bytes {at}", _parquet({"c": bytes_as_text(raw).dictionary_encode()}))
    raw = pa.array([b"a", b"\xff\xfe"], pa.binary())
    views = pa.array([b"a", b"\xff\xfe", b"a"], pa.binary()).cast(pa.binary_view()).view(pa.string_view())
    large = pa.array([b"a", b"\xff\xfe", b"a"], pa.large_binary())
    kept = {
        "category": pa.DictionaryArray.from_arrays([0, 1, 0], pa.Array.from_buffers(pa.string(), 2, raw.buffers())),
        "view": views,
        "large": pa.Array.from_buffers(pa.large_string(), 3, large.buffers()),
    }
    for name, cells in kept.items():
        yield Case(f"parquet bytes {name}", _parquet({"c": cells}))
    for at, moment in enumerate([2**63 - 1, -(2**63), 253_402_214_400_000_000, None]):
        moments = pa.array([946_771_200_000_000, moment, 946_771_200_000_000], pa.int64()).cast(pa.timestamp("us"))
        for name, texts in (("", pa.array(["a"] * 3)), (" bytes", bytes_as_text(b"\xff"))):
            write = _parquet({"c": texts, "d": moments}, use_deprecated_int96_timestamps=True)
            yield Case(f"parquet moment of 96 bits{name} {at}", write)
    for at, real in enumerate([math.nan, math.inf, -math.inf, 5e-324, -0.0, 1.7976931348623157e308, None]):
        yield Case(f"parquet double {at}", _parquet({"x": pa.array([1.5, real, 1.5])}))
        yield Case(f"parquet float {at}", _parquet({"x": pa.array([1.5, real, 1.5], pa.float32())}))
    for at, days in enumerate([2**31 - 1, -(2**31), 2**31 - 2, -719_163, 2_932_897, None]):
        yield Case(f"parquet date {at}", _parquet({"d": pa.array([10958, days, 10958], pa.int32()).cast(pa.date32())}))
    for unit, good in (
        ("s", 946_771_200),
        ("ms", 946_771_200_000),
        ("us", 946_771_200_000_000),
        ("ns", 946_771_200_000_000_000),
    ):
        for name, moment in (("most", 2**63 - 1), ("least", -(2**63)), ("none", None)):
            # Parquet has no seconds; they are written in thousandths.
            held = int(moment / 1001) if unit == "s" and moment is not None else moment
            cells = pa.array([good, held, good], pa.int64()).cast(pa.timestamp(unit))
            yield Case(f"parquet moment {unit} {name}", _parquet({"d": cells}))
    for at, number in enumerate([10**35 - 1, -(10**35) + 1, 0, None]):
        decimals = [Decimal("1.5"), None if number is None else Decimal(number), Decimal("1.5")]
        yield Case(f"parquet decimal {at}", _parquet({"x": pa.array(decimals, pa.decimal128(38, 3))}))


def _duckdb(type_: str, column: str, good: str, hostile: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "rows.duckdb"
        plain = {"x": "1.5::DOUBLE", "c": "'a'", "d": "DATE '2000-01-02'"}
        with duckdb.connect(str(path)) as connection:
            cells = ", ".join(
                f"CAST(v AS {type_}) AS {name}" if name == column else f"{cell} AS {name}"
                for name, cell in plain.items()
            )
            values = f"(VALUES (1, {good}), (2, {hostile}), (3, {good})) AS g(place, v)"
            connection.execute(f"CREATE TABLE t AS SELECT {cells} FROM {values} ORDER BY place")
        return path

    return write


def duckdb_files() -> Iterator[Case]:
    cases = [
        ("DATE", "d", "'2000-01-02'", ["'infinity'", "'-infinity'", "'5881580-07-10'", "'0044-03-15 (BC)'", "NULL"]),
        (
            "TIMESTAMP",
            "d",
            "'2000-01-02'",
            ["'infinity'", "'-infinity'", "'294247-01-10 04:00:54'", "'1677-09-21'", "NULL"],
        ),
        ("TIMESTAMP_NS", "d", "'2000-01-02'", ["'infinity'", "'2262-04-11'", "'1677-09-23'"]),
        ("TIMESTAMP_S", "d", "'2000-01-02'", ["'infinity'", "'290000-01-01'"]),
        ("TIMESTAMP WITH TIME ZONE", "d", "'2000-01-02 00:00:00+00'", ["'infinity'", "'2000-01-01 23:00:00-05'"]),
        ("DOUBLE", "x", "'1.5'", ["'nan'", "'inf'", "'-inf'", "'5e-324'", "NULL"]),
        ("FLOAT", "x", "'1.5'", ["'nan'", "'inf'", "'3.4e38'"]),
        (
            "HUGEINT",
            "x",
            "'1'",
            ["'170141183460469231731687303715884105727'", "'-170141183460469231731687303715884105728'"],
        ),
        ("UHUGEINT", "x", "'1'", ["'340282366920938463463374607431768211455'"]),
        ("DECIMAL(38, 0)", "x", "1", ["99999999999999999999999999999999999999", "NULL"]),
        ("VARCHAR", "c", "'a'", ["chr(0)", "'\ufffd'", "'é'", "repeat('a', 70000)", "''", "NULL"]),
        ("VARCHAR", "x", "'1.5'", ["'1e999'", "'nan'", "chr(0)", "'１'", "'1' || chr(10)"]),
    ]
    for type_, column, good, hostiles in cases:
        for at, hostile in enumerate(hostiles):
            yield Case(f"duckdb {type_} {column} {at}", _duckdb(type_, column, good, hostile), table="t")


CASES = [*csv_files(), *json_files(), *sqlite_files(), *parquet_files(), *duckdb_files()]
BROKEN_ARRAYS = [
    b'[{"x": 1}',
    b'[{"x": 1}]]',
    b'[{"x": 1}] [{"x": 2}]',
    b'[{"x": 1}}',
    b'[{"x": "1}]',
    b"[",
    b'[{"x": 1]]}',
    b'[{"x": 1}, ',
    b"[]]",
]
"""What a record is cannot be said here: refused before the charge."""
