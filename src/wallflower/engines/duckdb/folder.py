"""A folder of CSV or Parquet files as one table: its files in the order of their names, all with the same columns, or none of it.

Nothing is a pattern here: the files of the folder itself count, those whose names begin with a dot or an underscore do not
(other tools leave such marks), and folders in it are refused, because their names would have to mean something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from wallflower.engines.duckdb.csv_file import CsvFile
from wallflower.engines.duckdb.database import Database
from wallflower.engines.duckdb.typed_files import ParquetFile
from wallflower.engines.reading_rule import Kind
from wallflower.engines.redaction import damaged, no_room, quietly
from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Reading

CSV = frozenset({".csv", ".tsv", ".txt"})
PARQUET = frozenset({".parquet", ".pq"})


@dataclass(frozen=True)
class PartBase(Database):
    """The database as one file of a folder sees it: its view and its copies have names of their own."""

    part: int = field(kw_only=True)

    def own_name(self, name: str) -> str:
        return f"{name}_{self.part}"


@dataclass(frozen=True)
class Folder:
    path: Path
    parts: tuple[CsvFile | ParquetFile, ...]

    @property
    def decimal(self) -> str:
        return self.parts[0].decimal

    @property
    def paged(self) -> bool:
        return self.parts[0].paged

    def open(self, base: Database) -> None:
        base.seal(*(part.path for part in self.parts))

    def names(self, base: Database) -> Sequence[str]:
        first, *others = self.parts
        names = list(first.names(base))
        stray = next((other for other in others if list(other.names(base)) != names), None)
        if stray is None:
            return names
        names = []  # whoever prints the frames of this error must not find what a text file begins with, which may be rows
        raise _disagree(self.path, first.path, stray.path, "the names of their columns")

    def kinds(self, base: Database, columns: Sequence[str]) -> Mapping[str, Kind]:
        self.names(base)
        first, *others = self.parts
        kinds = first.kinds(base, columns)
        for other in others:
            if dict(other.kinds(base, columns)) != dict(kinds) or _types(other, base) != _types(first, base):
                raise _disagree(self.path, first.path, other.path, "the types of their columns")
        return kinds

    def check(self) -> None:
        for part in self.parts:
            part.check()

    def decode(self, base: Database, columns: Sequence[str]) -> None:
        for own, part in self._each(base):
            quietly(partial(part.decode, own, columns), partial(damaged, part.path), short=no_room)

    def stage(self, base: Database, columns: Sequence[str]) -> None:
        for own, part in self._each(base):
            part.stage(own, columns)
        every = " UNION ALL ".join(f"SELECT * FROM staged_{at}" for at in range(len(self.parts)))
        base.define("staged", every, base.schemas["staged_0"])

    def _each(self, base: Database) -> Iterator[tuple[PartBase, CsvFile | ParquetFile]]:
        for at, part in enumerate(self.parts):
            own = base.folder / str(at)
            own.mkdir()
            yield PartBase(base.connection, own, base.schemas, base.dialect, part=at), part


def open_folder(path: Path, read: Reading) -> Folder:
    """From the names of its files alone."""
    inside = sorted(each for each in path.iterdir() if not each.name.startswith((".", "_")))
    endings = {each.suffix.lower() for each in inside}
    if not inside or not (endings <= CSV or endings <= PARQUET) or any(not each.is_file() for each in inside):
        raise DeclarationError(
            f"the folder '{path.resolve().name}' is not a folder of CSV files, or of Parquet files, and nothing else.",
            hint="Put the files of the table, and no folder, into it; names that begin with a dot or an underscore do not count.",
        )
    if endings <= PARQUET:
        return Folder(path, tuple(ParquetFile(each) for each in inside))
    return Folder(path, tuple(CsvFile(each, replace(read)) for each in inside))


def _types(part: CsvFile | ParquetFile, base: Database) -> Mapping[str, str]:
    return part.types(base) if isinstance(part, ParquetFile) else {}


def _disagree(folder: Path, first: Path, other: Path, what: str) -> DeclarationError:
    return DeclarationError(
        f"the files of '{folder.resolve().name}' disagree about {what}: '{other.name}' is not as '{first.name}'.",
        hint="One table has one set of columns; write the files anew, or declare each as a table of its own.",
    )
