"""A first declaration of a data file, with every open question marked.

The draft is the owner's and stays at the desk, but what becomes of it is a declaration, and a bound or a list of values
that was read off the rows would give the rows away. So nothing that came from a row stands where a value belongs: bounds
and lists are left empty, and texts seen in the rows appear only in a comment of their own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, Protocol

Kind = Literal["integer", "real", "text", "date", "boolean"]

NOT_FROM_ROWS = "DECIDE: from public knowledge, not from the rows"
_NAMES_A_PERSON = re.compile(
    r"(^|_)(id|uuid|guid|key|name|firstname|surname|lastname|e?mail|phone|ssn|iban|passport|address|employee|patient)($|_)",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Described(Protocol):
    """What an engine says about a column without being asked for rows."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """One of "integer", "real", "text", "date", "boolean"."""
        ...

    @property
    def values(self) -> Sequence[str] | None:
        """The different texts of a column that has few; None for any other."""
        ...


def draft(data: str | Path, columns: Iterable[Described], *, folder: str | Path, table: str | None = None) -> str:
    """The text of a declaration of `data`, to be written into `folder`."""
    described = list(columns)
    lines = [*_table(Path(data), described, Path(folder), table), *_budgets()]
    for column in described:
        lines += ["", *_column(column)]
    lines += ["", *_model()]
    return "\n".join(lines) + "\n"


def write_for_owner(place: Path, text: str) -> None:
    """A new file that only its owner reads: a draft may quote texts of the rows."""
    with open(place, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)


def shown_from_rows(columns: Iterable[Described], place: Path) -> Iterator[str]:
    """What of the rows stands in the draft, and why: said to whoever asked for it."""
    quoting = [column for column in columns if _quotes(column)]
    if not quoting:
        yield f"{place} shows the names of your file's columns and no value of a row."
        return
    named = ", ".join(f"all {len(column.values or ())} different values of '{column.name}'" for column in quoting)
    yield (
        f"{place} quotes values seen in the rows, in comments: {named}. They help you to write the list of values, "
        "and a value that one person has would name that person. Only you can read the file (mode 0600). "
        "Delete those comments before you show it to anyone."
    )


def _quotes(column: Described) -> bool:
    typeable = column.name.strip() and not _CONTROL.search(column.name)
    return bool(typeable and column.kind == "text" and column.values and not _names_a_person(column.name))


def _table(data: Path, columns: list[Described], folder: Path, table: str | None) -> Iterator[str]:
    yield f"# A draft for {quoted(data.name)}. Every line marked DECIDE waits for you. Answer from public knowledge: a code book,"
    yield "# a regulation, common sense. A bound or a list that was read off the rows would give the rows away."
    yield ""
    yield "[table]"
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", data.stem).strip("-._")[:64] or "table"
    yield f'id = "{name}"'
    yield f"source = {quoted(Path(os.path.relpath(data, folder)).as_posix())}"
    if table is not None:
        yield f"table = {quoted(table)}"
    keys = [column.name for column in columns if _names_a_person(column.name)]
    yield f"# key = {quoted([*keys, ''][0])}  # DECIDE: optional, the column that names a record"
    yield 'unit = "row"  # DECIDE: is every person exactly one row? Nothing else can be protected; merge the rows first'
    yield 'neighbours = "add-remove"  # DECIDE: or "replace-one", where the number of rows is public (then nothing may be dropped)'
    yield f"max_rows =  # {NOT_FROM_ROWS}; a bound on the number of rows, such as 1_000_000"
    yield "reviewed = false  # DECIDE: true once every line here is right; releases are refused until then"
    yield "test = false"
    yield f'ledger = "{name}.ledger"'
    if data.suffix.lower() in {".csv", ".tsv", ".txt"}:
        yield '# read = {delimiter = ";", encoding = "utf-8", decimal = ","}'


def _budgets() -> Iterator[str]:
    yield ""
    yield "[budget.dp]"
    yield 'epsilon =  # DECIDE: the most that all answers together may ever cost, in quotes, such as "1"'
    yield ""
    yield "# Also, where they are needed: [budget.output-constrained-dp] epsilon = ... for explain,"
    yield "# [budget.plain-k-anonymity] publications = 1 for publish."


def _column(column: Described) -> Iterator[str]:
    if _CONTROL.search(column.name) or not column.name.strip():
        yield f"# Column {quoted(column.name)} cannot be declared: rename it so that its name can be typed."
        return
    yield f"[columns.{_key(column.name)}]"
    few = column.kind != "text" or column.values is not None
    if _names_a_person(column.name) or not few:
        yield 'role = "identifier"  # DECIDE: never used; or another role, with the whole list of values'
        return
    role = "sensitive" if column.kind == "real" else "quasi-identifier"
    yield f'role = "{role}"  # DECIDE: identifier, quasi-identifier, sensitive or insensitive'
    if column.kind in {"integer", "real", "date"}:
        yield from _range(column.kind)
        return
    if column.kind == "boolean":
        yield 'values = ["false", "true"]'
    else:
        if _quotes(column):
            yield f"# seen in the rows (delete this line before the file leaves your desk): {', '.join(quoted(value) for value in column.values or ())}"
        yield f'values =  # {NOT_FROM_ROWS}; a list such as ["yes", "no"], or "values.csv"'
    yield 'outside = "drop"  # DECIDE: or the declared value that any other becomes'
    yield 'missing = "drop"  # DECIDE: or the declared value that an empty cell becomes'


def _range(kind: str) -> Iterator[str]:
    low, high = ("1900-01-01", "2100-12-31") if kind == "date" else ("0", "100")
    yield f"lower =  # {NOT_FROM_ROWS}; such as {low}"
    yield f"upper =  # {NOT_FROM_ROWS}; such as {high}"
    if kind == "integer":
        yield "step = 1  # DECIDE: the grid that values are rounded to"
    elif kind == "real":
        yield f'step =  # {NOT_FROM_ROWS}; the grid that values are rounded to, such as "0.01"'
    yield 'outside = "clip"  # DECIDE: the nearer bound; or "drop", or a declared value'
    yield 'missing = "drop"  # DECIDE: or the declared value that an empty cell becomes'


def _model() -> Iterator[str]:
    yield "# For identify, an anomaly model with a budget of its own:"
    yield "# [identify.default]"
    yield '# columns = ["...", "..."]'
    yield "# beta = 24"
    yield '# radius = "0.26"'
    yield "# k = 3"
    yield '# epsilon = "4"'


def _names_a_person(name: str) -> bool:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|\W+", "_", name)  # employeeId and "Full name" as well as employee_id
    return bool(_NAMES_A_PERSON.search(words))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def quoted(text: str) -> str:
    """A TOML string on one line: JSON's escapes are TOML's, but for the one control character that JSON lets through."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
