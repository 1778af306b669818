"""Zero-concentrated differential privacy: composes inside one query, and in an account that adds rho up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.errors import NotComposable
from wallflower.privacy.account import Account
from wallflower.privacy.guarantee import Guarantee, at_least_zero, between_tables
from wallflower.schema.exact import shown


@dataclass(frozen=True, kw_only=True)
class ZCDP(Guarantee):
    """ρ-zero-concentrated differential privacy; composes inside one query and is charged as a converted `ApproxDP`."""

    family: ClassVar[str] = "zcdp"

    rho: Fraction

    def __post_init__(self) -> None:
        at_least_zero(self, rho=self.rho)
        between_tables(self)

    @property
    def parameters(self) -> dict[str, str]:
        return {"rho": shown(self.rho)}

    @property
    def sentence(self) -> str:
        return (
            self._when(
                "For every order a above 1, the distribution of the answers has a Rényi divergence of at most "
                f"{shown(self.rho)}·a from what it would be if {self._changed()}."
            )
            + self._rest()
        )

    @property
    def account(self) -> Account:
        raise NotComposable(
            "a zCDP promise is not charged as it is: an account adds up epsilons, and rho beside them.",
            hint="Convert it inside the query with privacy.accountants.to_approximate and charge that.",
        )
