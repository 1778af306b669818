"""What a question would cost and promise, said before any row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wallflower.privacy.guarantees import Guarantee
from wallflower.schema.display import InNotebooks


@dataclass(frozen=True, kw_only=True)
class Price(InNotebooks):
    """Public in full: it is a function of the query and the declaration alone.

    >>> from fractions import Fraction
    >>> from wallflower.privacy.guarantees import PureDP
    >>> promise = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
    >>> price = Price(guarantee=promise, mechanism={"name": "discrete-laplace", "scale": "6"})
    >>> price.guarantee.parameters, price.expected
    ({'epsilon': '0.5'}, {})
    >>> price
    <Price: dp: epsilon 0.5; print it for the whole>
    """

    guarantee: Guarantee
    """The promise, which is also the charge."""
    mechanism: Mapping[str, str]
    """`name` and the public constants that fix the noise."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Every public choice of the query in words, named defaults included."""
    expected: Mapping[str, object] = field(default_factory=dict)
    """The error to expect, in the user's units, where that needs no row. JSON values only."""
    booked: tuple[Mapping[str, object], ...] = ()
    """Every account that the charge is booked in, by its code, and what it costs there."""
    notes: tuple[str, ...] = ()
    """Sentences for people: what the answer will mean, what it does not say."""

    def __repr__(self) -> str:
        """Short: the interpreter shows it whenever a price is asked for, and the fields run over many lines."""
        return f"<Price: {self._cost}; print it for the whole>"

    @property
    def _cost(self) -> str:
        costs = ", ".join(f"{name} {amount}" for name, amount in self.guarantee.parameters.items())
        return f"{self.guarantee.family}: {costs}"

    def to_json(self) -> dict[str, Any]:
        """The price itself, without what it would leave: that is the ledger's to say (`ledger.preview`)."""
        return {
            "guarantee": self.guarantee.to_json(),
            "mechanism": dict(self.mechanism),
            "settings": dict(self.settings),
            "expected": dict(self.expected),
            "notes": list(self.notes),
        }

    def lines(self) -> list[tuple[str, str]]:
        """Label and text, in reading order; what the terminal and the notebook show."""
        rows = [("price", self._cost), ("promise", self.guarantee.sentence)]
        rows += [("mechanism", _pairs(self.mechanism))]
        rows += [("settings", _pairs(self.settings))] if self.settings else []
        rows += [
            (name.replace("_", " "), _pairs(item) if isinstance(item, Mapping) else str(item))
            for name, item in self.expected.items()
        ]
        return [*rows, *(("note", note) for note in self.notes)]


def _pairs(items: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in items.items())
