"""What a setting of the declaration would mend, from texts that the owner's look found in the rows. NOT PRIVATE.

`check` hands in the cells that were not readable or not in the domain; `declare` the commonest cells of a column. What is
proposed here is about the format of texts; bounds, values and units stay for the owner to decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from wallflower.engines.reading_rule import number_text
from wallflower.errors import UsageError
from wallflower.schema.declaration import Column
from wallflower.schema.domains import Categories, Dates, Numbers
from wallflower.schema.exact import exact
from wallflower.schema.formats import ISO, CellFormat, DateFormat
from wallflower.schema.toml_text import quoted, quoted_list

Counted = tuple[tuple[str, int], ...]
"""Texts, the commonest first, with how often each occurs."""
COMMON_DATES = tuple(
    DateFormat(text)
    for text in (
        *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d"),
        *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d%b%Y", "%d-%b-%Y", "%d %b %Y", "%d-%b-%y", "%b %d %Y", "%b %d, %Y"),
        *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"),
        *("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S"),
        *("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f"),
    )
)
THOUSANDS = (",", ".", " ", "'", "\u00a0", "\u202f", "_")
MISSING_WORDS = frozenset(
    [
        "na",
        "n/a",
        "n.a.",
        "nan",
        "null",
        "none",
        "nil",
        "unknown",
        "unk",
        "unspecified",
        "missing",
        "not",
        "available",
        "not",
        "known",
        "?",
        "-",
        "--",
        "---",
        ".",
        "*",
        "#",
        "x",
        "keine",
        "angabe",
        "k.a.",
        "k.",
        "a.",
        "unbekannt",
        "inconnu",
    ]
) | {"not available", "not known", "keine angabe", "k. a.", "no data", "not stated"}
CODES = frozenset({99, 999, 9999, 99999, 999999, -1, -9, -99, -999, -9999, 888, 8888, 777, 7777})
"""Numbers that surveys and registers write for "nobody knows"."""
MOST_CODES = 6


@dataclass(frozen=True)
class Mend:
    """A line of the declaration and how many cells it would make readable."""

    line: str
    cells: int
    of_table: bool = False
    """Whether it goes into the section of the table, as `line` then says."""


def mends(column: Column, format_: CellFormat, spoilt: Counted, strays: Counted) -> list[Mend]:
    """Settings of one column, the most useful first; each is counted on its own."""
    found: list[Mend] = []
    if isinstance(column.domain, Numbers):
        found += _marks(format_, spoilt)
    if isinstance(column.domain, Dates):
        found += _formats(format_, spoilt)
    if isinstance(column.domain, Categories):
        codes = [text for text, _ in strays if is_word_for_missing(text)]
        found += _codes(format_, strays, codes)
    else:
        words = [text.strip(" ") for text, _ in spoilt if not any(letter.isdigit() for letter in text)]
        codes = [*words, *(text.strip(" ") for text, _ in strays if _is_code(text, format_))]
        found += _codes(format_, (*spoilt, *strays), codes)
    return sorted((mend for mend in found if mend.cells), key=lambda mend: -mend.cells)


def is_word_for_missing(text: str) -> bool:
    return text.strip(" ").lower() in MISSING_WORDS


def _marks(format_: CellFormat, spoilt: Counted) -> Iterable[Mend]:
    for mark in THOUSANDS:
        if mark not in {format_.decimal, format_.thousands}:
            changed = replace(format_, thousands=mark)
            yield Mend(f"thousands = {quoted(mark)}", sum(n for text, n in spoilt if number_text(text, changed)))
    if format_.decimal == ".":
        comma = replace(format_, decimal=",", thousands="." if format_.thousands == "," else format_.thousands)
        cells = sum(n for text, n in spoilt if number_text(text, comma))
        yield Mend('decimal = "," (in read of [table])', cells, of_table=True)


def _formats(format_: CellFormat, spoilt: Counted) -> Iterable[Mend]:
    for candidate in COMMON_DATES:
        if candidate not in format_.dates:
            cells = sum(n for text, n in spoilt if candidate.day(text) is not None)
            every = [each.text for each in (*format_.dates, candidate)]
            yield Mend(f"date = {quoted_list(every)}", cells)


def _codes(format_: CellFormat, texts: Counted, codes: Sequence[str]) -> Iterable[Mend]:
    usable = [code for code in dict.fromkeys(codes) if code and code.isprintable()][:MOST_CODES]
    if usable:
        every = list(dict.fromkeys((*format_.missing_codes, *usable)))
        written = quoted_list(every)
        yield Mend(f"missing_codes = {written}", sum(n for text, n in texts if text.strip(" ") in usable))


def _is_code(text: str, format_: CellFormat) -> bool:
    return _number_in(text, format_) in CODES


def _number_in(text: str, format_: CellFormat) -> Fraction | None:
    """The number that a cell spells, None where the reading rule finds none; by its double where writing it out would fill the memory."""
    spelt = number_text(text, format_)
    if spelt is None or not math.isfinite(float(spelt)):
        return None
    try:
        return exact(spelt)
    except UsageError:
        return Fraction(float(spelt))


@dataclass(frozen=True)
class Guess:
    """What the texts of a column probably are."""

    kind: str
    """integer, real, date, boolean or text."""
    dates: tuple[str, ...] = ()
    thousands: str = ""
    missing_codes: tuple[str, ...] = ()


ENOUGH = Fraction(19, 20)
"""So many of a column's cells must be numbers, or dates, before the rest is taken for slips."""


