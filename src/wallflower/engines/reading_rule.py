r"""How a cell becomes a declared integer. This is the one rule; every engine follows it, bit for bit.

**What a cell is** depends on the type of its column, which is part of the file's or frame's schema, and on nothing else
in the rows: CSV cells are text. Where a format types every cell on its own (JSON, SQLite, pandas columns of
objects) each cell is first written as text (`cell_text`), so that one row never changes how another is read.

**Numbers.** Integers, reals and decimals become IEEE doubles: integers rounded to nearest (exact up to 2^53), decimals
through their decimal text, so correctly rounded. Text must match, as a whole, spaces, a sign, ASCII digits with at most
one decimal mark, an exponent, spaces; it becomes the nearest double. Empty text, NULL and NaN are *missing*; any other
text, and text too large for a double, is *unreadable*, which `missing` treats as well. Where a mark between
thousands is declared, the digits before the decimal mark may stand in groups of three (one to three in the first), and
the marks are taken out. A double below the double of
`lower` or above that of `upper` is *outside*, infinities included. Any other double x becomes

    y = x · q / p   (in this order, step = p/q)        or   y = x / step   when p or q is 2^53 or more
    f = floor(y);   f + 1 if y − f >= 1/2 else f;      then clamped to the first and the last step

The two rounded operations are the same in C, numpy and SQL; y − f is exact where it decides. The double of k steps
becomes k whenever |k| <= 2^50: the three roundings move y by at most 3.01 · 2^−53 · |k| < 1/2.

**Dates.** A date is its day; a timestamp the day it falls on (in UTC when it has a zone); text must be a calendar date
written YYYY-MM-DD, or in one of the declared formats (`schema.formats`), of which the first that fits counts. Anything else is
unreadable.

**Missing codes.** A text that is a declared code, but for spaces around it, is missing for every domain. A number is missing
when it is the number that a code spells, both as doubles: in text by the column's own marks, in a typed column with a point.
A category of a typed column is missing when a code stands for it as a declared text would. `decimal` is for text files; elsewhere
the mark is a point, and a point does not also part thousands.

**Categories.** Text is compared code point by code point; empty text is missing. In a column of numbers a declared text
that spells a number (decimal point ".") stands for that number, exactly among integers and as a double among reals and decimals, so that
3 and pandas' 3.0 are both "3"; the first declared text of a number wins. A column of booleans holds "true" and "false",
one of dates their ISO text. A NaN is missing.

**Text** that holds U+FFFD, which is what undecodable bytes are read as, is unreadable for every domain. A declared
text with a NUL in it matches nothing.

**Keys** are compared by the rule for categories. Timestamps as categories or keys, and nested or binary columns, are
refused by type before a row is read.

Afterwards `outside` and `missing` are applied. `max_rows` plays no part here: an engine reads every row and never fails
because there are many; queries use the bound where the number of rows would leak.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, cast

from wallflower.errors import DeclarationError
from wallflower.schema.declaration import Becomes, Clip, Column, Drop
from wallflower.schema.domains import EPOCH, Categories, Dates, Domain, Numbers
from wallflower.schema.formats import CellFormat

UNDECODABLE = "\ufffd"
EXACT = 2**53
"""Doubles hold every integer up to here."""
PLAIN_FORMAT = CellFormat()
DATE_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


class Kind(Enum):
    """What the schema of the data says about a column."""

    INTEGER = "integers"
    REAL = "reals"
    DECIMAL = "decimals"
    BOOLEAN = "booleans"
    TEXT = "text"
    DATE = "dates"
    TIMESTAMP = "timestamps"
    NOTHING = "nulls only"


class State(IntEnum):
    """What the rule finds in a cell, before `outside` and `missing` are applied."""

    INSIDE = 0
    BELOW = 1
    ABOVE = 2
    """Also: a category that is not declared."""
    MISSING = 3
    UNREADABLE = 4


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Everything the two engines need to read one column; None for an action means that the row leaves."""

    name: str
    kind: Kind
    first: int
    last: int
    below: int | None
    above: int | None
    missing: int | None
    format: CellFormat = PLAIN_FORMAT
    missing_values: tuple[float, ...] = ()
    """The missing codes as this kind of column holds them: numbers, days, 0 and 1; texts are matched by a pattern."""

    @property
    def missing_pattern(self) -> str | None:
        """The texts that are missing codes; None when there are none, or the column holds no texts."""
        codes = self.format.missing_codes
        return code_pattern(codes) if codes and self.kind is Kind.TEXT else None

    @property
    def drops(self) -> bool:
        """Whether any cell makes its row leave."""
        return None in {self.below, self.above, self.missing}


@dataclass(frozen=True, kw_only=True)
class NumberRule(Rule):
    lower: float
    upper: float
    times: float
    over: float


