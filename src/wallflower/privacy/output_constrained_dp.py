"""Differential privacy between neighbours with the same set of possible answers (PCOR, SIGMOD 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.privacy.guarantee import BUT_ASKED, Guarantee, at_least_zero, between_tables, factor
from wallflower.schema.exact import shown


@dataclass(frozen=True, kw_only=True)
class OutputConstrainedDP(Guarantee):
    """ε-DP between neighbours whose set of possible outputs is the same (PCOR, SIGMOD 2021)."""

    family: ClassVar[str] = "output-constrained-dp"
    epsilon: Fraction
    protects: str = BUT_ASKED
    holds_when: str = "the change leaves the set of contexts in which the asked-for row stands out as it is"

    def __post_init__(self) -> None:
        at_least_zero(self, epsilon=self.epsilon)
        between_tables(self)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            f"No answer is more than {factor(self.epsilon)} times as likely as it would be if {self._changed()}, provided "
            f"that {self.holds_when}. A row whose change alters that set is not protected by this promise, and neither "
            "is the asked-for row: the answer itself says that it stands out."
        )
