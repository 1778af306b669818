"""Fields of a question that are converted once, where they come in: read back, each has one type.

    @dataclass(frozen=True, kw_only=True)
    class Question:
        columns: Names = Names()
        neighbours: Whole = Whole(least=1)
        radius: Exact = Exact(least=0)
        epsilon: Epsilon = Epsilon()

takes `epsilon="1/2"` and holds `Fraction(1, 2)`. A number that no question could mean is refused here, before any price.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Generic, TypeVar

from wallflower.errors import UsageError
from wallflower.schema.exact import Spelled, exact, positive, quoted, shown

Given = TypeVar("Given")
Held = TypeVar("Held")

MOST_WHOLE = 2**31 - 1
"""More neighbours, rows or samples than any table here has; sums of two still fit a machine word."""


class Field(Generic[Given, Held]):
    """A descriptor: dataclasses write through it once, while a value is being made, and nobody can write again."""

    def __init__(self, *, default: Any = ...) -> None:
        self._default = default
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Held:
        if instance is not None:
            return vars(instance)[self._name]  # type: ignore[no-any-return]
        if self._default is ...:
            raise AttributeError(self._name)  # how dataclasses learn that a field has no default
        return self._default  # type: ignore[no-any-return]

    def __set__(self, instance: object, value: Given) -> None:
        vars(instance)[self._name] = self.read(value)

    def read(self, value: Given) -> Held:
        raise NotImplementedError


class Exact(Field[Spelled, Fraction]):
    """A fraction, from a whole number, a decimal or a quotient.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Noise:
    ...     scale: Exact = Exact("1/2", above=0)
    >>> Noise(scale="0.25"), Noise().scale
    (Noise(scale=Fraction(1, 4)), Fraction(1, 2))
    """

    def __init__(
        self,
        default: Spelled | None = None,
        *,
        above: Fraction | int | None = None,
        least: Fraction | int | None = None,
        most: Fraction | int | None = None,
    ) -> None:
        super().__init__(default=... if default is None else exact(default))
        self._above, self._least, self._most = above, least, most

    def read(self, value: Spelled) -> Fraction:
        number = exact(value, name=self._name)
        wanted = [
            f"above {shown(self._above)}" if self._above is not None else "",
            f"at least {shown(self._least)}" if self._least is not None else "",
            f"at most {shown(self._most)}" if self._most is not None else "",
        ]
        if (
            (self._above is not None and number <= self._above)
            or (self._least is not None and number < self._least)
            or (self._most is not None and number > self._most)
        ):
            raise UsageError(
                f"'{self._name}' must be {' and '.join(one for one in wanted if one)}, got {quoted(shown(number))}."
            )
        return number


class Epsilon(Field[Spelled, Fraction]):
    """A budget: above zero, and within what a promise can mean."""

    def read(self, value: Spelled) -> Fraction:
        return positive(value, name=self._name)


class MaybeEpsilon(Field[Spelled | None, Fraction | None]):
    """A budget that may be left out."""

    def __init__(self) -> None:
        super().__init__(default=None)

    def read(self, value: Spelled | None) -> Fraction | None:
        return None if value is None else positive(value, name=self._name)


class Whole(Field[int, int]):
    """A whole number, and nothing that only looks like one."""

    def __init__(self, default: int | None = None, *, least: int, most: int = MOST_WHOLE) -> None:
        super().__init__(default=... if default is None else default)
        self._least, self._most = least, most

    def read(self, value: int) -> int:
        try:
            number = None if isinstance(value, bool) else operator.index(value)
        except TypeError:
            number = None
        if number is None:
            raise UsageError(f"'{self._name}' must be a whole number, got {quoted(value)}.")
        if not self._least <= number <= self._most:
            few = number < self._least
            limit = f"at least {self._least}" if few else f"at most {self._most}"
            raise UsageError(f"'{self._name}' must be {limit}, got {quoted(number)}.")
        return number


class Day(Field["str | date", date]):
    """A calendar day, as a date or as 2026-01-31."""

    @staticmethod
    def of(value: object, name: str) -> date:
        if isinstance(value, date) and not isinstance(value, datetime):
            return value
        try:
            if isinstance(value, str) and len(value) == 10:
                return date.fromisoformat(value)
        except ValueError:
            pass
        raise UsageError(f"'{name}' must be a day such as 2026-01-31, got {quoted(value)}.")

    def read(self, value: str | date) -> date:
        return self.of(value, self._name)


class MaybeExact(Field[Spelled | None, Fraction | None]):
    """A fraction that may be left out."""

    def __init__(self, *, least: Fraction | int, most: Fraction | int) -> None:
        super().__init__(default=None)
        self._read = Exact(least=least, most=most)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._read.__set_name__(owner, name)

    def read(self, value: Spelled | None) -> Fraction | None:
        return None if value is None else self._read.read(value)


class MaybeWhole(Field[int | None, int | None]):
    """A whole number that may be left out."""

    def __init__(self, *, least: int, most: int = MOST_WHOLE) -> None:
        super().__init__(default=None)
        self._whole = Whole(least=least, most=most)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._whole.__set_name__(owner, name)

    def read(self, value: int | None) -> int | None:
        return None if value is None else self._whole.read(value)


class Text(Field[str, str]):
    """A key or a name: text, and nothing that only prints as one, which a reader of rows would stumble over."""

    def __init__(self, default: str | None = None) -> None:
        super().__init__(default=... if default is None else default)

    def read(self, value: str) -> str:
        if not isinstance(value, str):
            raise UsageError(f"'{self._name}' must be text, got {quoted(value)}.", hint=f'Write {self._name} = "...".')
        return str(value)


class Names(Field[Iterable[str], tuple[str, ...]]):
    """Names of columns, in order."""

    def read(self, value: Iterable[str]) -> tuple[str, ...]:
        try:
            names = None if isinstance(value, str | bytes) else tuple(value)
        except TypeError:  # nothing to go through
            names = None
        if names is None or not all(isinstance(name, str) for name in names):
            raise UsageError(
                f"'{self._name}' must be names of columns, got {quoted(value)}.",
                hint=f'Write {self._name} = ("age",) for one.',
            )
        return names


class Weights(Field[Mapping[str, Spelled] | None, Mapping[str, Fraction]]):
    """A weight for each of some columns."""

    def __init__(self) -> None:
        super().__init__(default=None)

    def read(self, value: Mapping[str, Spelled] | None) -> Mapping[str, Fraction]:
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise UsageError(f"'{self._name}' must name columns with their weights, got {quoted(value)}.")
        return {str(name): exact(weight, name=f"weight of {name}") for name, weight in value.items()}
