"""A first declaration of a data file, with every open question marked.

The draft is the owner's and stays at the desk, but what becomes of it is a declaration, and a bound or a list of values
that was read off the rows would give the rows away. So nothing that came from a row stands where a value belongs: bounds
and lists are left empty, and texts seen in the rows appear only in a comment of their own. How texts are written (marks,
formats, missing codes) is about the file and not about a person, and is filled in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from wallflower.schema.declaration import Reading
from wallflower.schema.toml_text import key_text, quoted, quoted_list

Area = Literal["explain", "identify", "count", "publish"]
RANGES = frozenset({"integer", "real", "date"})
MOST_COLUMNS = 2
"""Columns of a first count or model, unless the owner names them: more bounds than that are a long afternoon."""

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

    @property
    def dates(self) -> Sequence[str]: ...

    @property
    def thousands(self) -> str: ...

    @property
    def missing_codes(self) -> Sequence[str]: ...

    @property
    def repeats(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class DraftPurpose:
    """What a draft is for."""

    area: Area | None = None
    columns: tuple[str, ...] = ()
    """None named: those that the area needs, or all."""
    reading: Reading | None = None
    hierarchies: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """For each column with a hierarchy file of ARX: its name, the file, and the values in their order."""


def draft(
    data: str | Path,
    columns: Iterable[Described],
    *,
    folder: str | Path,
    table: str | None = None,
    wanted: DraftPurpose | None = None,
) -> str:
    """The text of a declaration of `data`, to be written into `folder`."""
    described, wanted = list(columns), wanted or DraftPurpose()
    person = next(
        (each.name for each in described if _names_a_person(each.name) and each.repeats and _typeable(each)), None
    )
    chosen = chosen_columns(described, wanted, person)
    times = [each.name for each in described if each.kind == "date" and _typeable(each)]
    time = times[0] if times and person is not None else None
    every = wanted.area is None and not wanted.columns
    # A `time` that no question reads has no section of its own, and without its format no row would have a time.
    dates = next((each.dates for each in described if each.name == time and each.name not in chosen and not every), ())
    lines = [
        *_table(Path(data), described, Path(folder), table, whose=(person, time), wanted=wanted, dates=dates),
        *_budgets(wanted.area),
    ]
    for column in described:
        if column.name in chosen or every:
            lines += ["", *_column(column, (person, time), wanted)]
            if dates and column.kind == "date" and not column.dates:
                lines.append('date = "%Y-%m-%d"')
    left = (
        [each for each in described if each.name not in chosen and _typeable(each)]
        if wanted.area or wanted.columns
        else []
    )
    if left:
        lines += ["", "# Not needed for this question; declare one like the others when you ask about it:"]
        lines += [f"# [columns.{key_text(each.name)}]  {each.kind}" for each in left]
    if wanted.area in {None, "identify"}:
        lines += [
            "",
            *_model([each.name for each in described if each.name in chosen], open_=wanted.area == "identify"),
        ]
    return "\n".join(lines) + "\n"


def chosen_columns(described: list[Described], wanted: DraftPurpose, person: str | None) -> list[str]:
    """The columns that the area needs: those named, or the first that it can use."""
    if wanted.columns:
        return [name for name in wanted.columns if name != person]
    usable = [each for each in described if _typeable(each) and not _names_a_person(each.name)]
    ranges = [each.name for each in usable if each.kind in RANGES]
    lists = [
        each.name for each in usable if each.kind == "boolean" or (each.kind == "text" and each.values is not None)
    ]
    if wanted.area in {"count", "identify"}:
        numbers = [each.name for each in usable if each.kind in {"integer", "real"}]
        return (numbers or ranges)[:MOST_COLUMNS]
    if wanted.area == "explain":
        return [*[each.name for each in usable if each.kind in {"real", "integer"}][:1], *lists[:MOST_COLUMNS]]
    return [*ranges, *lists] if wanted.area == "publish" else [each.name for each in described]


def _typeable(column: Described) -> bool:
    return bool(column.name.strip()) and not _CONTROL.search(column.name)


def shown_from_rows(columns: Iterable[Described], place: Path, text: str | None = None) -> Iterator[str]:
    """What of the rows stands in the draft, and why: said to whoever asked for it. `text`: the draft, where not all columns are in it."""
    quoting = [column for column in columns if _quotes(column) and (text is None or _seen_in(column, text))]
    if not quoting:
        yield f"{place} shows the names of your file's columns, how their cells are written, and no other value of a row."
        return
    named = ", ".join(f"all {len(column.values or ())} different values of '{column.name}'" for column in quoting)
    yield (
        f"{place} quotes values seen in the rows, in comments: {named}. They help you to write the list of values, "
        "and a value that one person has would name that person. Only you can read the file (mode 0600). "
        "Delete those comments before you show it to anyone."
    )


def _seen_in(column: Described, text: str) -> bool:
    return f"[columns.{key_text(column.name)}]\n" in text and "# seen in the rows" in text


def _quotes(column: Described) -> bool:
    typeable = column.name.strip() and not _CONTROL.search(column.name)
    return bool(typeable and column.kind == "text" and column.values and not _names_a_person(column.name))


def _table(
    data: Path,
    columns: list[Described],
    folder: Path,
    table: str | None,
    *,
    whose: tuple[str | None, str | None],
    wanted: DraftPurpose,
    dates: Sequence[str],
) -> Iterator[str]:
    yield f"# A draft for {quoted(data.name)}. Every line marked DECIDE waits for you. Answer from public knowledge: a code book,"
    yield "# a regulation, common sense. A bound or a list that was read off the rows would give the rows away."
    yield ""
    yield "[table]"
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", data.stem).strip("-._")[:64] or "table"
    yield f'id = "{name}"'
    yield f"source = {quoted(Path(os.path.relpath(data, folder)).as_posix())}"
    if table is not None:
        yield f"table = {quoted(table)}"
    person, time = whose
    if person is not None:
        yield 'unit = "person"  # DECIDE: people have several rows here; write "row", and max_rows below, if they have not'
        yield f"person = {quoted(person)}  # the column that says whose row it is"
        if time is not None:
            yield f'time = {quoted(time)}  # orders a person\'s rows for per_person = "latest" and "earliest"'
    else:
        yield 'unit = "row"  # DECIDE: is every person exactly one row? If not: unit = "person", and person = "the column of ids"'
        keys = [column.name for column in columns if _names_a_person(column.name)]
        yield f"# key = {quoted([*keys, ''][0])}  # optional: the column that names a record"
    yield 'neighbours = "add-remove"  # or "replace-one", where the number of rows is public (then nothing may be dropped)'
    most = "max_rows" if person is None else "max_people"
    yield f"{most} =  # {NOT_FROM_ROWS}; a bound on the number of {most[4:]}, such as 1_000_000"
    yield "reviewed = false  # DECIDE: true once every line here is right; releases are refused until then"
    yield "test = false"
    yield f'ledger = "{name}.ledger"'
    read = [*_reading(wanted.reading), *_dates(dates)]
    if read:
        yield f"read = {{{', '.join(read)}}}  # as the file looks; `wallflower check` says what is not read"
    elif data.suffix.lower() in {".csv", ".tsv", ".txt"}:
        yield '# read = {delimiter = ";", encoding = "utf-8", decimal = ","}'


def _reading(reading: Reading | None) -> list[str]:
    plain, found = Reading(), reading or Reading()
    return [
        f"{name} = {quoted(getattr(found, name))}"
        for name in ("delimiter", "encoding", "decimal")
        if getattr(found, name) != getattr(plain, name)
    ]


def _budgets(area: Area | None) -> Iterator[str]:
    yield ""
    if area == "publish":
        yield "[budget.plain-k-anonymity]"
        yield "publications = 1"
        return
    yield "[budget.output-constrained-dp]" if area == "explain" else "[budget.dp]"
    yield 'epsilon =  # DECIDE: the most that all answers together may ever cost, in quotes, such as "1"'
    if area is None:
        yield ""
        yield "# Also, where they are needed: [budget.output-constrained-dp] epsilon = ... for explain,"
        yield "# [budget.plain-k-anonymity] publications = 1 for publish."


def _column(column: Described, whose: tuple[str | None, str | None], wanted: DraftPurpose) -> Iterator[str]:
    if not _typeable(column):
        yield f"# Column {quoted(column.name)} cannot be declared: rename it so that its name can be typed."
        return
    yield f"[columns.{key_text(column.name)}]"
    arx = {name: (file, values) for name, file, values in wanted.hierarchies}
    few = column.kind != "text" or column.values is not None or column.name in arx
    asked_for = column.name in wanted.columns
    if (_names_a_person(column.name) and not asked_for) or not few:
        yield 'role = "identifier"  # never used; or another role, with a domain'
        return
    role = "sensitive" if column.kind == "real" else "quasi-identifier"
    question = "  # DECIDE: quasi-identifier, sensitive or insensitive" if wanted.area == "publish" else ""
    yield f'role = "{role}"{question}'
    if column.kind in RANGES and column.name not in arx:
        yield from _range(column)
    elif column.kind == "boolean":
        yield 'values = ["false", "true"]'
        yield 'outside = "drop"  # or a declared value'
    else:
        if column.name in arx:
            file, values = arx[column.name]
            yield f"values = {quoted_list(values)}  # the leaves of {quoted(file)}, in its order"
            yield f"hierarchy = {quoted(file)}"
        else:
            if _quotes(column):
                yield f"# seen in the rows (delete this line before the file leaves your desk): {', '.join(quoted(value) for value in column.values or ())}"
            yield f'values =  # {NOT_FROM_ROWS}; a list such as ["yes", "no"], or "values.csv"'
        yield 'outside = "drop"  # or the declared value that any other becomes'
    yield 'missing = "drop"  # or the declared value that an empty cell becomes'
    yield from _format(column)
    person, time = whose
    if person is not None:
        reducer = (
            "most-common"
            if column.kind not in RANGES
            else "mean"
            if column.kind != "date"
            else "latest"
            if time
            else "max"
        )
        yield f'per_person = "{reducer}"  # or sum, mean, min, max, rows, most-common, latest, earliest'


def _format(column: Described) -> Iterator[str]:
    """How the texts are written: about the file, so it is filled in."""
    yield from _dates(column.dates)
    if column.thousands:
        doubt = (
            "  # 1,234 is 1234 here; if it is 1.234, write decimal in read instead" if column.thousands == "," else ""
        )
        yield f"thousands = {quoted(column.thousands)}{doubt}"
    if column.missing_codes:
        yield f"missing_codes = {quoted_list(column.missing_codes)}"


def _dates(formats: Sequence[str]) -> Iterator[str]:
    if formats:
        texts = [quoted(each) for each in formats]
        yield f"date = {texts[0] if len(texts) == 1 else '[' + ', '.join(texts) + ']'}"


def _range(column: Described) -> Iterator[str]:
    low, high = ("1900-01-01", "2100-12-31") if column.kind == "date" else ("0", "100")
    yield f"lower =  # {NOT_FROM_ROWS}; such as {low}"
    yield f"upper =  # {NOT_FROM_ROWS}; such as {high}"
    if column.kind == "integer":
        yield "step = 1  # the grid that values are rounded to"
    elif column.kind == "real":
        yield f'step =  # {NOT_FROM_ROWS}; the grid that values are rounded to, such as "0.01"'
    yield 'outside = "clip"  # the nearer bound; or "drop", or a declared value'


def _model(columns: list[str], *, open_: bool) -> Iterator[str]:
    if open_:
        yield "[identify.default]"
        yield f"columns = {quoted_list(columns)}"
        yield "beta =  # DECIDE: a value with at most so many others near it is an anomaly, such as 24"
        yield 'radius =  # DECIDE: how near is near, in units of the distance, in quotes, such as "0.26"'
        yield "k = 1  # rows within k changes of normal are protected"
        yield 'epsilon =  # DECIDE: the most that this model\'s answers may ever cost, in quotes, such as "4"'
        return
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
