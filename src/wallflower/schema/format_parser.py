"""`read = {...}` and a column's own `date`, `thousands` and `missing_codes`: how texts of a file are read."""

from __future__ import annotations

import codecs

from wallflower.schema.declaration import Reading
from wallflower.schema.domains import Categories, Dates, Domain, Numbers
from wallflower.schema.formats import DateFormat, FormatRefused
from wallflower.schema.problems import CONTROL, said
from wallflower.schema.section import Section

READ_KEYS = ("delimiter", "encoding", "decimal", "thousands", "date", "missing_codes")
THOUSANDS = (",", ".", " ", "'", "_", "\u00a0", "\u202f", "\u2019")
"""Marks that stand between groups of three digits somewhere in the world; the last three are typeset ones."""
NO_ENCODINGS = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape"})
"""What Python lists among encodings and some bytes have no reading in; their texts are parts of addresses and of programs."""


def read_reading(table: Section) -> Reading:
    section = table.section("read", READ_KEYS)
    if section is None:
        return Reading()
    delimiter, decimal = section.raw.get("delimiter", ","), section.raw.get("decimal", ".")
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n\0':
        section.wrong("delimiter", 'one character, such as ";" or "\\t"')
        delimiter = ","
    decimal = section.choice("decimal", (".", ",")) or "."
    if delimiter == decimal and ("delimiter" in section or "decimal" in section):
        key = "decimal" if "decimal" in section else "delimiter"
        section.refuse(key, f"'delimiter' and 'decimal' are both {said(decimal)}.", "Name the two characters apart.")
    encoding = section.text("encoding") or "utf-8"
    if not is_encoding(encoding):
        section.wrong("encoding", "an encoding of text that Python knows", 'For example "utf-8" or "latin-1".')
    return Reading(
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        thousands=read_thousands(section, decimal) or "",
        dates=read_dates(section),
        missing_codes=read_codes(section) or (),
    )


def is_encoding(name: str) -> bool:
    """Whether Python reads texts by it, whatever their bytes are."""
    try:
        "a".encode(name)  # codecs.lookup would also find "base64", which is no encoding of text
        return codecs.lookup(name).name not in NO_ENCODINGS
    except (LookupError, UnicodeError):
        return False


def read_thousands(section: Section, decimal: str) -> str | None:
    """The mark, "" for none, or None when nothing is written."""
    written = section.raw.get("thousands")
    if written is None or written == "":
        return None if written is None else ""
    if written not in THOUSANDS:
        section.wrong(
            "thousands", "a mark between groups of three digits", 'One of "," "." " " "\'" "_", or "" for none.'
        )
        return None
    if written == decimal:
        section.refuse(
            "thousands",
            f"'thousands' and 'decimal' are both {said(decimal)}.",
            f"Write decimal = {said(',' if decimal == '.' else '.')} in read, or another mark here.",
        )
        return None
    return str(written)


def read_dates(section: Section) -> tuple[DateFormat, ...] | None:
    written = section.raw.get("date")
    if written is None:
        return None
    formats: list[DateFormat] = []
    for place, item in enumerate(written if isinstance(written, list) else [written]):
        at = (place,) if isinstance(written, list) else ()
        if not isinstance(item, str):
            section.wrong("date", 'a format such as "%d.%m.%Y", or a list of them', got=item, at=at)
            return None
        try:
            formats.append(DateFormat(item))
        except FormatRefused as refusal:
            section.refuse(
                "date", f"{said(item)} is not a format of dates: {refusal}.", 'For example "%d.%m.%Y".', at=at
            )
            return None
    if not formats:
        section.wrong("date", 'a format such as "%d.%m.%Y", or a list of them')
        return None
    return tuple(formats)


def read_codes(section: Section) -> tuple[str, ...] | None:
    written = section.raw.get("missing_codes")
    if written is None:
        return None
    if not isinstance(written, list):
        section.wrong("missing_codes", 'a list of texts in quotes, such as ["NA", "999"]')
        return None
    codes: list[str] = []
    for place, item in enumerate(written):
        usable = isinstance(item, str) and item.strip(" ") == item and item and not CONTROL.search(item)
        if not usable or item in codes:
            expected = (
                "a list without repeats" if item in codes else "a list of texts in quotes, without spaces around them"
            )
            hint = f'Write "{item}".' if isinstance(item, int) and not isinstance(item, bool) else ""
            section.wrong("missing_codes", expected, hint, got=item, at=(place,))
            return None
        codes.append(item)
    return tuple(codes)


def refuse_unread(section: Section, domain: Domain | None) -> None:
    """A format where nothing of its kind is read would be a slip."""
    if "date" in section and isinstance(domain, Categories | Numbers):
        section.refuse("date", "'date' is for columns of dates, whose bounds are dates.", "Leave it out.")
    if "thousands" in section and isinstance(domain, Categories | Dates):
        section.refuse("thousands", "'thousands' is for columns of numbers.", "Leave it out.")


def refuse_declared_codes(section: Section, domain: Domain | None, codes: tuple[str, ...]) -> None:
    """A text cannot be a value of the domain and mean that there is none."""
    if not isinstance(domain, Categories):
        return
    both = [code for code in codes if code in domain.values]
    if both:
        own = "missing_codes" in section
        section.refuse(
            "missing_codes" if own else "values",
            f"{said(both[0])} is both a declared value and a missing code.",
            "Take it out of one of them."
            if own
            else "Take it out of values, or write missing_codes = [] for this column.",
        )
