"""Files as a DuckDB view named `staged`, whose columns c0, c1, ... hold the raw cells of the columns asked for.

CSV is read as text with every setting given, so that no row decides how another is read: a short line
lacks its last cells (missing), surplus cells and text after a closing quote are ignored, blank lines are no rows,
bytes that the encoding does not allow become U+FFFD (unreadable). A quote that is never closed takes the rest of the file into its cell.
JSON is an array of records or one record per line; a line that is not a record is a row whose cells are all missing, and
a record that lacks a column lacks a cell. SQLite is copied with the standard library, a batch at a time, because DuckDB's
extension for it would have to be downloaded.
"""

from __future__ import annotations

import codecs
import csv
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wallflower.engines.quiet import quietly, unreadable
from wallflower.engines.reading import EXACT, UNDECODABLE, Kind, cell_text
from wallflower.engines.view import find_columns
from wallflower.errors import DeclarationError, nearest_name
from wallflower.schema.declaration import Declaration, Reading

BATCH = 50_000
"""Rows copied at a time from SQLite, characters (times 20) from a transcoded CSV."""
ENDINGS = {
    "csv": (".csv", ".tsv", ".txt"),
    "Parquet": (".parquet", ".pq"),
    "JSON": (".json", ".jsonl", ".ndjson"),
    "DuckDB": (".duckdb", ".ddb", ".db"),
    "SQLite": (".sqlite", ".sqlite3", ".db"),
}


def stage(connection: Any, declaration: Declaration, columns: Sequence[str], folder: Path) -> Mapping[str, Kind]:
    """Make the view, and say what its columns hold."""
    path = declaration.source
    if path is None:
        raise DeclarationError("the declaration names no source.", hint='Write source = "..." under [table].')
    if not path.is_file():
        raise DeclarationError(
            f"there is no file '{path.name}' to read.", hint="`source` is relative to the declaration."
        )
    format_ = quietly(lambda: format_of(path), lambda: unreadable(path, "a table"))
    if declaration.source_table is None and format_ in {"DuckDB", "SQLite"}:
        raise DeclarationError(
            f"'{path.name}' is a {format_} file, which holds several tables.", hint='Write table = "...".'
        )

    def work() -> Mapping[str, Kind]:
        if format_ == "csv":
            return _stage_csv(connection, path, columns, declaration.read, folder)
        if format_ == "JSON":
            return _stage_json(connection, path, columns)
        if format_ == "Parquet":
            return _stage_typed(connection, f"read_parquet({_text(str(path))})", columns)
        table = declaration.source_table or ""
        if format_ == "SQLite":
            return _stage_sqlite(connection, path, table, columns, folder)
        return _stage_duckdb(connection, path, table, columns)

    return quietly(work, lambda: unreadable(path, format_))


def format_of(path: Path) -> str:
    """By its ending; database files, whose endings vary, by their first bytes."""
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"SQLite format 3\0"):
        return "SQLite"
    if start[8:12] == b"DUCK":
        return "DuckDB"
    for name, endings in ENDINGS.items():
        if path.suffix.lower() in endings:
            return name
    known = ", ".join(sorted({ending for endings in ENDINGS.values() for ending in endings}))
    raise DeclarationError(f"the source '{path.name}' has an ending that is not known.", hint=f"Known are {known}.")


def csv_header(path: Path, read: Reading) -> list[str]:
    """The names in the first line."""
    with path.open(encoding=_decoder(read.encoding), errors="replace", newline="") as file:
        return next(csv.reader(file, delimiter=read.delimiter), [])


def _stage_csv(connection: Any, path: Path, columns: Sequence[str], read: Reading, folder: Path) -> Mapping[str, Kind]:
    names = csv_header(path, read)
    find_columns(columns, names)
    source = path if _is_utf8(path, read) else _transcoded(path, read, folder)
    types = ", ".join(f"'f{at}': 'VARCHAR'" for at in range(len(names)))
    scan = (
        f"read_csv({_text(str(source))}, auto_detect=false, header=true, columns={{{types}}},"
        f" delim={_text(read.delimiter)}, quote='\"', escape='\"', nullstr='', comment='', compression='none',"
        " null_padding=true, ignore_errors=true, strict_mode=false, parallel=false)"
    )
    cells = [f"f{names.index(name)}" for name in columns]
    _make_view(connection, cells, scan)
    return dict.fromkeys(columns, Kind.TEXT)


def _is_utf8(path: Path, read: Reading) -> bool:
    """Whether DuckDB can read the file as it is."""
    if codecs.lookup(read.encoding).name not in {"utf-8", "ascii"}:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while block := file.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _transcoded(path: Path, read: Reading, folder: Path) -> Path:
    """A private copy in UTF-8."""
    copy = folder / "utf-8.csv"
    with (
        path.open(encoding=_decoder(read.encoding), errors="replace", newline="") as source,
        copy.open("w", encoding="utf-8", newline="") as target,
    ):
        while text := source.read(BATCH * 20):
            target.write(text)
    return copy