@dataclass(frozen=True, kw_only=True)
class DateRule(Rule):
    """Days since 1970-01-01."""

    def day(self, text: str) -> int | None:
        """The day that a text spells in the first format that fits; None when none does."""
        found = (format_.day(text) for format_ in self.format.dates)
        return next((day_ for day_ in found if day_ is not None), None)


@dataclass(frozen=True, kw_only=True)
class CategoryRule(Rule):
    codes: Mapping[Any, int]
    """What a cell must equal, as this kind of column holds it (dates as days, booleans as 0 and 1), and its code."""


def rule_for(column: Column, kind: Kind, format_: CellFormat | None = None) -> Rule:
    """The rule for a declared column over a physical one, or a refusal that speaks of types alone."""
    domain = column.domain
    if domain is None:
        raise DeclarationError(
            f"column '{column.name}' is an identifier and has no domain; no question can read it.",
            hint=f"Declare values, or lower, upper and step, for [columns.{column.name}].",
        )
    format_ = format_ or PLAIN_FORMAT
    first, last = (0, domain.size - 1) if isinstance(domain, Categories) else (domain.first, domain.last)
    common: dict[str, Any] = {
        "name": column.name,
        "kind": kind,
        "first": first,
        "last": last,
        "below": _action(column.outside, first),
        "above": _action(column.outside, last),
        "missing": _action(column.missing, None),
        "format": format_,
        "missing_values": _missing_values(domain, kind, format_),
    }
    if isinstance(domain, Numbers):
        _refuse_unless(column, kind, {Kind.INTEGER, Kind.REAL, Kind.DECIMAL, Kind.TEXT, Kind.NOTHING})
        times, over = 1.0, float(domain.step)
        if max(domain.step.numerator, domain.step.denominator) < EXACT:
            times, over = float(domain.step.denominator), float(domain.step.numerator)
        return NumberRule(**common, lower=float(domain.lower), upper=float(domain.upper), times=times, over=over)
    if isinstance(domain, Dates):
        _refuse_unless(column, kind, {Kind.DATE, Kind.TIMESTAMP, Kind.TEXT, Kind.NOTHING})
        return DateRule(**common)
    _refuse_unless(column, kind, set(Kind) - {Kind.TIMESTAMP})
    return CategoryRule(**common, codes=_codes(domain.values, kind))


def key_rule(name: str, kind: Kind, key: str) -> CategoryRule:
    """The rule whose code 0 is the asked-for key."""
    column = Column(name=name, role="identifier", domain=Categories((key,)))
    rule = rule_for(column, kind)
    assert isinstance(rule, CategoryRule)  # noqa: S101 - by the domain above
    return rule


def grammar(decimal: str, thousands: str = "") -> str:
    """The texts that are numbers, as a pattern of RE2 and Python."""
    mark = escaped(decimal)
    grouped = f"[0-9]{{1,3}}({escaped(thousands)}[0-9]{{3}})+|" if thousands else ""
    return f"^ *[+-]?(({grouped}[0-9]+)({mark}[0-9]*)?|{mark}[0-9]+)([eE][+-]?[0-9]+)? *$"


def code_pattern(codes: Sequence[str]) -> str:
    """Any of the texts, with spaces around them."""
    return f"^ *({'|'.join(''.join(escaped(letter) for letter in code) for code in codes)}) *$"


def escaped(letter: str) -> str:
    """One character as a pattern; Python's own `re.escape` escapes what other dialects refuse."""
    return f"\\{letter}" if letter in r".^$*+?{}[]\|()" else letter


def number_text(text: str, format_: CellFormat) -> str | None:
    """The text of a number in Python's spelling; None when it is not one."""
    if not re.fullmatch(grammar(format_.decimal, format_.thousands)[1:-1], text):
        return None
    plain = text.replace(format_.thousands, "") if format_.thousands else text
    return plain.strip(" ").replace(format_.decimal, ".")


def cell_text(value: object) -> str | None:
    """The text of a cell that carries its own type; None when it is missing.

    >>> [cell_text(v) for v in (3, 3.0, 2.5, True, "x", None, float("nan"), date(2020, 2, 1))]
    ['3', '3', '2.5', 'true', 'x', None, None, '2020-02-01']
    """
    try:
        return _text_of(value)
    except Exception:  # noqa: BLE001 - a cell that cannot be written, however strange, must not stop the others
        return UNDECODABLE


def id_text(value: object) -> str | None:
    """The text of an id that carries its own type; a real is none, because two ids could be one double.

    >>> [id_text(v) for v in (3, "3.0", Decimal("3.50"), None)], id_text(3.0) == UNDECODABLE
    (['3', '3.0', '3.5', None], True)
    """
    if isinstance(value, Decimal):
        return plain_decimal(str(value)) if value.is_finite() else UNDECODABLE
    if isinstance(value, Real) and not isinstance(value, Integral):
        return UNDECODABLE
    return cell_text(value)


