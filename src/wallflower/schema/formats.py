"""How the texts of a file spell numbers and dates: what the owner wrote in `read` and in a column.

A date format is one of Python's, of which the engines follow these marks, in every engine alike:

    %d %m        day and month, one or two digits          %Y %y     year of four digits, or of two (69-99 are 19..)
    %b           Jan, Feb, ... in English, any case        %H %M %S  time of day, one or two digits (only orders rows)
    %f           up to six digits of a second              %%        a per cent sign

Marks of digits that touch each other (`%Y%m%d`), and all marks after `%Y-` at the beginning (ISO dates), take all their
digits. Anything else stands for itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from wallflower.schema.domains import EPOCH

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MICROSECONDS = 1_000_000
DAY = 86_400 * MICROSECONDS
_WIDTHS = {"d": (1, 2), "m": (1, 2), "Y": (4, 4), "y": (2, 2), "H": (1, 2), "M": (1, 2), "S": (1, 2), "f": (1, 6)}
_NEEDED = "a format names a day (%d), a month (%m or %b) and a year (%Y or %y), each once"
_SPECIAL = frozenset(r".^$*+?{}[]\|()")


class FormatRefused(ValueError):  # noqa: N818 - reads as what it says
    """What is wrong with a date format, as the end of a sentence."""


@dataclass(frozen=True)
class DateFormat:
    """One way of writing dates.

    >>> german = DateFormat("%d.%m.%Y")
    >>> german.pattern, german.day("3.12.2020"), german.day("31.2.2020")
    ('^([0-9]{1,2})\\\\.([0-9]{1,2})\\\\.([0-9]{4})$', 18599, None)
    """

    text: str

    def __post_init__(self) -> None:
        marks = self.marks
        if len(set(marks)) != len(marks):
            raise FormatRefused(_NEEDED)
        for choice in ("d", "mb", "Yy"):
            if len([mark for mark in marks if mark in choice]) != 1:
                raise FormatRefused(_NEEDED)

    @cached_property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """("mark", its letter) and ("text", a piece that stands for itself), in order."""
        parts: list[tuple[str, str]] = []
        rest = self.text
        while rest:
            if rest[0] != "%":
                parts.append(("text", rest[0]))
                rest = rest[1:]
                continue
            letter = rest[1:2]
            if letter == "%":
                parts.append(("text", "%"))
            elif letter in _WIDTHS or letter == "b":
                parts.append(("mark", letter))
            else:
                raise FormatRefused(f"%{letter} is not a mark that is read here; known are %d %m %b %Y %y %H %M %S %f")
            rest = rest[2:]
        return tuple(parts)

    @property
    def marks(self) -> tuple[str, ...]:
        """The letters in the order of the groups of `pattern`."""
        return tuple(text for kind, text in self.parts if kind == "mark")

    @cached_property
    def pattern(self) -> str:
        """An expression that RE2, Python, PostgreSQL and Java read alike; one group per mark."""
        found, iso = ["^"], self.text.startswith("%Y-")
        for at, (kind, text) in enumerate(self.parts):
            if kind == "text":
                found.append(f"\\{text}" if text in _SPECIAL else text)
            elif text == "b":
                found.append("([A-Za-z]{3})")
            else:
                least, most = _WIDTHS[text]
                touches = any(
                    0 <= other < len(self.parts) and self.parts[other][0] == "mark" and self.parts[other][1] != "b"
                    for other in (at - 1, at + 1)
                )
                width = most if touches or (iso and text != "f") else least
                found.append(f"([0-9]{{{width}}})" if width == most else f"([0-9]{{{width},{most}}})")
        return "".join([*found, "$"])

    def day(self, text: str) -> int | None:
        """Days since 1970-01-01; None when the text is not a calendar date in this format."""
        moment = self.moment(text)
        return None if moment is None else moment // DAY

    def moment(self, text: str) -> int | None:
        """Microseconds since 1970-01-01."""
        found = re.fullmatch(self.pattern[1:-1], text)
        if found is None or not text.isascii():
            return None
        groups = dict(zip(self.marks, found.groups(), strict=True))
        year = int(groups["Y"]) if "Y" in groups else full_year(int(groups["y"]))
        month = MONTHS.index(groups["b"].lower()) + 1 if groups.get("b", "").lower() in MONTHS else 0
        month = month if "b" in groups else int(groups["m"])
        hour, minute, second = (int(groups.get(mark, 0)) for mark in "HMS")
        if hour > 23 or minute > 59 or second > 59:
            return None
        try:
            days = (date(year, month, int(groups["d"])) - EPOCH).days
        except ValueError:
            return None
        fraction = int(groups.get("f", "").ljust(6, "0"))
        return days * DAY + ((hour * 60 + minute) * 60 + second) * MICROSECONDS + fraction


def full_year(two_digits: int) -> int:
    return two_digits + (1900 if two_digits >= 69 else 2000)


ISO = DateFormat("%Y-%m-%d")
MOMENTS = tuple(
    DateFormat(f"%Y-%m-%d{time}")
    for time in ("", " %H:%M:%S", "T%H:%M:%S", " %H:%M", "T%H:%M", " %H:%M:%S.%f", "T%H:%M:%S.%f")
)
"""What `[table] time` reads when nothing else is declared: ISO dates, with or without a time of day."""


@dataclass(frozen=True, kw_only=True)
class CellFormat:
    """How the texts of one column are read."""

    decimal: str = "."
    thousands: str = ""
    """A mark between groups of three digits; empty when there is none."""
    dates: tuple[DateFormat, ...] = (ISO,)
    """The first format that fits counts."""
    missing_codes: tuple[str, ...] = ()
    """Texts, without the spaces around them, that mean that nothing is known; among numbers also the numbers they spell."""
