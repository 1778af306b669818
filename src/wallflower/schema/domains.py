"""The public set of values a column may hold, and how a value becomes an integer.

Every domain numbers its values: categories by their place in the declared list, numbers and dates by how many steps
they are from zero (dates: days from 1970-01-01). Everything behind the engines works on these integers alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.exact import exact, shown

EPOCH = date(1970, 1, 1)
MOST_STEPS = 2**53
"""Beyond this a double no longer holds every integer, and rows come in as doubles."""


@dataclass(frozen=True)
class Categories:
    """A list of texts, seen in the rows or not. Compared as text, case and all."""

    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise DeclarationError.of(self, "values", "at least one value", self.values)
        if len(set(self.values)) != len(self.values):
            raise DeclarationError.of(self, "values", "free of repeats", self.values)

    @property
    def size(self) -> int:
        return len(self.values)

    def code(self, text: str) -> int | None:
        """The place of `text` in the declared list; None when it is not declared."""
        return self.values.index(text) if text in self.values else None

    def text(self, code: int) -> str:
        return self.values[code]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Multiples of `step` from `lower` to `upper`, both included.

    >>> cents = Numbers(lower=Fraction(0), upper=Fraction(5), step=Fraction("0.01"))
    >>> cents.first, cents.last, cents.text(123)
    (0, 500, '1.23')
    """

    lower: Fraction
    upper: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise DeclarationError.of(self, "step", "above 0", shown(self.step))
        if self.lower >= self.upper:
            raise DeclarationError.of(self, "lower", f"below upper ({shown(self.upper)})", shown(self.lower))
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if (bound / self.step).denominator != 1:
                raise DeclarationError.of(self, name, f"a whole number of steps of {shown(self.step)}", shown(bound))
        if max(abs(self.first), abs(self.last)) >= MOST_STEPS:
            raise DeclarationError.of(self, "step", "so large that the bounds are below 2^53 steps", shown(self.step))

    @property
    def first(self) -> int:
        return int(self.lower / self.step)

    @property
    def last(self) -> int:
        return int(self.upper / self.step)

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def value(self, number: int) -> Fraction:
        return number * self.step

    def text(self, number: int) -> str:
        return shown(self.value(number))

    def number(self, value: Fraction) -> int:
        """The nearest step, halves upwards; the same rule the engines apply to rows. Not clipped."""
        return int((value / self.step + Fraction(1, 2)).__floor__())

    def read(self, text: str) -> int | None:
        """The nearest step to the number that a text spells; None where it spells none, or one too large to write out.

        >>> cents = Numbers(lower=Fraction(0), upper=Fraction(5), step=Fraction("0.01"))
        >>> cents.read("1.23"), cents.read("many"), cents.read("1e999999999")
        (123, None, None)
        """
        try:
            return self.number(exact(text))
        except UsageError:
            return None


@dataclass(frozen=True, kw_only=True)
class Dates:
    """Days from `lower` to `upper`, both included; a date is the number of days since 1970-01-01."""

    lower: date
    upper: date

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise DeclarationError.of(self, "lower", f"before upper ({self.upper})", str(self.lower))

    @property
    def step(self) -> Fraction:
        return Fraction(1)

    @property
    def first(self) -> int:
        return (self.lower - EPOCH).days

    @property
    def last(self) -> int:
        return (self.upper - EPOCH).days

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def value(self, number: int) -> Fraction:
        return Fraction(number)

    def text(self, number: int) -> str:
        return (EPOCH + timedelta(days=number)).isoformat()

    def number(self, value: Fraction) -> int:
        return int((value + Fraction(1, 2)).__floor__())

    def read(self, text: str) -> int | None:
        """The day that a text spells as year-month-day; None where it spells none."""
        try:
            return (date.fromisoformat(text) - EPOCH).days
        except ValueError:
            return None


Domain = Categories | Numbers | Dates


@dataclass(frozen=True)
class Bins:
    """Ranges of a numeric or date column: each edge opens a bin, the last bin ends at `upper` (included).

    Edges are in steps. The first edge is the lower bound, so that every number has exactly one bin.
    """

    edges: tuple[int, ...]
    domain: Numbers | Dates

    def __post_init__(self) -> None:
        if not self.edges or self.edges[0] != self.domain.first:
            raise DeclarationError.of(self, "edges", "a list that starts at the lower bound", self.edges)
        if any(a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)) or self.edges[-1] > self.domain.last:
            raise DeclarationError.of(self, "edges", "increasing and within the bounds", self.edges)

    @property
    def size(self) -> int:
        return len(self.edges)

    def text(self, code: int) -> str:
        low = self.domain.text(self.edges[code])
        if code + 1 < len(self.edges):
            return f"[{low}, {self.domain.text(self.edges[code + 1])})"
        return f"[{low}, {self.domain.text(self.domain.last)}]"
