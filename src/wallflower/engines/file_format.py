"""What a text file looks like to its owner: encoding, delimiter, decimal mark, and whether it begins with names. NOT PRIVATE."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from wallflower.engines.suggestions import guessed
from wallflower.errors import UsageError
from wallflower.schema.declaration import Reading
from wallflower.schema.format_parser import is_encoding

LOOKED_AT = 1 << 18
DELIMITERS = (",", ";", "\t", "|")
_COMMA_NUMBER = re.compile(r" *[+-]?([0-9]{1,3}([. '\u00a0\u202f][0-9]{3})+|[0-9]+),[0-9]+ *")
_GROUPED_NUMBER = re.compile(r" *[+-]?[1-9][0-9]{0,2},[0-9]{3} *")
"""Either one thousand two hundred and thirty-four, or a little more than one: no sign of a decimal comma by itself."""
_POINT_NUMBER = re.compile(r" *[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)\.[0-9]+ *")


@dataclass(frozen=True)
class FileFormat:
    """How a text file is read, and whether its first line names columns."""

    reading: Reading
    named: bool


def file_format(path: Path, *, delimiter: str | None = None, encoding: str | None = None) -> FileFormat:
    """From the beginning of the file; what is given is taken as it is."""
    with path.open("rb") as file:
        start = file.read(LOOKED_AT)
    encoding = encoding or _encoding(start)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(start)
    lines = text.splitlines()
    lines = lines[:-1] if len(start) == LOOKED_AT and len(lines) > 1 else lines
    delimiter = delimiter or _delimiter(lines[:200])
    rows = [row for row in csv.reader(lines[:2_000], delimiter=delimiter) if row]
    decimal = _decimal(rows[1:], delimiter)
    plain = "utf-8" if encoding == "utf-8-sig" else encoding
    return FileFormat(Reading(delimiter=delimiter, encoding=plain, decimal=decimal), _named(rows, decimal))


def reading_of(path: Path, *, delimiter: str | None, encoding: str | None) -> Reading:
    """How a text file is read whose first line names its columns; what is not given is found in it."""
    if delimiter is not None and len(delimiter) != 1:
        raise UsageError(f"a delimiter is one character, got '{delimiter}'.", hint="For a tab write \\t.")
    if encoding is not None and not is_encoding(encoding):
        raise UsageError(f"the encoding '{encoding}' is not known.", hint='For example "utf-8" or "latin-1".')
    found = file_format(path, delimiter=delimiter, encoding=encoding)
    if not found.named:
        raise UsageError(
            f"the first line of '{path.name}' does not look like names of columns, and every text file needs them.",
            hint="Write a first line with a name for each column. Nothing was drafted: the names would have been a row.",
        )
    return found.reading


def _encoding(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        decoder.decode(start)
    except UnicodeDecodeError:
        return "cp1252" if any(0x80 <= byte <= 0x9F for byte in start) else "latin-1"
    return "utf-8-sig"


def _delimiter(lines: list[str]) -> str:
    """The character that gives most lines the same number of cells, and the most cells."""

    def worth(mark: str) -> tuple[float, int]:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=mark) if row)
        if not widths:
            return (0, 0)
        width, often = widths.most_common(1)[0]
        return (often / sum(widths.values()) if width > 1 else 0, width)

    best = max(DELIMITERS, key=worth)
    return best if worth(best)[1] > 1 else ","


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    cells = [cell for row in rows for cell in row]
    commas = sum(
        _COMMA_NUMBER.fullmatch(cell) is not None and _GROUPED_NUMBER.fullmatch(cell) is None for cell in cells
    )
    points = sum(_POINT_NUMBER.fullmatch(cell) is not None for cell in cells)
    return "," if commas > points and delimiter != "," else "."


def _named(rows: list[list[str]], decimal: str) -> bool:
    """Whether the first line can be names: no number or date among them, where the next lines hold some."""
    if not rows:
        return True
    first, rest = rows[0], rows[1:]
    if any(
        guessed(((cell, 1),), decimal=decimal).kind in {"integer", "real", "date"} for cell in first if cell.strip()
    ):
        return False
    return len(set(first)) == len(first) or not rest
