"""Change single values of a TOML text and leave every other line, comments included, as it stands.

Python reads TOML and does not write it. So a value is changed by the lines it stands on, and the result is read again and
compared with what was meant: a text written in a way these lines cannot follow (inline tables, dotted keys) is refused,
never spoilt.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wallflower.errors import DeclarationError
from wallflower.schema.parser import values
from wallflower.schema.problems import header
from wallflower.schema.toml_text import header_text, key_text

Place = tuple[str, ...]


@dataclass(frozen=True)
class _Piece:
    """A header or one `key = value`, from line `start` up to before line `end`."""

    section: Place
    key: str | None
    start: int
    end: int


def changed(text: str, edits: Mapping[Place, str | None], *, without: tuple[Place, ...] = ()) -> str:
    """The text with each value written anew (TOML), or taken out where None is given; `without`: whole tables to cut.

    >>> print(changed('[a]\\nb = 1  # why\\n\\n[c]\\nd = [\\n  2,\\n]\\n', {("a", "b"): "7", ("c", "d"): None, ("c", "e"): '"x"'}))
    [a]
    b = 7  # why
    <BLANKLINE>
    [c]
    e = "x"
    <BLANKLINE>
    """
    wanted = _meant(values(text), edits, without)
    lines = text.replace("\r\n", "\n").split("\n")
    for place in without:
        lines = _cut(lines, place)
    for place, written in edits.items():
        if not any(place[: len(cut)] == cut for cut in without):
            lines = _put(lines, place, written)
    result = "\n".join(lines)
    try:
        found = values(result)
    except tomllib.TOMLDecodeError:
        found = None
    if found != wanted:
        raise DeclarationError(
            "the declaration is written in a way that the fields cannot change.", hint="Change its text instead."
        )
    return result


def _meant(raw: dict[str, Any], edits: Mapping[Place, str | None], without: tuple[Place, ...]) -> dict[str, Any]:
    wanted = copy.deepcopy(raw)
    for place in without:
        _table(wanted, place[:-1]).pop(place[-1], None)
    for place, written in edits.items():
        if any(place[: len(cut)] == cut for cut in without):
            continue
        if written is None:
            table = _table(wanted, place[:-1], make=False)
            table.pop(place[-1], None)
        else:
            _table(wanted, place[:-1])[place[-1]] = values(f"x = {written}")["x"]
    return wanted


def _table(raw: dict[str, Any], place: Place, *, make: bool = True) -> dict[str, Any]:
    table = raw
    for name in place:
        found = table.setdefault(name, {}) if make else table.get(name, {})
        if not isinstance(found, dict):
            raise DeclarationError(f"{header(place)} is not written as a table.", hint="Change the text instead.")
        table = found
    return table


def _pieces(lines: list[str]) -> list[_Piece]:
    found: list[_Piece] = []
    section: Place = ()
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if not line or line.startswith("#"):
            at += 1
            continue
        if line.startswith("["):
            section = _section(line)
            found.append(_Piece(section, None, at, at + 1))
            at += 1
            continue
        end = at + 1
        value: dict[str, Any] | None = None
        while value is None:
            try:
                value = tomllib.loads("\n".join(lines[at:end]))
            except tomllib.TOMLDecodeError:
                end += 1
                if end > len(lines):
                    return found
        found.append(_Piece(section, next(iter(value), None), at, end))
        at = end
    return found


def _section(line: str) -> Place:
    names: list[str] = []
    table: Any = tomllib.loads(line)
    while isinstance(table, dict) and table:
        name, table = next(iter(table.items()))
        names.append(name)
    return tuple(names)


def _put(lines: list[str], place: Place, written: str | None) -> list[str]:
    section, key = place[:-1], place[-1]
    pieces = _pieces(lines)
    here = [piece for piece in pieces if piece.section == section]
    for piece in here:
        if piece.key == key:
            line = [] if written is None else [f"{key_text(key)} = {written}{_comment(lines, piece)}"]
            return lines[: piece.start] + line + lines[piece.end :]
    if written is None:
        return lines
    line = [f"{key_text(key)} = {written}"]
    if here:
        return lines[: here[-1].end] + line + lines[here[-1].end :]
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], "", header_text(section), *line, ""]


def _cut(lines: list[str], place: Place) -> list[str]:
    inside = [piece for piece in _pieces(lines) if piece.section[: len(place)] == place]
    gone = {number for piece in inside for number in range(piece.start, piece.end)}
    return [line for number, line in enumerate(lines) if number not in gone]


def _comment(lines: list[str], piece: _Piece) -> str:
    """What follows a value on its own line."""
    line = lines[piece.end - 1]
    for at in (place for place, letter in enumerate(line) if letter == "#"):
        try:
            tomllib.loads("\n".join([*lines[piece.start : piece.end - 1], line[:at]]))
        except tomllib.TOMLDecodeError:
            continue
        return f"  {line[at:]}"
    return ""
