"""Dates and moments written as text, as Ibis expressions; the twin of `schema.formats.DateFormat`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wallflower.engines.reading_rule import DATE_PATTERN
from wallflower.schema.formats import ISO, MICROSECONDS, MONTHS, DateFormat


def text_date(raw: Any, formats: Sequence[DateFormat]) -> Any:
    """The date that a text spells in the first format that fits; NULL when none does."""
    import ibis

    found = [_date(raw, format_) for format_ in formats]
    return ibis.coalesce(*found) if len(found) > 1 else found[0]


def text_moment(raw: Any, formats: Sequence[DateFormat]) -> Any:
    """Microseconds since 1970-01-01, by the same rule."""
    import ibis

    found = []
    for format_ in formats:
        days = _date(raw, format_).delta(ibis.date(1970, 1, 1), unit="day").cast("int64")
        moment = days * (86_400 * MICROSECONDS)
        for mark, size in (("H", 3_600 * MICROSECONDS), ("M", 60 * MICROSECONDS), ("S", MICROSECONDS)):
            if mark in format_.marks:
                moment = moment + _group(raw, format_, mark).try_cast("int64") * size
        if "f" in format_.marks:
            moment = moment + _group(raw, format_, "f").rpad(6, "0").try_cast("int64")
        found.append(moment)
    return ibis.coalesce(*found) if len(found) > 1 else found[0]


def _date(raw: Any, format_: DateFormat) -> Any:
    import ibis

    nothing = ibis.null("string")
    if format_ == ISO:
        spelt = raw.re_search(DATE_PATTERN) & ~raw.startswith("0000")
        return ibis.cases((spelt, raw), else_=nothing).try_cast("date")
    spelt = raw.re_search(format_.pattern)
    for mark, most in (("H", 23), ("M", 59), ("S", 59)):
        if mark in format_.marks:
            spelt = spelt & (_group(raw, format_, mark).try_cast("int64") <= most)
    year, month = _year(raw, format_), _month(raw, format_)
    day = _group(raw, format_, "d").lpad(2, "0")
    # A format that does not fit gives empty groups, and no date.
    text = ibis.cases((spelt & (year != "0000"), year + "-" + month + "-" + day), else_=nothing)
    return text.try_cast("date")


def _group(raw: Any, format_: DateFormat, mark: str) -> Any:
    return raw.re_extract(format_.pattern, format_.marks.index(mark) + 1)


def _year(raw: Any, format_: DateFormat) -> Any:
    import ibis

    if "Y" in format_.marks:
        return _group(raw, format_, "Y")
    two = _group(raw, format_, "y")
    return ibis.cases((two >= "69", "19"), else_="20") + two  # two ASCII digits: texts order as numbers do


def _month(raw: Any, format_: DateFormat) -> Any:
    import ibis

    if "m" in format_.marks:
        return _group(raw, format_, "m").lpad(2, "0")
    name = _group(raw, format_, "b").lower()
    return ibis.cases(*((name == month, f"{at:02}") for at, month in enumerate(MONTHS, start=1)), else_="00")
