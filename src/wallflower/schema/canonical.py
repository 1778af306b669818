"""The one written form of a question, a declaration and an answer: fingerprints, ledger events and request ids use it.

A promise about this file, because what it writes is kept for ever:

- the name of a field and the name of a class (or its `written_as`) are part of the format: neither is ever changed;
- a field is never removed and never changes its meaning; a new one has a default that means "as before", and that
  default never changes: a field at its default is left out of a fingerprint, so a new one changes no old declaration;
- numbers are whole, or exact fractions in their one shortest spelling; no float is ever written.

`tests/golden` holds files of this form that every later version must read, compare and digest as this one does.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

from wallflower.errors import UsageError
from wallflower.schema.exact import shown

PLACE = {"place": True}
"""Metadata of a field that says where something is put: no part of what is asked."""

MOMENT = {"moment": True}
"""Metadata of a field that says until when a series is told now: no part of what is asked, either."""


def text(value: object) -> str:
    """One text for one JSON value.

    >>> text({"b": [1, "1/3"], "a": None})
    '{"a":null,"b":[1,"1/3"]}'
    """
    return json.dumps(plain(value, of="the ledger"), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(value: object) -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(text(value).encode()).hexdigest()


def plain(value: object, *, of: str = "a release") -> Any:
    """The same value in nothing but JSON's own types, copied: no float, which can carry more of the rows than it shows,
    and no subclass, which can carry anything.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return "".join(value)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            message = f"{of} names its fields by text"
            raise TypeError(message)
        return {"".join(key): plain(item, of=of) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [plain(item, of=of) for item in value]
    message = f"{of} cannot hold a {type(value).__name__}"  # its value may come from rows
    raise TypeError(message)


def question(query: Any, *, like: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A question in full; places and moments are no part of it.

    `like` is a question written earlier, perhaps by an earlier version: a field that it does not have is left out where
    it is at its default, so that the two are equal exactly when the same thing is asked.
    """
    if not dataclasses.is_dataclass(query) or isinstance(query, type):
        raise UsageError(f"a query is a frozen dataclass, got {type(query).__name__}.")
    known = None if like is None else {key: value for key, value in like.items() if key != "command"}
    return {"command": query.name, **_fields(query, _full, like=known)}  # type: ignore[attr-defined]


def place_of(query: Any) -> Path | None:
    """Where a question wants its file put; None for a question that has no such field."""
    places = [field.name for field in dataclasses.fields(query) if field.metadata.get("place")]
    return Path(str(getattr(query, places[0]))) if places else None


def meaning(value: object, *, without: Mapping[str, frozenset[str]]) -> Any:
    """What a declared value means: every field that is not at its default, but for those named in `without` by class."""

    def part(inner: object, _like: object = None) -> Any:
        if dataclasses.is_dataclass(inner) and not isinstance(inner, type):
            return _fields(inner, part, omitted=without.get(_name(inner), frozenset()), like={})
        return _simple(inner, part)

    return part(value)


def _full(value: object, like: object = None) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value, _full, like=like if isinstance(like, Mapping) else None)
    return _simple(value, _full, like)


def _name(value: object) -> str:
    return str(getattr(value, "written_as", type(value).__name__))


def _fields(
    value: Any,
    part: Callable[[object, object], Any],
    *,
    omitted: frozenset[str] = frozenset(),
    like: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A dataclass by its fields; with `like`, those at their default that `like` does not have are left out."""
    found: dict[str, Any] = {"kind": _name(value)}
    for field in dataclasses.fields(value):
        held = getattr(value, field.name)
        if field.name in omitted or field.metadata.get("place") or field.metadata.get("moment"):
            continue
        if like is not None and field.name not in like and _is_default(field, held, part):
            continue
        if field.name in {"command", "kind"}:
            raise UsageError(
                f"a field of {type(value).__name__} is called 'command' or 'kind', which would hide what it is."
            )
        found[field.name] = part(held, None if like is None else like.get(field.name))
    return found


def _is_default(field: dataclasses.Field[Any], value: object, part: Callable[[object, object], Any]) -> bool:
    """Whether a value is written as its default would be."""
    if field.default is not dataclasses.MISSING:
        default = field.default
    elif field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    else:
        return False
    if isinstance(value, Fraction) and not isinstance(default, Fraction):
        return default is not None and str(default) != "" and value == _number(default)
    written: bool = type(default).__name__ == type(value).__name__ and part(default, {}) == part(value, {})
    return written


def _number(default: object) -> Fraction | None:
    try:
        return Fraction(default) if isinstance(default, str | int) else None
    except ValueError:
        return None


def _simple(value: object, part: Callable[[object, object], Any], like: object = None) -> Any:
    if isinstance(value, Fraction):
        return shown(value)
    if isinstance(value, Mapping):
        known = like if isinstance(like, Mapping) else {}
        return {str(key): part(item, known.get(str(key))) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted((part(item, None) for item in value), key=text)
    if isinstance(value, list | tuple):
        earlier = like if isinstance(like, list | tuple) else []
        return [part(item, earlier[i] if i < len(earlier) else None) for i, item in enumerate(value)]
    if isinstance(value, str | Path | date):
        return _encodable(str(value))  # a date's text is its ISO form
    if value is None or isinstance(value, bool | int):
        return value
    raise UsageError(
        f"a query cannot hold a {type(value).__name__}: the ledger could not say what was asked.",
        hint="Use text, whole numbers, exact fractions, or frozen dataclasses of them.",
    )


def _encodable(said: str) -> str:
    """Text that can be written down; the command line lets bytes through that are no text."""
    if not said.isascii() and any("\ud800" <= letter <= "\udfff" for letter in said):
        raise UsageError(f"{said!a} is not text.", hint="Write it in UTF-8.")
    return said
