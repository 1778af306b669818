"""Differential privacy between neighbours with the same set of possible answers (PCOR, SIGMOD 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.errors import NotComposable
from wallflower.privacy.account import Amounts, Kind, among_such
from wallflower.privacy.guarantee import BUT_ASKED, Guarantee, at_least_zero, better_rho, between_tables, factor, losses
from wallflower.schema.exact import shown

OUTPUT_CONSTRAINED_DP = Kind(
    code="output-constrained-dp",
    budget="output-constrained-dp",
    words="output-constrained-dp, every row but the asked-for one",
    everyday_name="output-constrained privacy",
    bounds=lambda times, unit, change: (
        f"All dp and output-constrained answers cannot together {times} any one {unit} that was never explained "
        f"{among_such(unit, change)}, provided that the condition of every output-constrained answer holds for that change."
    ),
    conditional=True,
    order=3,
)


@dataclass(frozen=True, kw_only=True)
class OutputConstrainedDP(Guarantee):
    """ε-DP between neighbours whose set of possible outputs is the same (PCOR, SIGMOD 2021)."""

    family: ClassVar[str] = "output-constrained-dp"
    title: ClassVar[str] = "Output-constrained differential privacy"
    not_promised: ClassVar[tuple[str, ...]] = (
        "The record that was asked about is not protected: the answer says where it stands out.",
        "A row whose presence makes an answer possible or impossible is not protected.",
        "There is no promise for groups of rows.",
    )

    epsilon: Fraction
    rho: Fraction | None = None
    """The concentrated loss where it is proved to be below ε²/2; None: ε²/2."""
    protects: str = BUT_ASKED
    holds_when: str = "the change leaves the set of contexts in which the asked-for row stands out as it is"

    def __post_init__(self) -> None:
        at_least_zero(self, epsilon=self.epsilon)
        better_rho(self, self.epsilon, self.rho)
        if self.protects != BUT_ASKED:
            raise NotComposable(f"no output-constrained-dp account protects '{self.protects}'.")
        between_tables(self)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            f"No answer is more than {factor(self.epsilon)} times as likely as it would be if {self._changed()}, provided "
            f"that {self.holds_when}. A {self.unit} whose change alters that set is not protected by this promise, and "
            f"neither is the asked-for {self.unit}: the answer itself says that it stands out."
        )

    @property
    def amounts(self) -> Amounts:
        return losses(self.epsilon, rho=self.rho)
