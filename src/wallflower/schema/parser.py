"""The one TOML front end: every declaration of this package (tables, streams, the service) is read through it.

A reader of a new kind of file is a function of `Section`s:

    text = read_text(path, what="stream declaration", draft="Draft one with: ...")     # refuses files of data unread
    file = parse(text, name=path.name, known=("stream", "columns", "budget"))          # a `Section`; bad TOML is explained
    stream = file.section("stream", ("id", "window", "broker"))                        # None when absent; unknown keys noted
    stream.need("window", "window = 100"); window = stream.whole("window", least=1)    # None after noting what is wrong
    for name, column in file.sections("columns", COLUMN_KEYS): ...                     # every [columns.NAME]
    stream.wrong("window", "below 1000"); stream.refuse("broker", "No name belongs here.", "What to do next.")
    file.problems.raise_any()                                                          # one DeclarationError, with lines

Reading goes on after a mistake, so that one look shows all of them; each is quoted with its line, and a misspelled key is
answered with the nearest known one. Numbers with a point keep their digits (`Bare`): `Section.number` makes them exact,
`Section.budget` refuses them bare. Nothing here knows what a declaration means.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from wallflower.errors import DeclarationError
from wallflower.schema.lines import Lines, locate
from wallflower.schema.problems import Bare, Problems, shortened, visible
from wallflower.schema.section import Section

DATA = frozenset(
    [
        ".csv",
        ".tsv",
        ".txt",
        ".json",
        ".jsonl",
        ".ndjson",
        ".parquet",
        ".pq",
        ".duckdb",
        ".ddb",
        ".db",
        ".sqlite",
        ".sqlite3",
        ".xlsx",
        ".xls",
        ".ods",
    ]
)
"""Endings of what people pass in place of a declaration."""
_UNDECIDED = re.compile(r"^[^#\n]*=[ \t]*#[ \t]*DECIDE\b", re.MULTILINE)
_WHERE = re.compile(r"^(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$", re.DOTALL)


def read_text(path: Path, *, what: str = "declaration", draft: str = "") -> str:
    """The text of the file; `what` it should be and how to `draft` one go into the refusal."""
    named = visible(str(path))
    if path.suffix.lower() in DATA:
        raise DeclarationError(  # without a look: an error that quotes a line of it would quote a row
            f"'{named}' is a file of data, and a {what} is a TOML file about one.", hint=draft
        )
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DeclarationError(f"the {what} '{named}' cannot be read: {error.strerror}.", hint=draft) from None
    except UnicodeDecodeError:
        raise DeclarationError(f"the {what} '{named}' is not UTF-8 text.", hint="Save it as UTF-8.") from None


def parse(text: str, *, name: str, known: tuple[str, ...]) -> Section:
    """The whole file as a section, called `name` in messages; its tables must be among `known`."""
    raw = _toml(text, visible(name))
    return Section(Problems(name, locate(text)), (), raw, known=known)


def values(text: str) -> dict[str, Any]:
    """What a valid text holds, numbers with a point as they are written."""
    return tomllib.loads(text, parse_float=Bare)


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return values(text)
    except (ValueError, RecursionError) as error:  # beside its own, tomllib lets Python's errors through
        where = _WHERE.match(str(error))
    if where is None:
        raise DeclarationError(f"{name} is not valid TOML: a number is too long or the nesting too deep.")
    what = visible(where["what"])
    if where["line"] is None:
        raise DeclarationError(
            f"{name} is not valid TOML: {what}, and then the file ends.",
            hint="Look for a bracket or quote that is never closed.",
        )
    number = int(where["line"])
    quote = shortened(Lines(text.replace("\r\n", "\n")).line(number))
    undecided = [text.count("\n", 0, match.end()) + 1 for match in _UNDECIDED.finditer(text)]
    if number in undecided:
        count = f"{len(undecided)} lines are" if len(undecided) > 1 else "1 line is"
        raise DeclarationError(
            f"{name}, line {number}: {quote}\n{count} still to be decided, this one first.",
            hint="Write the value after the equals sign.",
        )
    raise DeclarationError(
        f"{name}, line {number}, column {where['column']}: {quote}\nThis is not valid TOML: {what}.",
        hint="Texts stand in quotes, lists in [...], and every line reads key = value.",
    )
