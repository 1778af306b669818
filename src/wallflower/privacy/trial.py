"""What a rehearsal asks of a question: its true answer on rows that are nobody's secret, and how good a private one is.

A question that can be rehearsed has `trial()`, which gives a `Trial`; areas fill in the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from wallflower.noise.entropy import Entropy
from wallflower.schema.declaration import Declaration


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A question on some rows, everything that reads them done once."""

    truth: Mapping[str, Any] | None
    """The true answer, in the shape of a released one."""
    number: float | None
    """The true answer as the number that the picture shows; None where only private ones have one."""
    draw: Callable[[Entropy], Mapping[str, Any] | None]
    """A private answer, exactly as a release would draw it."""
    score: Callable[[Mapping[str, Any] | None], tuple[float, bool]]
    """An answer as a number of the picture, and whether it would have been useful."""


class Trial(Protocol):
    """How one question is rehearsed."""

    measured: str
    """What the number of an answer is."""
    useful: str
    """When an answer is called useful, in words that follow "useful:"."""
    is_random: bool
    """Whether two answers can differ; if not, one is enough."""

    def on(self, rows: Any, /) -> Stage: ...

    def choices(self, declaration: Declaration, /) -> Mapping[str, Sequence[Any]]:
        """Other values of its parameters that are worth a look."""
        ...

    def changed(self, name: str, value: Any, declaration: Declaration, /) -> tuple[Any, Declaration]:
        """The question with another value of one parameter, and the declaration that it is then asked under."""
        ...

    def held(self, declaration: Declaration, /) -> Sequence[Mapping[str, int]]:
        """Rows, in codes and steps, that made-up ones should hold for the question to have something to find."""
        ...


def multiples(value: Fraction, factors: Sequence[str] = ("1/4", "1/2", "1", "2", "4")) -> list[Fraction]:
    """A number and some around it.

    >>> [str(each) for each in multiples(Fraction(1, 2), ("1/2", "1", "2"))]
    ['1/4', '1/2', '1']
    """
    return [value * Fraction(factor) for factor in factors]


def wholes(value: int, factors: Sequence[str] = ("1/2", "1", "2", "4")) -> list[int]:
    """A whole number and some around it, each once, from 1 up.

    >>> wholes(3)
    [1, 3, 6, 12]
    """
    return sorted({max(int(value * Fraction(factor)), 1) for factor in factors})


NEAR = "within a quarter of the true number, or within 2 rows of it"


def near(truth: float, answer: float) -> bool:
    """What `NEAR` says.

    >>> near(100, 125), near(100, 126), near(3, 5), near(3, 6)
    (True, False, True, False)
    """
    return abs(answer - truth) <= max(truth / 4, 2)


@dataclass(frozen=True, kw_only=True)
class FieldTrial:
    """The trial of a question whose choices are fields of its own."""

    query: Any
    measured: str
    useful: str
    on: Callable[[Any], Stage]
    options: Mapping[str, Sequence[Any]]
    is_random: bool = True
    along: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Fields that go along with a changed one, by its name."""

    def choices(self, _declaration: Declaration) -> Mapping[str, Sequence[Any]]:
        return self.options

    def changed(self, name: str, value: Any, declaration: Declaration) -> tuple[Any, Declaration]:
        return replace(self.query, **{name: value, **self.along.get(name, {})}), declaration

    def held(self, _declaration: Declaration) -> Sequence[Mapping[str, int]]:
        return ()
