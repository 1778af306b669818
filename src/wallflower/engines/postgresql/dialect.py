"""The rule in PostgreSQL's words: it has no TRY_CAST, and a cast that fails quotes the cell, so that every cast is guarded.

A number as text becomes a double exactly as everywhere else, but PostgreSQL fails on one that is too large or too small. Its JSON
paths can try: `$.double()` accepts what the cast accepts, and says nothing otherwise. What it does not accept is then
infinite or 0, which the number of digits before the point and the exponent decide.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from wallflower.engines.dialect import Dialect, double, integer
from wallflower.engines.reading_rule import Kind, NumberRule

SHORT = 250
"""Texts without an exponent, and no longer than this, are neither too large nor too small."""
TOO_LARGE = Fraction(2**1024 - 2**970)
"""From here on the nearest double would be 2^1024, which is none."""
TOO_SMALL = Fraction(1, 2**1075)
"""Up to here the nearest double is 0."""
_DAY = "0[1-9]|1[0-9]|2[0-8]"
_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
EXISTS = f"^([0-9]{{4}}-((0[13578]|1[02])-({_DAY}|29|3[01])|(0[469]|11)-({_DAY}|29|30)|02-({_DAY}))|{_LEAP}-02-29)$"
"""The texts YYYY-MM-DD that are days of the calendar, from the year 1 on."""


class PostgresDialect(Dialect):
    name: ClassVar[str] = "postgres"

    def whole_of_text(self, text: Any) -> Any:
        import ibis

        return ibis.cases((text.re_search("^[0-9]{1,6}$"), text), else_=ibis.null("string")).cast("int64")

    def double_of_text(self, text: Any) -> Any:
        import ibis

        plain = (text.length() <= SHORT) & ~text.re_search("[eE]")
        beyond = ibis.cases((text.startswith("-"), double(float("-inf"))), else_=double(float("inf")))
        return ibis.cases(
            (text.isnull(), ibis.null("float64")),
            (plain, text.cast("float64")),
            (_accepted(text), text.cast("float64")),
            (_places(text) > 0, beyond),
            else_=double(0.0),
        )

    def double_of(self, raw: Any, kind: Kind) -> Any:
        import ibis

        if kind is not Kind.DECIMAL:
            return raw.cast("float64")
        # NaN is above every number, and infinities are beyond the bound.
        size = raw.abs()
        return ibis.cases(
            (raw == _decimal("NaN"), double(float("nan"))),
            ((size >= _decimal(_digits(TOO_LARGE))) & (raw > _decimal("0")), double(float("inf"))),
            (size >= _decimal(_digits(TOO_LARGE)), double(float("-inf"))),
            (size <= _decimal(_digits(TOO_SMALL)), double(0.0)),
            else_=raw.cast("float64"),
        )

    def part(self, text: Any, pattern: str, group: int) -> Any:
        """What Ibis writes asks first whether there is a match, and so writes text and pattern twice."""
        import ibis

        def regexp_match(value: Any, pattern: Any) -> Any: ...

        matched = ibis.udf.scalar.builtin(
            regexp_match, name="regexp_match", signature=(("string", "string"), "array<string>")
        )
        return matched(text, pattern)[group - 1]

    def date_of_text(self, text: Any) -> Any:
        """A day that exists is a matter of its digits: arithmetic on them would write the text, which may be long, ten times over."""
        import ibis

        return ibis.cases((text.re_search(EXISTS), text), else_=ibis.null("string")).cast("date")

    def boolean(self, raw: Any) -> Any:
        return raw.cast("int32")

    def is_nan(self, value: Any) -> Any:
        return value == double(float("nan"))

    def is_infinite(self, value: Any) -> Any:
        return (value == double(float("inf"))) | (value == double(float("-inf")))

    def scaled(self, value: Any, rule: NumberRule) -> Any:
        """A quotient too small for a double is an error here: what is less than an eighth of a step is taken as 0 at once."""
        import ibis

        tiny = double(rule.over / rule.times / 8)
        return ibis.cases((value.abs() < tiny, double(0.0)), else_=super().scaled(value, rule))


def _accepted(text: Any) -> Any:
    """Whether the cast to a double would succeed, asked in a way that cannot fail."""
    import ibis

    def to_jsonb(value: Any) -> Any: ...

    def path_exists(value: Any, path: Any, variables: Any, silent: Any) -> Any: ...

    builtin = ibis.udf.scalar.builtin
    to_jsonb = builtin(to_jsonb, name="to_jsonb", signature=(("string",), "json"))
    four = ("json", "string", "string", "boolean")
    path_exists = builtin(path_exists, name="jsonb_path_exists", signature=(four, "boolean"))
    return ibis.coalesce(path_exists(to_jsonb(text), "$.double()", "{}", True), False)


def _places(text: Any) -> Any:
    """m, where the number is 0.ddd · 10^m and its first digit is not 0: above 0 for 1 and more."""
    import ibis

    mantissa = text.re_extract("^[+-]?([0-9.]+)", 1)
    before = mantissa.re_extract("^0*([0-9]*)", 1)
    zeros = ibis.coalesce(mantissa.re_extract("[.](0*)", 1), "")
    return ibis.cases((before != "", before.length()), else_=0 - zeros.length()).cast("int64") + _exponent(text)


def _exponent(text: Any) -> Any:
    """What follows the e; beyond any length of text, a number that is as good as infinite."""
    import ibis

    written = ibis.coalesce(text.re_extract("[eE]([+-]?[0-9]+)$", 1), "0")
    digits = written.re_replace("^[+-]?0*", "")
    far = digits.length() > 15
    size = ibis.cases((far, "1000000000000000"), (digits == "", "0"), else_=digits).cast("int64")
    return ibis.cases((written.startswith("-"), integer(0) - size), else_=size)


def _decimal(text: str) -> Any:
    import ibis

    return ibis.literal(text).cast("decimal")


def _digits(number: Fraction) -> str:
    """A fraction whose denominator is a product of twos and fives, written out in full.

    >>> _digits(Fraction(3, 8))
    '0.375'
    """
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
    digits = str(int(number * 10**places)).rjust(places + 1, "0")
    return digits if not places else f"{digits[:-places]}.{digits[-places:]}"
