"""What is wrong with a declaration, collected so that one look shows every mistake."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from fractions import Fraction

from wallflower.errors import DeclarationError, UsageError, nearest_name
from wallflower.schema.exact import exact
from wallflower.schema.locate import Lines, Path

MOST_SHOWN = 8
"""More problems than this at once help nobody."""
MOST_QUOTED = 120
"""Characters of a quoted line; a list of values can be much longer."""
MOST_COMPARED = 2_000
"""Names that a misspelled one is compared with; a list of values may hold a million."""
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


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
            raise DeclarationError(f"{self.name}, {self._quote(only)}\n{only.message}", hint=only.hint)
        parts = [f"{self.name} has {len(ordered)} problems:"]
        parts += [f"{self._quote(each)}\n  {each.message} {each.hint}".rstrip() for each in ordered[:MOST_SHOWN]]
        if len(ordered) > MOST_SHOWN:
            parts.append(f"... and {len(ordered) - MOST_SHOWN} more.")
        raise DeclarationError("\n".join(parts))

    def _quote(self, problem: Problem) -> str:
        number = self.lines.of(problem.path)
        return f"line {number}: {shortened(self.lines.line(number))}" if number else "as a whole:"


def shortened(line: str) -> str:
    return line if len(line) <= MOST_QUOTED else f"{line[: MOST_QUOTED - 3]}..."


def said(value: object) -> str:
    """A value the way its owner wrote it."""
    if isinstance(value, Bare):
        return value.text
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"[{', '.join(said(each) for each in value[:3])}{', ...' if len(value) > 3 else ''}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def header(path: Path) -> str:
    """`[columns.salary]`, quoted where TOML needs it."""
    return f"[{'.'.join(part if re.fullmatch('[A-Za-z0-9_-]+', part) else said(part) for part in map(str, path))}]"


OTHER_WORDS = {
    "name": "id",
    "file": "source",
    "path": "source",
    "min": "lower",
    "minimum": "lower",
    "max": "upper",
    "maximum": "upper",
    "precision": "step",
    "resolution": "step",
    "categories": "values",
    "domain": "values",
    "center": "centre",
    "null": "missing",
    "eps": "epsilon",
}
"""What other tools call things: too far from ours for a spelling match."""


@dataclass
class Section:
    """One table of the file. Each reading method returns None after noting a problem, so that reading goes on."""

    problems: Problems
    path: Path
    raw: dict[str, object]
    known: tuple[str, ...]
    why_not: dict[str, str] = field(default_factory=dict)
    """Reasons against keys that are valid elsewhere but not here."""
    meant: set[str] = field(default_factory=set)
    """Known keys that an unknown one was probably meant to be; not reported as missing a second time."""

    def __post_init__(self) -> None:
        for key in self.raw:
            if key in self.known:
                continue
            if key in self.why_not:
                self.refuse(key, f"'{key}' has no place in {self.title}.", self.why_not[key])
                continue
            what = f"a key of {self.title}" if self.path else "a table of this file"
            word = OTHER_WORDS.get(key.lower(), key)
            self.refuse(key, f"'{key}' is not {what}.", nearest_name(word, self.known))
            self.meant.update(get_close_matches(word, [name for name in self.known if name not in self.raw], n=1))

    @property
    def title(self) -> str:
        return header(self.path)

    def __contains__(self, key: str) -> bool:
        return key in self.raw

    def refuse(self, key: str, message: str, hint: str = "", *, at: Path = ()) -> None:
        self.problems.add((*self.path, key, *at), message, hint)

    def wrong(self, key: str, expected: str, hint: str = "", *, got: object = None, at: Path = ()) -> None:
        value = self.raw[key] if got is None else got
        self.refuse(key, f"'{key}' must be {expected}, got {said(value)}.", hint, at=at)

    def need(self, key: str, example: str) -> bool:
        """Whether `key` is there; noted as a problem when it is not."""
        if key not in self.raw and key not in self.meant:
            self.problems.add(self.path, f"{self.title} needs '{key}'.", f"Write, for example, {example}.")
        return key in self.raw

    def text(self, key: str) -> str | None:
        value = self.raw.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip() or CONTROL.search(value):
            self.wrong(key, "text in quotes, not empty and on one line")
            return None
        return value

    def whole(self, key: str, *, least: int) -> int | None:
        value = self.raw.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self.wrong(key, f"a whole number of at least {least}")
            return None
        return value

    def flag(self, key: str) -> bool | None:
        value = self.raw.get(key)
        if value is not None and not isinstance(value, bool):
            self.wrong(key, "true or false", "Without quotes, in lower case.")
            return None
        return value

    def choice(self, key: str, options: Iterable[str]) -> str | None:
        value = self.raw.get(key)
        names = tuple(options)
        if value is None or (isinstance(value, str) and value in names):
            return value
        self.wrong(key, f"one of {', '.join(said(name) for name in names)}", nearest_hint(value, names))
        return None

    def number(self, key: str, value: object = None, *, at: Path = ()) -> Fraction | None:
        """An exact number: whole, with a point, or a decimal or fraction in quotes."""
        value = self.raw.get(key) if value is None else value
        if value is None:
            return None
        parsed = fraction(value)
        if parsed is None:
            self.wrong(key, "a number", 'For example 10, 0.5, "0.5" or "1/3".', got=value, at=at)
        return parsed

    def budget(self, key: str) -> Fraction | None:
        """A number that is charged: never a bare float, because elsewhere in TOML that is a binary one."""
        value = self.raw.get(key)
        if value is None:
            return None
        if isinstance(value, Bare):
            self.wrong(key, "a whole number, or a decimal or fraction in quotes", f'Write {key} = "{value.text}".')
            return None
        return self.number(key)


def fraction(value: object) -> Fraction | None:
    """The exact number that was written; None when it is not one."""
    spelled = value.text if isinstance(value, Bare) else value
    if isinstance(spelled, bool) or not isinstance(spelled, str | int):
        return None
    try:
        return exact(spelled)
    except UsageError:
        return None


def nearest_hint(value: object, names: Iterable[str]) -> str:
    """'Did you mean …?', or nothing when nothing is close: the options are in the sentence before."""
    few = list(names)[:MOST_COMPARED]
    close = get_close_matches(value, few, n=1) if isinstance(value, str) else []
    return f"Did you mean '{close[0]}'?" if close else ""