def plain_decimal(text: str) -> str:
    """A decimal without an exponent, trailing zeros or a plus: equal numbers are equal texts.

    >>> plain_decimal(" +1.50"), plain_decimal("-0.0"), plain_decimal("1200")
    ('1.5', '0', '1200')
    """
    plain = f"{Decimal(text.strip()):f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in {"-0", ""} else plain


def day(text: str) -> int | None:
    """Days since 1970-01-01 of a date written YYYY-MM-DD; None for any other text."""
    if len(text) != 10 or not text.isascii() or not re.match(DATE_PATTERN, text):
        return None
    try:
        return (date.fromisoformat(text) - EPOCH).days
    except ValueError:
        return None


def _text_of(value: Any) -> str | None:
    for types, text in _TEXTS:
        if isinstance(value, types):
            return text(value)
    if value is None or type(value).__name__ == "NAType":
        return None
    if type(value).__name__ in {"bool", "bool_"}:  # numpy's, which is no bool
        return str(bool(value)).lower()
    return UNDECODABLE


def _decodable(value: str) -> str:
    value.encode("utf-8")  # fails on lone surrogates, which no engine can hold
    return str(value)


def _real_text(value: Any) -> str | None:
    number = float(value)
    if math.isnan(number):
        return None
    if math.isfinite(number) and number == math.floor(number) and abs(number) < EXACT:
        return str(int(number))
    return repr(number)


def _moment_text(value: Any) -> str | None:
    if value != value:  # noqa: PLR0124 - pandas' NaT is a datetime that differs from itself
        return None
    return cast("datetime", value.astimezone(UTC) if value.tzinfo else value).date().isoformat()


_TEXTS: tuple[tuple[Any, Callable[[Any], str | None]], ...] = (
    (str, _decodable),
    (bool, lambda value: "true" if value else "false"),
    (Integral, lambda value: str(int(value))),
    ((Real, Decimal), _real_text),
    (datetime, _moment_text),
    (date, date.isoformat),
)
"""How each type is written; the first that fits counts, since a bool is an integer and a datetime a date."""


def _action(action: Drop | Clip | Becomes, bound: int | None) -> int | None:
    if isinstance(action, Becomes):
        return action.number
    return bound if isinstance(action, Clip) else None


def _codes(values: tuple[str, ...], kind: Kind) -> Mapping[Any, int]:
    if kind is Kind.TEXT:
        return {value: code for code, value in enumerate(values) if value and _can_match(value)}
    found: dict[float, int] = {}
    for code, value in enumerate(values):
        meant = _meant(value, kind)
        if meant is not None:
            found.setdefault(meant, code)
    return found


def _missing_values(domain: Domain, kind: Kind, format_: CellFormat) -> tuple[float, ...]:
    codes = format_.missing_codes
    if kind is Kind.TEXT:
        if not isinstance(domain, Numbers):
            return ()
        spelt = (number_text(code, format_) for code in codes)
        return tuple(sorted({value for text in spelt if text is not None and math.isfinite(value := float(text))}))
    meant: list[float | None]
    if isinstance(domain, Dates):
        meant = [day(code) for code in codes]
    elif isinstance(domain, Numbers):
        meant = [_meant(code, Kind.REAL) for code in codes]
    else:
        meant = [_meant(code, kind) for code in codes]
    return tuple(sorted({value for value in meant if value is not None and math.isfinite(value)}))


def _can_match(value: str) -> bool:
    """A text with a NUL cannot be written in SQL, one that is unreadable matches nothing; so in every engine."""
    return "\0" not in value and UNDECODABLE not in (cell_text(value) or "")


def _meant(value: str, kind: Kind) -> float | None:
    if kind is Kind.BOOLEAN:
        return {"true": 1, "false": 0}.get(value)
    if kind is Kind.DATE:
        return day(value)
    if kind in {Kind.INTEGER, Kind.REAL, Kind.DECIMAL} and value.isascii() and re.match(grammar("."), value):
        if kind is not Kind.INTEGER:
            return float(value)
        if len(value) > 100 or len(value.lower().partition("e")[2]) > 4:
            return None  # no physical integer needs this, and 10^(10^9) should not be spelt out
        number = Fraction(value.strip())
        return int(number) if number.denominator == 1 and -(2**63) <= number < 2**64 else None
    return None


def _refuse_unless(column: Column, kind: Kind, allowed: set[Kind]) -> None:
    if kind in allowed:
        return
    wanted = {Numbers: "numbers", Dates: "dates", Categories: "values"}[type(column.domain)]
    raise DeclarationError(
        f"column '{column.name}' is declared with {wanted}, but the data hold {kind.value} there.",
        hint="Change the declaration, or the type of the column in the data.",
    )
