"""One table of a TOML file, read key by key; every reading notes what is wrong and goes on.

`parser.parse` gives the `Section` of a whole file; `section` and `sections` go one level down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction

from wallflower.errors import UsageError, nearest_name
from wallflower.schema.exact import exact
from wallflower.schema.lines import Path
from wallflower.schema.problems import CONTROL, Bare, Problems, header, said

MOST_COMPARED = 2_000
"""Names that a misspelled one is compared with; a list of values may hold a million."""
SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""A name that can be an account of a ledger, a file and a part of a topic."""
NAME_IN_WORDS = "at most 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit"


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

    def whole(self, key: str, *, least: int, most: int | None = None) -> int | None:
        value = self.raw.get(key)
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or value < least
            or (most is not None and value > most)
        ):
            self.wrong(
                key, f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
            )
            return None
        return value

    def section(self, key: str, known: tuple[str, ...], *, why_not: dict[str, str] | None = None) -> Section | None:
        """The table `[key]` of this one; None when it is not there, or is no table (noted)."""
        raw = self.raw.get(key)
        if raw is None:
            return None
        if not isinstance(raw, dict):
            self.wrong(key, f"a table, written {header((*self.path, key))}")
            return None
        return Section(self.problems, (*self.path, key), raw, known=known, why_not=why_not or {})

    def sections(self, key: str, known: tuple[str, ...]) -> Iterator[tuple[str, Section]]:
        """Every `[key.NAME]`, in the order of the file."""
        tables = self.raw.get(key)
        if tables is None:
            return
        if not isinstance(tables, dict):
            self.wrong(key, f"a table, written {header((*self.path, key, 'NAME'))}")
            return
        for name, body in tables.items():
            if isinstance(body, dict):
                yield name, Section(self.problems, (*self.path, key, name), body, known=known)
            else:
                place = header((*self.path, key, name))
                self.refuse(key, f"'{name}' must be a table, got {said(body)}.", f"Write {place}.", at=(name,))

    def name(self, key: str) -> str | None:
        value = self.text(key)
        if value is not None and not SAFE_NAME.fullmatch(value):
            self.wrong(key, NAME_IN_WORDS)
            return None
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of texts, each once."""
        written = self.raw.get(key)
        if written is None:
            return None
        if not isinstance(written, list) or not written:
            self.wrong(key, "a list of at least one text in quotes")
            return None
        seen: list[str] = []
        for place, item in enumerate(written):
            if not isinstance(item, str) or item in seen:
                expected = "a list of texts in quotes" if not isinstance(item, str) else "a list without repeats"
                self.wrong(key, expected, got=item, at=(place,))
                return None
            seen.append(item)
        return tuple(seen)

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
