"""Differential privacy, with and without a delta: for every row, or for every row but the asked-for one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.errors import DeclarationError
from wallflower.privacy.guarantee import Guarantee, at_least_zero, between_tables, factor
from wallflower.schema.exact import shown


@dataclass(frozen=True, kw_only=True)
class PureDP(Guarantee):
    """ε-differential privacy.

    >>> half = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
    >>> half.parameters
    {'epsilon': '0.5'}
    >>> half.sentence
    'Whatever anyone already knows, no answer is more than e^0.5 (about 1.65) times as likely as it would be if any one row were added or removed.'
    """

    family: ClassVar[str] = "dp"
    epsilon: Fraction

    def __post_init__(self) -> None:
        at_least_zero(self, epsilon=self.epsilon)
        between_tables(self)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            self._when(
                f"Whatever anyone already knows, no answer is more than {factor(self.epsilon)} times as likely as it "
                f"would be if {self._changed()}."
            )
            + self._rest()
        )


@dataclass(frozen=True, kw_only=True)
class ApproxDP(Guarantee):
    """(ε, δ)-differential privacy."""

    family: ClassVar[str] = "dp"
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        at_least_zero(self, epsilon=self.epsilon, delta=self.delta)
        between_tables(self)
        if self.delta >= 1:
            raise DeclarationError.of(self, "delta", "below 1", shown(self.delta))

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon), "delta": shown(self.delta)}

    @property
    def sentence(self) -> str:
        return (
            self._when(
                "Whatever anyone already knows, the probability of any answer, and of any set of answers, is at most "
                f"{factor(self.epsilon)} times what it would be if {self._changed()}, plus {shown(self.delta)}."
            )
            + self._rest()
        )
