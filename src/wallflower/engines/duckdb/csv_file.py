"""CSV, as text with every setting given, so that no row decides how another is read.

The first line names the columns. A short line lacks its last cells (missing); surplus cells are ignored; blank lines are no
rows, but in a file of one column, where each is an empty cell; bytes that the encoding does not allow become U+FFFD
(unreadable). Text between a closing quote and the next delimiter is no CSV: what it makes of its own cell is DuckDB's to say. No
line makes reading fail. A quote that is never closed takes what follows into its cell: what a row is, the file must say.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wallflower.engines.duckdb import sql
from wallflower.engines.duckdb.database import Database, literal
from wallflower.engines.reading_rule import UNDECODABLE, Kind
from wallflower.engines.view import find_columns
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Reading

BLOCK = 1 << 20
LONGEST_LINE = 1 << 24
"""DuckDB ignores longer lines."""
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a letter, which UTF-7 can spell alone and UTF-8 cannot."""


@dataclass(frozen=True)
class CsvFile:
    path: Path
    read: Reading

    @property
    def decimal(self) -> str:
        return self.read.decimal

    def open(self, base: Database) -> None:
        base.seal(self.path)

    def names(self, base: Database) -> Sequence[str]:
        with self.path.open(encoding=self._codec(), errors="replace", newline="") as file:
            return next(csv.reader(file, delimiter=self.read.delimiter), [])

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        find_columns(columns, self.names(base))
        return dict.fromkeys(columns, Kind.TEXT)

    @property
    def paged(self) -> bool:
        return False

    def check(self) -> None:
        """Any text is a table of lines."""

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        """Any bytes are a text, and a cell that is none is unreadable."""

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        names = self.names(base)
        alone = len(names) == 1
        source = self.path if self._can_be_read(alone=alone) else self._transcoded(base.folder, alone=alone)
        types = ", ".join(f"'f{at}': 'VARCHAR'" for at in range(len(names)))
        scan = (
            f"read_csv({sql.one_file(source)}, {sql.NO_FOLDER_NAMES}, auto_detect=false, header=true, columns={{{types}}},"
            f" delim={literal(self.read.delimiter)}, quote='\"', escape='\"', nullstr='', comment='',"
            f" compression='none', null_padding=true, ignore_errors=true, strict_mode=false, parallel=false,"
            # All line ends end a line; left to itself, DuckDB takes the first for all and swallows a letter after a bare "\r".
            f" new_line='\\n', max_line_size={LONGEST_LINE}, buffer_size={2 * LONGEST_LINE})"
        )
        sql.stage(base, scan, [f"f{names.index(name)}" for name in columns])

    def _codec(self) -> str:
        try:
            found = codecs.lookup(self.read.encoding).name
        except LookupError:
            found = ""
        if not found:
            raise DeclarationError(f"the encoding '{self.read.encoding}' is not known.", hint='For example "utf-8".')
        return "utf-8-sig" if found == "utf-8" else found

    def _can_be_read(self, *, alone: bool) -> bool:
        """Whether DuckDB can read the file as it is. In a column `alone`, each half of a "\\r\\n" would be a line end to it."""
        if self._codec() not in {"utf-8-sig", "ascii"}:
            return False
        decoder = codecs.getincrementaldecoder(self._codec())()
        with self.path.open("rb") as file:
            try:
                while block := file.read(BLOCK):
                    if alone and b"\r" in block:
                        return False
                    decoder.decode(block)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                return False
        return True

    def _transcoded(self, folder: Path, *, alone: bool) -> Path:
        """A private copy in UTF-8; of a column `alone` with one kind of line end."""
        copy = folder / "utf-8.csv"
        with (
            self.path.open(encoding=self._codec(), errors="replace", newline=None if alone else "") as source,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            while text := source.read(BLOCK):
                target.write(SURROGATE.sub(UNDECODABLE, text))
        return copy
