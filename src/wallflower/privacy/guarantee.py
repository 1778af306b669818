"""What every promise says; each family adds its numbers, its sentence and its account in a file of its own."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

from wallflower.errors import DeclarationError
from wallflower.privacy.account import Account, Amounts
from wallflower.schema.exact import shown

EVERY_ROW = "every row"
BUT_ASKED = "every row but the asked-for one"
"""The asked-for row is whichever row carries the key that was asked for: a second row with that key is no other row."""

CHANGES = {"add-remove": "added or removed", "replace-one": "replaced by another"}


def worded(text: str, unit: str) -> str:
    """`text` about rows, said about the unit: where every person is one row, each row it speaks of is a person.

    >>> worded("Rows are kept; one row leaves (max_rows = 3).", "person")
    'People are kept; one person leaves (max_rows = 3).'
    """
    if unit != "person":
        return text
    for word, other in (("rows", "people"), ("row", "person"), ("Rows", "People"), ("Row", "Person")):
        text = re.sub(rf"\b{word}\b", other, text)
    return text


def factor(epsilon: Fraction) -> str:
    """e^ε, with its size in plain numbers where that says something.

    >>> factor(Fraction(1, 2)), factor(Fraction(40))
    ('e^0.5 (about 1.65)', 'e^40')
    """
    power = f"e^{shown(epsilon)}" if epsilon.denominator == 1 or "/" not in shown(epsilon) else f"e^({shown(epsilon)})"
    return f"{power} (about {math.exp(epsilon):.3g})" if epsilon <= 6 else power


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What every promise says. Subclasses add their numbers and their sentence."""

    family: ClassVar[str]
    title: ClassVar[str]
    """The family's name on a certificate."""
    not_promised: ClassVar[tuple[str, ...]]
    """What a certificate warns of: sentences about rows, for anyone who reads more into the promise than it says."""
    of_a_stream: ClassVar[bool] = False
    """Whether it is about what a sensor sends: then its answers are a stream's own, and its account is in the sensor's book."""
    not_of_several_rows: ClassVar[str] = "an id names several rows there, and the asked-for record must be one"
    """Why it cannot be asked for where several rows of a person count."""

    neighbours: str
    """"add-remove" or "replace-one": which tables count as differing by one `unit`."""
    unit: str = "row"
    protects: str = EVERY_ROW
    holds_when: str = "always"
    """The condition on the rows under which the promise holds; "always" when there is none."""

    @property
    def parameters(self) -> dict[str, str]:
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        raise NotImplementedError

    @property
    def account(self) -> Account:
        """The account it is booked in first."""
        return Account(self.family)

    @property
    def amounts(self) -> Amounts:
        """What one such promise adds to each account that it is booked in."""
        raise NotImplementedError

    def to_json(self) -> dict[str, object]:
        return {
            "family": self.family,
            "parameters": self.parameters,
            "neighbours": self.neighbours,
            "unit": self.unit,
            "protects": worded(self.protects, self.unit),
            "holds_when": self.holds_when,
            "sentence": self.sentence,
        }

    def _changed(self) -> str:
        """The change of the rows that the promise is about, as the end of a sentence with "if"."""
        if self.protects != BUT_ASKED:
            return f"any one {self.unit} were {CHANGES[self.neighbours]}"
        such = f" such {self.unit}" if self.neighbours == "replace-one" else ""  # nor may the new one have the key
        return f"any one {self.unit} other than the asked-for one were {CHANGES[self.neighbours]}{such}"

    def _when(self, sentence: str) -> str:
        """`sentence` under the condition of the promise."""
        return (
            sentence if self.holds_when == "always" else f"When {self.holds_when}: {sentence[0].lower()}{sentence[1:]}"
        )

    def about(self, unit: str) -> Self:
        """The same promise about another unit; what it says of rows is then said of people, but where it does so already."""
        return self if self.unit == unit else replace(self, unit=unit, holds_when=worded(self.holds_when, unit))

    def of_group(self, size: int) -> Guarantee | None:
        """The promise about `size` rows that come or go together; None where the family knows none."""
        return None

    @classmethod
    def disclaimers(cls, unit: str) -> tuple[str, ...]:
        """What a certificate warns of where the promise is about one `unit`."""
        return tuple(worded(each, unit) for each in cls.not_promised)

    def _rest(self) -> str:
        if self.protects == BUT_ASKED and self.unit == "person":
            return " The asked-for person, all of whose rows carry the id that was asked for, is not protected."
        return (
            " The asked-for row itself, which is any row with the key that was asked for, is not protected."
            if self.protects == BUT_ASKED
            else ""
        )


RHO_PLACES = 18
"""A booked ρ is rounded up to this many decimal places, so that sums of many stay short."""


def losses(epsilon: Fraction, *, delta: Fraction = Fraction(0), rho: Fraction | None = None) -> Amounts:
    """ε, δ and ρ of a promise; without a better proof ρ is ε²/2 (concentrated.md), rounded up."""
    concentrated = epsilon**2 / 2 if rho is None else rho
    scale = 10**RHO_PLACES
    return {"epsilon": epsilon, "delta": delta, "rho": Fraction(math.ceil(concentrated * scale), scale)}


def better_rho(owner: object, epsilon: Fraction, rho: Fraction | None) -> None:
    """Refuse a ρ that is no better than what ε alone gives: it would be a slip."""
    if rho is None:
        return
    at_least_zero(owner, rho=rho)
    if rho > epsilon**2 / 2:
        raise DeclarationError.of(owner, "rho", "at most epsilon²/2, which every such promise has", shown(rho))


def at_least_zero(owner: object, **numbers: Fraction) -> None:
    for name, value in numbers.items():
        if not isinstance(value, Fraction):
            raise DeclarationError.of(owner, name, "an exact Fraction", value)
        if value < 0:
            raise DeclarationError.of(owner, name, "at least 0", shown(value))


def between_tables(owner: Guarantee) -> None:
    if owner.neighbours not in CHANGES:
        raise DeclarationError.of(owner, "neighbours", " or ".join(CHANGES), owner.neighbours)
