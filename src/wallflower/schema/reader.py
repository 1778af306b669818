"""From a TOML file to a checked `Declaration`. Reads the file and the lists it names; never a row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from wallflower.schema.budgets import read_askers, read_budgets, read_place
from wallflower.schema.columns import read_column
from wallflower.schema.declaration import Column, Declaration, Neighbours, Reading
from wallflower.schema.fingerprint import fingerprint
from wallflower.schema.models import read_models
from wallflower.schema.parser import parse, read_text
from wallflower.schema.problems import CONTROL, said
from wallflower.schema.section import Section

SECTIONS = ("table", "budget", "columns", "identify", "askers")
TABLE_KEYS = (
    "id",
    "source",
    "table",
    "key",
    "unit",
    "neighbours",
    "max_rows",
    "reviewed",
    "test",
    "ledger",
    "read",
)
DRAFT = "Draft one with: wallflower declare DATA -o FILE"
ONE_PERSON_ONE_ROW = 'Every promise here is about one row. Where a person has several rows, merge them into one first, then write unit = "row".'


def load(path: str | Path, *, source_optional: bool = False) -> Declaration:
    """Read and check the declaration at `path`; names of files in it are relative to its folder."""
    place = Path(path)
    text = read_text(place, what="declaration", draft=DRAFT)
    folder = place.absolute().parent
    declaration = _read(text, name=place.name, folder=folder, source_optional=source_optional)
    return replace(declaration, path=place.absolute())


def loads(text: str, *, folder: str | Path | None = None, source_optional: bool = True) -> Declaration:
    """The same from text; names of files are relative to `folder`, or else to where the process runs."""
    return _read(text, name="the declaration", folder=Path(folder or ""), source_optional=source_optional)


def _read(text: str, *, name: str, folder: Path, source_optional: bool) -> Declaration:
    file = parse(text, name=name, known=SECTIONS)
    problems = file.problems
    table = file.section("table", TABLE_KEYS)
    if table is None:
        if "table" not in file.meant and "table" not in file:
            problems.add(
                (), "The file needs a [table].", "It holds id, source, unit, neighbours, max_rows, reviewed, ledger."
            )
        problems.raise_any()
        raise AssertionError  # pragma: no cover - a missing table is always a problem

    table.need("id", 'id = "salaries"')
    name_of_table = table.name("id")
    if not source_optional:
        table.need("source", 'source = "rows.csv"')
    table.need("ledger", 'ledger = "rows.ledger"')
    source, key = table.text("source"), table.text("key")
    ledger = read_place(table, "ledger", folder)
    source_table = table.text("table")
    if source_table is not None and "source" not in table:
        table.refuse("table", "'table' names a table inside the file 'source', and there is no 'source'.")
    _unit(table)
    table.need("neighbours", 'neighbours = "add-remove"')
    neighbours = cast("Neighbours | None", table.choice("neighbours", get_args(Neighbours)))
    table.need("max_rows", "max_rows = 1_000_000")
    max_rows = table.whole("max_rows", least=1)
    reviewed, test = table.flag("reviewed"), table.flag("test")
    read = _reading(table)
    budgets, askers = read_budgets(file), read_askers(file)
    columns = _columns(file, key, neighbours, folder)
    models = read_models(file, columns)
    problems.raise_any()

    declaration = Declaration(
        id=cast("str", name_of_table),
        source=folder / source if source else None,
        source_table=source_table,
        key=key,
        neighbours=cast("Neighbours", neighbours),
        max_rows=cast("int", max_rows),
        reviewed=bool(reviewed),
        test=bool(test),
        ledger=cast("Path | str", ledger),
        read=read,
        budgets=budgets,
        columns={name: column for name, column in columns.items() if column is not None},
        models=models,
        askers=askers,
        fingerprint="",
    )
    return replace(declaration, fingerprint=fingerprint(declaration))


def _unit(table: Section) -> None:
    if "unit" in table and table.raw["unit"] != "row":
        table.wrong("unit", '"row"', ONE_PERSON_ONE_ROW)


def _reading(table: Section) -> Reading:
    section = table.section("read", ("delimiter", "encoding", "decimal"))
    if section is None:
        return Reading()
    delimiter, decimal = section.raw.get("delimiter", ","), section.raw.get("decimal", ".")
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n':
        section.wrong("delimiter", 'one character, such as ";" or "\\t"')
        delimiter = ","
    decimal = section.choice("decimal", (".", ",")) or "."
    if delimiter == decimal and ("delimiter" in section or "decimal" in section):
        key = "decimal" if "decimal" in section else "delimiter"
        section.refuse(key, f"'delimiter' and 'decimal' are both {said(decimal)}.", "Name the two characters apart.")
    encoding = section.text("encoding") or "utf-8"
    try:
        "a".encode(encoding)  # codecs.lookup would also find "base64", which is no encoding of text
    except (LookupError, UnicodeError):
        section.wrong("encoding", "an encoding of text that Python knows", 'For example "utf-8" or "latin-1".')
    return Reading(delimiter=delimiter, encoding=encoding, decimal=decimal)


def _columns(file: Section, key: str | None, neighbours: Neighbours | None, folder: Path) -> dict[str, Column | None]:
    raw = file.raw.get("columns")
    if not isinstance(raw, dict) or not raw:
        if "columns" in file:
            file.wrong("columns", "a table with at least one column, written [columns.NAME]")
        elif "columns" not in file.meant:
            file.problems.add(
                (), "The file declares no column.", "Write a [columns.NAME] for each column to be asked about."
            )
        return {}
    columns: dict[str, Column | None] = {}
    folded = {key.casefold(): key} if key else {}
    for name, body in raw.items():
        if not name.strip() or CONTROL.search(name):
            file.refuse(
                "columns",
                f"a column's name must not be empty or hold control characters, got {said(name)}.",
                at=(name,),
            )
        elif folded.setdefault(name.casefold(), name) != name:
            other = folded[name.casefold()]
            file.refuse(
                "columns", f"'{name}' and '{other}' differ in case alone, and SQL does not tell them apart.", at=(name,)
            )
        if isinstance(body, dict):
            columns[name] = read_column(file.problems, name, body, neighbours=neighbours, folder=folder)
        else:
            file.refuse(
                "columns", f"'{name}' must be a table, got {said(body)}.", f"Write [columns.{name}].", at=(name,)
            )
            columns[name] = None
    return columns
