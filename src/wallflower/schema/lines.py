"""On which line of a TOML file each key, table and list item stands; `tomllib` does not say.

The text has been accepted by `tomllib` before it comes here, so the scanner only has to find its way, not to judge.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, field

from wallflower.schema.toml_text import BARE_KEY

Path = tuple[str | int, ...]
"""Names from the top of the file down; a number is a place in a list."""

_BLANK = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_ONE_LINE_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_LONG_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""(?!"(?!""))"{0,2}|\'\'\'.*?\'\'\'\'{0,2}', re.DOTALL)
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")


@dataclass
class Lines:
    """The text by line, and the line of every path that was found."""

    text: str
    found: dict[Path, int] = field(default_factory=dict)

    def of(self, path: Path) -> int | None:
        """The line (from 1) of `path`, or of the nearest thing around it that is in the file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.found:
                return self.found[path[:length]]
        return None

    def line(self, number: int) -> str:
        return self.text.split("\n")[number - 1].strip()


def locate(text: str) -> Lines:
    """Find every path of a valid TOML document.

    >>> lines = locate('[a]\\nb = 1\\nc = [\\n  2,\\n  {d = 3},\\n]')
    >>> lines.of(("a", "b")), lines.of(("a", "c", 1, "d")), lines.of(("a", "missing"))
    (2, 5, 1)
    """
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.document()
    return scanner.lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines = Lines(text)
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def document(self) -> None:
        table: Path = ()
        self.skip(_BLANK_LINES)
        while self.at < len(self.text):
            before = self.at
            if self.here("["):
                start = self.at
                self.at += 2 if self.here("[[") else 1
                table = self.key(())
                self.record(table, start)
                self.at += 2 if self.text.startswith("]]", self.at) else 1
            else:
                self.pair(table)
            self.skip(_BLANK_LINES)
            if self.at == before:  # not TOML after all: keep what was found
                return

    def pair(self, table: Path) -> None:
        start = self.at
        path = self.key(table)
        self.record(path, start)
        self.at += 1  # the equals sign
        self.value(path)

    def key(self, table: Path) -> Path:
        """A bare, quoted or dotted key, up to what follows it."""
        path = table
        while True:
            self.skip(_BLANK)
            quoted = _ONE_LINE_STRING.match(self.text, self.at)
            if quoted:
                path = (*path, str(tomllib.loads(f"k = {quoted.group()}")["k"]))
                self.at = quoted.end()
            else:
                path = (*path, self.skip(BARE_KEY))
            self.skip(_BLANK)
            if not self.here("."):
                return path
            self.at += 1

    def value(self, path: Path) -> None:
        self.skip(_BLANK)
        if self.here("["):
            self.items(path)
        elif self.here("{"):
            self.inline_table(path)
        elif self.here('"""') or self.here("'''"):
            self.skip(_LONG_STRING)
        elif self.here('"') or self.here("'"):
            self.skip(_ONE_LINE_STRING)
        else:
            self.skip(_BARE_VALUE)

    def items(self, path: Path) -> None:
        self.at += 1
        place = 0
        self.skip(_BLANK_LINES)
        while self.at < len(self.text) and not self.here("]"):
            before = self.at
            self.record((*path, place), self.at)
            self.value((*path, place))
            place += 1
            self.skip(_BLANK_LINES)
            self.at += self.here(",")
            self.skip(_BLANK_LINES)
            if self.at == before:
                return
        self.at += 1

    def inline_table(self, path: Path) -> None:
        self.at += 1
        self.skip(_BLANK_LINES)
        while self.at < len(self.text) and not self.here("}"):
            before = self.at
            self.pair(path)
            self.skip(_BLANK_LINES)
            self.at += self.here(",")
            self.skip(_BLANK_LINES)
            if self.at == before:
                return
        self.at += 1

    def record(self, path: Path, at: int) -> None:
        line = bisect_right(self.starts, at)
        for length in range(1, len(path) + 1):
            self.lines.found.setdefault(path[:length], line)

    def here(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match.group()
