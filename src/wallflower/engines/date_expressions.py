"""Dates and moments written as text, as Ibis expressions; the twin of `schema.formats.DateFormat`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wallflower.engines.dialect import Dialect
from wallflower.engines.reading_rule import DATE_PATTERN
from wallflower.schema.formats import ISO, MICROSECONDS, MONTHS, DateFormat


def text_date(raw: Any, formats: Sequence[DateFormat], dialect: Dialect) -> Any:
    """The date that a text spells in the first format that fits; NULL when none does."""
    import ibis

    found = [_date(raw, format_, dialect) for format_ in formats]
    return ibis.coalesce(*found) if len(found) > 1 else found[0]


def text_moment(raw: Any, formats: Sequence[DateFormat], dialect: Dialect) -> Any:
    """Microseconds since 1970-01-01, by the same rule."""
    import ibis

    found = []
    for format_ in formats:
        days = dialect.days(_date(raw, format_, dialect))
        moment = days * (86_400 * MICROSECONDS)
        for mark, size in (("H", 3_600 * MICROSECONDS), ("M", 60 * MICROSECONDS), ("S", MICROSECONDS)):
            if mark in format_.marks:
                moment = moment + dialect.whole_of_text(_group(raw, format_, dialect, mark)) * size
        if "f" in format_.marks:
            moment = moment + dialect.whole_of_text(_group(raw, format_, dialect, "f").rpad(6, "0"))
        found.append(moment)
    return ibis.coalesce(*found) if len(found) > 1 else found[0]


def _date(raw: Any, format_: DateFormat, dialect: Dialect) -> Any:
    import ibis

    nothing = ibis.null("string")
    if format_ == ISO:
        spelt = dialect.matches(raw, DATE_PATTERN) & ~raw.startswith("0000")
        return dialect.date_of_text(ibis.cases((spelt, raw), else_=nothing))
    spelt = dialect.matches(raw, format_.pattern)
    for mark, most in (("H", 23), ("M", 59), ("S", 59)):
        if mark in format_.marks:
            spelt = spelt & (dialect.whole_of_text(_group(raw, format_, dialect, mark)) <= most)
    year, month = _year(raw, format_, dialect), _month(raw, format_, dialect)
    day = _group(raw, format_, dialect, "d").lpad(2, "0")
    # A format that does not fit gives empty groups, and no date.
    text = ibis.cases((spelt & (year != "0000"), year + "-" + month + "-" + day), else_=nothing)
    return dialect.date_of_text(text)


def _group(raw: Any, format_: DateFormat, dialect: Dialect, mark: str) -> Any:
    return dialect.part(raw, format_.pattern, format_.marks.index(mark) + 1)


def _year(raw: Any, format_: DateFormat, dialect: Dialect) -> Any:
    import ibis

    if "Y" in format_.marks:
        return _group(raw, format_, dialect, "Y")
    two = _group(raw, format_, dialect, "y")
    return ibis.cases((two >= "69", "19"), else_="20") + two  # two ASCII digits: texts order as numbers do


def _month(raw: Any, format_: DateFormat, dialect: Dialect) -> Any:
    import ibis

    if "m" in format_.marks:
        return _group(raw, format_, dialect, "m").lpad(2, "0")
    name = _group(raw, format_, dialect, "b").lower()
    return ibis.cases(*((name == month, f"{at:02}") for at, month in enumerate(MONTHS, start=1)), else_="00")
