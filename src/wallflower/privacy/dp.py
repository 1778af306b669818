"""Differential privacy, with and without a delta: for every row, or for every row but the asked-for one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from wallflower.errors import DeclarationError, NotComposable
from wallflower.privacy.account import Account, Amounts, Kind, among_such
from wallflower.privacy.guarantee import (
    BUT_ASKED,
    EVERY_ROW,
    Guarantee,
    at_least_zero,
    better_rho,
    between_tables,
    factor,
    losses,
)
from wallflower.schema.exact import shown

DP = Kind(
    code="dp",
    budget="dp",
    words="dp, every row",
    everyday_name="differential privacy",
    covers=("dp-others", "output-constrained-dp", "sensitive-privacy"),
    bounds=lambda times, unit, change: (
        f"The dp answers that protect every {unit} cannot together {times} any one {unit} {change}."
    ),
    order=1,
)
OTHERS = Kind(
    code="dp-others",
    budget="dp",
    words="dp, every row but the asked-for one",
    everyday_name="differential privacy, all but the asked-for record",
    covers=("output-constrained-dp", "sensitive-privacy"),
    bounds=lambda times, unit, change: (
        f"All dp answers cannot together {times} any one {unit} that was never explained {among_such(unit, change)}."
    ),
    order=2,
)


@dataclass(frozen=True, kw_only=True)
class _DP(Guarantee):
    """What the family says with and without a delta."""

    family: ClassVar[str] = "dp"
    title: ClassVar[str] = "Differential privacy"
    not_promised: ClassVar[tuple[str, ...]] = (
        "It does not say that the answer is exact: noise was added on purpose.",
        "A group of several rows is protected less, in proportion to its size.",
    )

    @property
    def account(self) -> Account:
        kinds = {EVERY_ROW: DP, BUT_ASKED: OTHERS}
        if self.protects not in kinds:
            raise NotComposable(f"no dp account protects '{self.protects}'.", hint=f"Known here: {'; '.join(kinds)}.")
        return Account(kinds[self.protects].code)


@dataclass(frozen=True, kw_only=True)
class PureDP(_DP):
    """ε-differential privacy.

    >>> half = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
    >>> half.parameters
    {'epsilon': '0.5'}
    >>> half.sentence
    'Whatever anyone already knows, no answer is more than e^0.5 (about 1.65) times as likely as it would be if any one row were added or removed.'
    """

    epsilon: Fraction
    rho: Fraction | None = None
    """The concentrated loss where it is proved to be below ε²/2; None: ε²/2."""

    @property
    def concentrated(self) -> Fraction:
        """ρ: what is proved of the mechanism, or ε²/2."""
        return self.epsilon**2 / 2 if self.rho is None else self.rho

    def __post_init__(self) -> None:
        at_least_zero(self, epsilon=self.epsilon)
        better_rho(self, self.epsilon, self.rho)
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

    def of_group(self, size: int) -> PureDP | None:
        """The promise about `size` rows that come or go together (Dwork and Roth 2014, theorem 2.2; Bun and Steinke 2016,
        proposition 1.9): one after the other they move the answer's law by e^ε each, and ρ by the square of their number.
        None where a row is left out, which could be one of them.
        """
        if self.protects != EVERY_ROW:
            return None
        rho = None if self.rho is None else size**2 * self.rho
        return replace(self, epsilon=size * self.epsilon, rho=rho)

    @property
    def amounts(self) -> Amounts:
        return losses(self.epsilon, rho=self.rho)


@dataclass(frozen=True, kw_only=True)
class ApproxDP(_DP):
    """(ε, δ)-differential privacy."""

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

    @property
    def amounts(self) -> Amounts:
        return losses(self.epsilon, delta=self.delta)
