"""JSON: an array of records, or one record per line.

Each cell carries its own type and is written as text first (`reading_rule.cell_text`). A record that lacks a column lacks a
cell, and it is no error when every record lacks it: whether one has it depends on the rows. In a file of
lines, a line that is not a record is a row whose cells are all missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import Database
from wallflower.engines.reading_rule import EXACT, UNDECODABLE, Kind

LARGEST_RECORD = 1 << 26


@dataclass(frozen=True)
class JsonFile:
    path: Path
    decimal: str = "."

    def names(self, base: Database) -> Sequence[str]:
        found = base.run(f"SELECT DISTINCT unnest(json_keys(json)) FROM {self._scan('read_json_objects')}")
        return sorted(name for (name,) in found)

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        return dict.fromkeys(columns, Kind.TEXT)

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        if columns:
            types = ", ".join(f"{sql.literal(name)}: 'JSON'" for name in columns)
            scan = self._scan("read_json", f", records=true, columns={{{types}}}")
        else:
            scan = self._scan("read_json_objects")
        sql.stage(base, scan, [_text(sql.name(name)) for name in columns])

    def _scan(self, function: str, extra: str = "") -> str:
        with self.path.open("rb") as file:
            lines = file.read(1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"["
        form = "format='newline_delimited', ignore_errors=true" if lines else "format='array'"
        limits = f"compression='uncompressed', maximum_object_size={LARGEST_RECORD}"
        return f"{function}({sql.one_file(self.path)}, {sql.NO_FOLDER_NAMES}, {form}, {limits}{extra})"


def _text(cell: str) -> str:
    """`reading_rule.cell_text`, in SQL."""
    double = f"TRY_CAST(CAST({cell} AS VARCHAR) AS DOUBLE)"
    whole = f"{double} = floor({double}) AND abs({double}) < {EXACT}"
    return (
        f"CASE json_type({cell})"
        f" WHEN 'VARCHAR' THEN {cell} ->> '$' WHEN 'BOOLEAN' THEN {cell} ->> '$'"
        f" WHEN 'UBIGINT' THEN CAST({cell} AS VARCHAR) WHEN 'BIGINT' THEN CAST({cell} AS VARCHAR)"
        f" WHEN 'DOUBLE' THEN CASE WHEN {whole}"
        f" THEN CAST(TRY_CAST({double} AS BIGINT) AS VARCHAR) ELSE CAST({double} AS VARCHAR) END"
        f" WHEN 'ARRAY' THEN '{UNDECODABLE}' WHEN 'OBJECT' THEN '{UNDECODABLE}' END"
    )
