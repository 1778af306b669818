"""From a TOML file to a checked `Declaration`. Reads the file and the lists it names; never a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from wallflower.schema.budgets import read_askers, read_budgets
from wallflower.schema.columns import Surroundings, read_column
from wallflower.schema.declaration import Column, Declaration, Neighbours
from wallflower.schema.fingerprint import fingerprint
from wallflower.schema.format_parser import read_reading
from wallflower.schema.memory import read_memory
from wallflower.schema.models import read_models
from wallflower.schema.parser import parse, read_text
from wallflower.schema.people import read_people
from wallflower.schema.places import read_place
from wallflower.schema.problems import CONTROL, said
from wallflower.schema.rehearsal import read_world
from wallflower.schema.section import Section

SECTIONS = ("table", "budget", "askers", "columns", "identify", "rehearsal")
TABLE_KEYS = (
    "id",
    "source",
    "table",
    "key",
    "unit",
    "person",
    "time",
    "rows_per_person",
    "neighbours",
    "max_rows",
    "max_people",
    "grows",
    "reviewed",
    "test",
    "ledger",
    "read",
    "memory",
    "executors",
)
DRAFT = "Draft one with: wallflower declare DATA -o FILE"


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
    table = _table_of(file)
    table.need("id", 'id = "salaries"')
    name_of_table = table.name("id")
    if not source_optional:
        table.need("source", 'source = "rows.csv"')
    table.need("ledger", 'ledger = "rows.ledger"')
    key = table.text("key")
    source, ledger = read_place(table, "source", folder), read_place(table, "ledger", folder)
    source_table = table.text("table")
    if source_table is not None and "source" not in table:
        table.refuse("table", "'table' names a table inside the file 'source', and there is no 'source'.")
    table.need("neighbours", 'neighbours = "add-remove"')
    neighbours = cast("Neighbours | None", table.choice("neighbours", get_args(Neighbours)))
    people = read_people(table, neighbours)
    reviewed, test, grows = table.flag("reviewed"), table.flag("test"), table.flag("grows")
    read = read_reading(table)
    memory, executors = read_memory(table), table.flag("executors")
    budgets = read_budgets(file)
    askers = read_askers(file, budgets)
    named = tuple(each for each in (key, people.person, people.time) if each)
    columns = _columns(file, named, Surroundings(neighbours, folder, people, read))
    if people.person in columns:
        _identifier_only(file, columns, people.person)
    models = read_models(file, columns)
    rehearsal = read_world(file, columns, folder)
    file.problems.raise_any()

    declaration = Declaration(
        id=cast("str", name_of_table),
        source=source,
        source_table=source_table,
        key=people.person or key,
        neighbours=cast("Neighbours", neighbours),
        max_rows=cast("int", people.most) * (people.rows_per_person or 1),
        reviewed=bool(reviewed),
        test=bool(test),
        ledger=cast("Path | str", ledger),
        read=read,
        budgets=budgets,
        columns={name: column for name, column in columns.items() if column is not None},
        models=models,
        fingerprint="",
        unit=people.unit,
        person=people.person,
        time=people.time,
        rows_per_person=people.rows_per_person,
        grows=bool(grows),
        askers=askers,
        rehearsal=rehearsal,
        memory=memory,
        executors=bool(executors),
    )
    return replace(declaration, fingerprint=fingerprint(declaration))


def _table_of(file: Section) -> Section:
    """[table], without which nothing else can be read."""
    table = file.section("table", TABLE_KEYS)
    if table is not None:
        return table
    if "table" not in file.meant and "table" not in file:
        file.problems.add(
            (), "The file needs a [table].", "It holds id, source, unit, neighbours, max_rows, reviewed, ledger."
        )
    file.problems.raise_any()
    raise AssertionError  # pragma: no cover - a missing table is always a problem


def _identifier_only(file: Section, columns: Mapping[str, Column | None], person: str) -> None:
    column = columns[person]
    if column is not None and column.role != "identifier":
        file.refuse(
            "columns",
            f"'{person}' says whose row it is, so its role is \"identifier\".",
            "No question reads it; it needs no domain, or no declaration at all.",
            at=(person, "role"),
        )


def _columns(file: Section, named: tuple[str, ...], around: Surroundings) -> dict[str, Column | None]:
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
    folded = {name.casefold(): name for name in named}
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
            columns[name] = read_column(file.problems, name, body, around)
        else:
            file.refuse(
                "columns", f"'{name}' must be a table, got {said(body)}.", f"Write [columns.{name}].", at=(name,)
            )
            columns[name] = None
    return columns