def guessed(texts: Counted, *, decimal: str = ".") -> Guess:
    """Of the commonest texts of a column, with how often each occurs."""
    total = sum(n for _, n in texts)
    words = tuple(text.strip(" ") for text, _ in texts if is_word_for_missing(text))[:MOST_CODES]
    rest = tuple((text, n) for text, n in texts if text.strip(" ") not in words)
    if not total or not rest:
        return Guess("text")
    if {text for text, _ in rest} <= {"true", "false"}:
        return Guess("boolean", missing_codes=words)
    return _number(rest, words, decimal) or _date(rest, words) or Guess("text", missing_codes=words)


def _number(texts: Counted, words: tuple[str, ...], decimal: str) -> Guess | None:
    total = sum(n for _, n in texts)
    for thousands in ("", *(mark for mark in THOUSANDS if mark != decimal)):
        format_ = CellFormat(decimal=decimal, thousands=thousands)
        found = [(_number_in(text, format_), n) for text, n in texts]
        read = sum(n for number, n in found if number is not None)
        if Fraction(read, total) < ENOUGH:
            continue
        fuller = CellFormat(decimal=decimal, thousands="," if decimal == "." else ".")
        if (
            not thousands
            and read < total
            and sum(n for text, n in texts if _number_in(text, fuller) is not None) > read
        ):
            continue  # most are short; the long ones have a mark
        values = [number for number, _ in found if number is not None]
        others = tuple(text.strip(" ") for (text, _), (number, _) in zip(texts, found, strict=True) if number is None)
        codes = (*words, *(each for each in others if not any(letter.isdigit() for letter in each)))[:MOST_CODES]
        ordinary = [abs(value) for value in values if value not in CODES]
        far = sorted({value for value in values if value in CODES and ordinary and abs(value) > 2 * max(ordinary)})
        codes = (*codes, *(str(value) for value in far))
        kind = "integer" if all(value.denominator == 1 for value in values) else "real"
        return Guess(kind, thousands=thousands, missing_codes=tuple(dict.fromkeys(codes)))
    return None


def _date(texts: Counted, words: tuple[str, ...]) -> Guess | None:
    total = sum(n for _, n in texts)
    formats: list[DateFormat] = []
    left = list(texts)
    while left:
        best = max(COMMON_DATES, key=lambda each: sum(n for text, n in left if each.day(text) is not None))
        after = [(text, n) for text, n in left if best.day(text) is None]
        if len(after) == len(left) or len(formats) == 3:
            break
        formats.append(best)
        left = after
    if not formats or Fraction(total - sum(n for _, n in left), total) < ENOUGH:
        return None
    codes = (*words, *(text.strip(" ") for text, _ in left if not any(letter.isdigit() for letter in text)))
    written = () if formats == [ISO] else tuple(each.text for each in formats)
    return Guess("date", dates=written, missing_codes=tuple(dict.fromkeys(codes))[:MOST_CODES])
