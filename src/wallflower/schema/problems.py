"""What is wrong with a declaration, collected so that one look shows every mistake."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date

from wallflower.errors import DeclarationError, cut
from wallflower.schema.lines import Lines, Path
from wallflower.schema.toml_text import BARE_KEY

MOST_SHOWN = 8
"""More problems than this at once help nobody."""
MOST_QUOTED = 120
"""Characters of a quoted line; a list of values can be much longer."""
SECRET = re.compile(r"""(://)[^\s"']*(?=@)|(://[^\s"'?;]*[?;])[^\s"']*""")
"""Where an address may hold a password: between :// and the last @, and after ? or ; in it."""
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
JOINERS = frozenset("\u200c\u200d")
"""They are shown by how the letters beside them look."""


@dataclass(frozen=True)
class Bare:
    """A number with a point or an exponent, as its digits stand in the file: 0.1 is one tenth here, not a double."""

    text: str


@dataclass(frozen=True)
class Problem:
    path: Path
    message: str
    hint: str


@dataclass
class Problems:
    """Collects; `raise_any` turns what was collected into one error that quotes the lines."""

    name: str
    """What the file is called in messages."""
    lines: Lines
    found: list[Problem] = field(default_factory=list)

    def add(self, path: Path, message: str, hint: str = "") -> None:
        self.found.append(Problem(path, message, hint))

    def raise_any(self) -> None:
        if not self.found:
            return
        ordered = sorted(self.found, key=lambda problem: self.lines.of(problem.path) or 0)
        if len(ordered) == 1:
            only = ordered[0]
            message = f"{visible(self.name)}, {self._quote(only)}\n{visible(only.message)}"
            raise self._placed(DeclarationError(message, hint=visible(only.hint)))
        parts = [f"{visible(self.name)} has {len(ordered)} problems:"]
        parts += [
            f"{self._quote(each)}\n  {visible(f'{each.message} {each.hint}'.rstrip())}" for each in ordered[:MOST_SHOWN]
        ]
        if len(ordered) > MOST_SHOWN:
            parts.append(f"... and {len(ordered) - MOST_SHOWN} more.")
        raise self._placed(DeclarationError("\n".join(parts)))

    def _placed(self, error: DeclarationError) -> DeclarationError:
        error.places = tuple((each.path, visible(f"{each.message} {each.hint}".rstrip())) for each in self.found)
        return error

    def _quote(self, problem: Problem) -> str:
        number = self.lines.of(problem.path)
        return f"line {number}: {shortened(self.lines.line(number))}" if number else "as a whole:"


def shortened(line: str) -> str:
    """A line as an error quotes it: not too long, nothing hidden in it, and no password of an address."""
    line = SECRET.sub(r"\1\2...", line)
    return visible(line if len(line) <= MOST_QUOTED else f"{line[: MOST_QUOTED - 3]}...")


def visible(text: str) -> str:
    """`text` with every character that a terminal would obey instead of show written as an escape.

    Control characters, halves of letters, and those that turn the direction of writing (a quoted line must read as it stands);
    not the two that join letters, which names in many scripts need.

    >>> print(visible("red: \\x1b[31m, \\u202etxt.exe"))
    red: \\x1b[31m, \\u202etxt.exe
    """
    if text.isprintable():
        return text
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    obeyed = {each for each in text if unicodedata.category(each) in hidden} - JOINERS
    return "".join(each.encode("unicode_escape").decode() if each in obeyed else each for each in text)


def said(value: object) -> str:
    """A value the way its owner wrote it, cut where it would fill a screen."""
    if isinstance(value, Bare):
        return cut(value.text, MOST_QUOTED)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"[{', '.join(said(each) for each in value[:3])}{', ...' if len(value) > 3 else ''}]"
    return cut(json.dumps(value, ensure_ascii=False, default=str), MOST_QUOTED)


def header(path: Path) -> str:
    """`[columns.salary]` as a message shows it: quoted where TOML needs it, and cut where it would fill a screen."""
    return f"[{'.'.join(part if BARE_KEY.fullmatch(part) else said(part) for part in map(str, path))}]"
