"""From what an asker typed to a query, and from a query to the command that asks the same.

The texts come from outside: each is bounded in length before anything is made of it, and every error is about the text,
never about a row.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unicodedata import bidirectional, category

from wallflower.errors import UsageError
from wallflower.schema.declaration import Column, Declaration
from wallflower.service.forms import Field, Form, form_of
from wallflower.session import Query

MOST_TEXT = 4_000
"""Characters of one field."""
MOST_VALUES = 200
"""Values asked about in one request: a longer list belongs to the command line."""

PUBLICATION = "publication"
"""The name of a published file."""

_TURNS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Marks that turn the order of text around."""

Given = Mapping[str, str | Sequence[str]]


def question(command: str, given: Given, *, folder: Path = Path()) -> Query:
    """The query that these fields ask; an unknown field, or a missing one, is refused by name. `folder`: where an answer that
    is a file is put; no part of the question.

    >>> question("count", {"columns": ["age", "stay"], "neighbours": "3", "radius": "6", "epsilon": "0.1"}).radius
    Fraction(6, 1)
    """
    form = form_of(command)
    known = {field.name for field in form.fields}
    unknown = sorted(set(given) - known)
    if unknown:
        raise UsageError(
            f"'{unknown[0][:60]}' is not a field of '{command}'.", hint=f"Its fields: {', '.join(sorted(known))}."
        )
    found = {field.name: _read(field, given.get(field.name)) for field in form.fields}
    asked = {name: value for name, value in found.items() if value is not None}
    if command == "publish":
        asked["out"] = str(folder / f"{PUBLICATION}.{asked['format']}")
    return _QUERIES[command](asked)


def fields_of(form: Form, given: Given) -> dict[str, str | list[str]]:
    """What was asked, in the form's own order, for showing it again and for keeping it with the request: one text for a field
    that is asked once, however a program sent it, so that the same question is known again.

    >>> fields_of(form_of("count"), {"columns": ["age, days"], "neighbours": ["3"], "radius": " 6", "epsilon": ["", "0.1"]})
    {'columns': ['age', 'days'], 'neighbours': '3', 'radius': '6', 'epsilon': '0.1'}
    """
    kept: dict[str, str | list[str]] = {}
    for field in form.fields:
        filled = _filled(given.get(field.name))
        if filled:
            kept[field.name] = _names(filled) if field.kind == "columns" else filled[0]
    return kept


def command_line(command: str, given: Given, declaration: str) -> str:
    """The same question at the owner's desk.

    >>> command_line("count", {"columns": ["age"], "neighbours": "3", "radius": "6", "epsilon": "0.1"}, "stays.toml")
    'wallflower count stays.toml --columns age --neighbours 3 --radius 6 --epsilon 0.1'
    """
    words = ["wallflower", command, declaration]
    for field in form_of(command).fields:
        value = given.get(field.name)
        if value is None or value in ("", []):
            continue
        option = field.option or f"--{field.name.replace('_', '-')}"
        for part in _parts(field, value):
            words += [option, part]
    return " ".join(shlex.quote(word) for word in words)


def shown_fields(form: Form, declaration: Declaration) -> tuple[Field, ...]:
    """The fields of a form that mean something at this table."""
    return tuple(field for field in form.fields if not field.several_rows or declaration.rows_per_person is not None)


def not_here(form: Form, declaration: Declaration) -> str:
    """Why a kind of question cannot be answered at a table, by its declaration alone; empty where it can."""
    if form.command == "identify":
        return "" if declaration.models else "The owner has declared no model of an anomaly here."
    if not any(family in declaration.budgets for family in form.budgets):
        return "The owner has declared no budget for it here."
    bare = [field for field in form.fields if field.kind in ("columns", "column") and not choices(field, declaration)]
    return "No declared column fits it." if bare else ""


def choices(field: Field, declaration: Declaration) -> tuple[str, ...]:
    """What can be chosen, from the declaration alone."""
    if field.kind == "choice":
        return field.choices
    if field.kind == "model":
        return tuple(declaration.models)
    if field.kind not in {"columns", "column"}:
        return ()
    return tuple(name for name, column in declaration.columns.items() if _fits(field, column))