def _decoder(encoding: str) -> str:
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def _stage_json(connection: Any, path: Path, columns: Sequence[str]) -> Mapping[str, Kind]:
    """Absent keys are not an error: whether any record has one would depend on the rows."""
    with path.open("rb") as file:
        lead = file.read(1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    lines = lead != b"["
    types = ", ".join(f"{_text(name)}: 'JSON'" for name in columns)
    scan = (
        f"read_json({_text(str(path))}, columns={{{types}}}, compression='uncompressed',"
        f" format='{'newline_delimited' if lines else 'array'}', ignore_errors={str(lines).lower()})"
    )
    if not columns:
        scan = f"read_json_objects({_text(str(path))}, format='{'newline_delimited' if lines else 'array'}')"
    _make_view(connection, [_json_text(_name(name)) for name in columns], scan)
    return dict.fromkeys(columns, Kind.TEXT)


def _json_text(cell: str) -> str:
    """`reading.cell_text`, in SQL."""
    double = f"TRY_CAST(CAST({cell} AS VARCHAR) AS DOUBLE)"
    return (
        f"CASE json_type({cell}) WHEN 'VARCHAR' THEN {cell} ->> '$' WHEN 'BOOLEAN' THEN {cell} ->> '$'"
        f" WHEN 'UBIGINT' THEN CAST({cell} AS VARCHAR) WHEN 'BIGINT' THEN CAST({cell} AS VARCHAR)"
        f" WHEN 'DOUBLE' THEN CASE WHEN {double} = floor({double}) AND abs({double}) < {EXACT}"
        f" THEN CAST(TRY_CAST({double} AS BIGINT) AS VARCHAR) ELSE CAST({double} AS VARCHAR) END"
        f" WHEN 'NULL' THEN NULL WHEN 'ARRAY' THEN '{UNDECODABLE}' WHEN 'OBJECT' THEN '{UNDECODABLE}' END"
    )


def _stage_duckdb(connection: Any, path: Path, table: str, columns: Sequence[str]) -> Mapping[str, Kind]:
    connection.raw_sql(f"ATTACH {_text(str(path))} AS source (READ_ONLY)")
    tables = _rows(connection, "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'source'")
    _find_table(table, [name for (name,) in tables])
    return _stage_typed(connection, f"source.{_name(table)}", columns)


def _stage_typed(connection: Any, scan: str, columns: Sequence[str]) -> Mapping[str, Kind]:
    described = {name: type_ for name, type_, *_ in _rows(connection, f"DESCRIBE SELECT * FROM {scan}")}
    find_columns(columns, list(described))
    kinds = {name: _kind_of(name, described[name]) for name in columns}
    cells = [
        f"CAST({_name(name)} AS VARCHAR)" if described[name].startswith("ENUM") else _name(name) for name in columns
    ]
    _make_view(connection, cells, scan)
    return kinds


def _stage_sqlite(connection: Any, path: Path, table: str, columns: Sequence[str], folder: Path) -> Mapping[str, Kind]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    copy = folder / "sqlite.parquet"
    schema = pa.schema([(f"f{at}", pa.large_string()) for at in range(len(columns))] + [("row", pa.bool_())])
    source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        source.text_factory = lambda raw: raw.decode("utf-8", "replace")
        tables = source.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        _find_table(table, [name for (name,) in tables])
        names = [name for name, *_ in source.execute(f"SELECT * FROM {_name(table)} LIMIT 0").description]
        find_columns(columns, names)
        cells = ", ".join([*map(_name, columns), "1"])
        cursor = source.execute(f"SELECT {cells} FROM {_name(table)}")
        with pq.ParquetWriter(copy, schema) as writer:
            while batch := cursor.fetchmany(BATCH):
                *texts, _ = zip(*batch, strict=True)
                arrays = [pa.array(map(cell_text, column), type=pa.large_string()) for column in texts]
                writer.write_batch(pa.record_batch([*arrays, pa.array([True] * len(batch))], schema=schema))
    finally:
        source.close()
    _make_view(connection, [f"f{at}" for at in range(len(columns))], f"read_parquet({_text(str(copy))})")
    return dict.fromkeys(columns, Kind.TEXT)


def _find_table(table: str, tables: list[str]) -> None:
    if table not in tables:
        raise DeclarationError(f"the source has no table '{table}'.", hint=nearest_name(table, tables))


def _make_view(connection: Any, cells: Sequence[str], scan: str) -> None:
    columns = ", ".join([*(f"{cell} AS c{at}" for at, cell in enumerate(cells)), "true AS present"])
    connection.raw_sql(f"CREATE TEMP VIEW staged AS SELECT {columns} FROM {scan}")


def _kind_of(name: str, type_: str) -> Kind:
    from wallflower.engines.arrow_reading import refused

    plain = type_.partition("(")[0]
    if type_.endswith("]") or plain not in KINDS:
        raise refused(name)
    return KINDS[plain]


KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    "DECIMAL": Kind.DECIMAL,
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(("VARCHAR", "ENUM"), Kind.TEXT),
    "DATE": Kind.DATE,
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"), Kind.TIMESTAMP
    ),
    '"NULL"': Kind.NOTHING,
}


def _rows(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    return list(connection.raw_sql(sql).fetchall())


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
