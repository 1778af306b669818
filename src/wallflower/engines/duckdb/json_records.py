"""JSON split into records and cells, so that no record decides how another is read.

An array is split at the commas between its elements, which needs the strings and brackets of the text and nothing else; lines
are split at line ends. Every piece is then read on its own: what is no record is a record without cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wallflower.engines.reading_rule import UNDECODABLE

BLOCK = 1 << 20
BLANK = b" \t\r\n"
MARK = b"\xef\xbb\xbf"
STRUCTURE = re.compile(rb'"|[\[\]{},]')
STRING_END = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
LONGEST_INTEGER = 4000
"""Digits; Python refuses more than 4300, and no number is that long."""
DEEPEST = 200
"""Brackets within brackets. How many more Python would read depends on who is asking, and a row may not."""


def is_array(path: Path) -> bool:
    """Whether the text begins with a bracket; files of lines are known by their ending."""
    if path.suffix.lower() != ".json":
        return False
    with path.open("rb") as file:
        start = file.read(BLOCK).removeprefix(MARK)
        while start and not start.strip(BLANK):
            start = file.read(BLOCK)
    return start.lstrip(BLANK)[:1] == b"["


def whole(path: Path) -> bool:
    """Whether an array has its end, and nothing after it: only then is what a record is beyond doubt."""
    splitter = _Splitter()
    for _ in _split(path, splitter):
        pass
    return splitter.ended and not splitter.surplus


def records(path: Path) -> Iterator[dict[str, Any]]:
    """One for each element or line; a piece that is no record has no cells."""
    for piece in _elements(path) if is_array(path) else _lines(path):
        yield _record(piece)


def _elements(path: Path) -> Iterator[bytes]:
    splitter = _Splitter()
    yield from _split(path, splitter)
    yield from splitter.rest()


def _split(path: Path, splitter: _Splitter) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(
            max(BLOCK, splitter.held)
        ):  # as much again: a long element is looked at a few times only
            yield from splitter.add(block)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        first = True
        for line in file:
            piece = line.removeprefix(MARK) if first else line
            first = False
            if piece.strip(BLANK):
                yield piece


class _Splitter:
    """The elements of an array as its bytes arrive; total: any bytes have their elements."""

    def __init__(self) -> None:
        self.ended = self.surplus = False
        self._text = b""
        self._at = 0
        """How far the text is known."""
        self._from = 0
        """Where the element begins."""
        self._depth = 0
        self._several = False

    @property
    def held(self) -> int:
        """Bytes of the element that has not ended."""
        return len(self._text) - self._from

    def add(self, block: bytes) -> Iterator[bytes]:
        if self.ended:
            self.surplus = self.surplus or bool(block.strip(BLANK))
            return
        self._text = self._text[self._from :] + block
        self._at -= self._from
        self._from = 0
        while not self.ended and (found := STRUCTURE.search(self._text, self._at)):
            if found[0] != b'"':
                yield from self._bracket_or_comma(found[0], found.start())
                continue
            closed = STRING_END.match(self._text, found.end())
            if closed is None:
                self._at = found.start()
                return
            self._at = closed.end()
        if not self.ended:
            self._at = len(self._text)

    def _bracket_or_comma(self, letter: bytes, place: int) -> Iterator[bytes]:
        self._at = place + 1
        if letter in b"[{":
            self._depth += 1
            if self._depth == 1:
                self._from = self._at
        elif letter in b"]}":
            self._depth -= 1
            self.ended = self._depth == 0
            self.surplus = self.ended and (letter != b"]" or bool(self._text[self._at :].strip(BLANK)))
            if self.ended:
                yield from self._piece(place, last=True)
        elif self._depth == 1:
            yield from self._piece(place, last=False)

    def rest(self) -> Iterator[bytes]:
        """What an array without an end leaves: its last element."""
        if not self.ended and self._depth:
            yield from self._piece(len(self._text), last=True)

    def _piece(self, end: int, *, last: bool) -> Iterator[bytes]:
        piece = self._text[self._from : end]
        self._from = self._at
        self._several = self._several or not last
        if piece.strip(BLANK) or self._several:  # [] holds nothing; [1,] holds 1 and something that is no record
            yield piece


def _record(piece: bytes) -> dict[str, Any]:
    if piece.count(b"[") + piece.count(b"{") > DEEPEST and _depth(piece) > DEEPEST:
        return {}
    try:
        found = _DECODER.decode(piece.decode("utf-8", "replace").strip())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _depth(piece: bytes) -> int:
    """How many brackets are open at once, at most; those in texts are letters."""
    at = depth = deepest = 0
    while found := STRUCTURE.search(piece, at):
        at = found.end()
        if found[0] == b'"':
            closed = STRING_END.match(piece, at)
            at = len(piece) if closed is None else closed.end()
        elif found[0] != b",":
            depth += 1 if found[0] in b"[{" else -1
            deepest = max(deepest, depth)
    return deepest


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name that stands twice in a record names no one cell: it is unreadable."""
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                found[name] = UNDECODABLE
            seen.add(name)
    return found


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= LONGEST_INTEGER else digits


_CONSTANT: Callable[[str], float | None] = {"NaN": None, "Infinity": float("inf"), "-Infinity": float("-inf")}.get
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_whole_number, parse_constant=_CONSTANT)