def _fits(field: Field, column: Column) -> bool:
    if column.role == "identifier" or column.domain is None:
        return False
    published = column.role in ("quasi-identifier", "sensitive")
    fits = {"numeric": column.is_numeric, "grouped": column.is_grouped, "published": published, "any": True}
    return fits[field.among]


def _parts(field: Field, value: str | Sequence[str]) -> list[str]:
    if field.kind == "columns":
        return [",".join([value] if isinstance(value, str) else value)]
    if field.name == "format":
        return [f"{PUBLICATION}.{value}"]
    if field.kind == "values":
        return [line for line in str(value).splitlines() if line.strip()]
    return [value if isinstance(value, str) else ",".join(value)]


def _read(field: Field, value: str | Sequence[str] | None) -> Any:
    texts = _texts(value)
    if any(not isinstance(text, str) for text in texts):
        raise UsageError(f"'{field.name}' is text, or a list of texts.")
    if sum(map(len, texts)) > MOST_TEXT:
        raise UsageError(f"'{field.name}' is longer than {MOST_TEXT} characters.")
    filled = _filled(texts)
    if not all(_is_print(letter, lines=field.kind == "values") for text in filled for letter in text):
        raise UsageError(f"'{field.name}' is not text that can be shown.", hint="Leave control characters out.")
    if not filled:
        if field.needed:
            raise UsageError(f"'{field.name}' is missing.", hint=field.label)
        return None
    if field.kind == "columns":
        return tuple(_names(filled))
    if len(filled) > 1:
        raise UsageError(f"'{field.name}' stands {len(filled)} times, and is asked once.")
    return _one(field, filled[0])


def _texts(value: str | Sequence[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _filled(value: str | Sequence[str] | None) -> list[str]:
    return [text.strip() for text in _texts(value) if text.strip()]


def _names(filled: Sequence[str]) -> list[str]:
    return [name.strip() for text in filled for name in text.split(",") if name.strip()]


def _is_print(letter: str, *, lines: bool) -> bool:
    """Whether a letter may stand in a question. What it says is printed by the ledger and decided about by people: nothing
    that moves a terminal's cursor, begins a new line, or turns the order of what follows around.

    >>> [_is_print(letter, lines=False) for letter in ("é", "\\u00a0", "\\x1b", "\\n", "\\u202e", "\\ud800")]
    [True, True, False, False, False, False]
    """
    if lines and letter in "\t\r\n":
        return True
    return category(letter) not in ("Cc", "Cs", "Zl", "Zp") and bidirectional(letter) not in _TURNS


def _one(field: Field, text: str) -> Any:
    if field.kind == "number":
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise UsageError(f"'{field.name}' is a whole number below 10^9, got '{text[:40]}'.")
        return int(text)
    if field.kind == "choice" and text not in field.choices:
        raise UsageError(f"'{field.name}' is one of {', '.join(field.choices)}, got '{text[:40]}'.")
    if field.kind == "values":
        return _values(text)
    return text


def _values(text: str) -> tuple[dict[str, str], ...]:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_VALUES:
        raise UsageError(f"{len(lines)} values were asked about, and one request holds {MOST_VALUES}.")
    from wallflower.identify.values import value_in_text

    return tuple(value_in_text(line) for line in lines)


def _count(found: dict[str, Any]) -> Query:
    from wallflower.count import Outliers

    return Outliers(**found)


def _subspaces(found: dict[str, Any]) -> Query:
    from wallflower.count import Subspaces

    return Subspaces(**found)


def _identify(found: dict[str, Any]) -> Query:
    from wallflower.identify import Anomalies

    return Anomalies(**found)


def _explain(found: dict[str, Any]) -> Query:
    from wallflower.detectors import detector
    from wallflower.explain import Context

    return Context(**{**found, "detector": detector(found["detector"])})


def _publish(found: dict[str, Any]) -> Query:
    from wallflower.publish import PlainTable

    return PlainTable(**found)


_QUERIES = {"publish": _publish, "count": _count, "subspaces": _subspaces, "identify": _identify, "explain": _explain}
