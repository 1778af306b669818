"""Local differential privacy of one message of a sensor."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.privacy.account import Amounts, Kind
from wallflower.privacy.guarantee import Guarantee, at_least_zero, factor, losses
from wallflower.schema.exact import shown

PERIODS_ADD_UP = "Periods of one sensor add up: a person behind K of them has lost K times as much."

LOCAL = Kind(
    code="local-dp",
    budget="local-dp",
    words="local-dp",
    everyday_name="local differential privacy",
    bounds=lambda times, _unit, _change: f"What was sent cannot {times} any one reading is another.",
    conditional=True,
    between_tables=False,
    order=6,
)


@dataclass(frozen=True, kw_only=True)
class LocalDP(Guarantee):
    """ε-local differential privacy of one message, against everyone who sees it."""

    family: ClassVar[str] = "local-dp"
    title: ClassVar[str] = "Local differential privacy"
    not_promised: ClassVar[tuple[str, ...]] = ("Many readings from one sensor lose in proportion to their number.",)
    of_a_stream: ClassVar[bool] = True

    epsilon: Fraction
    neighbours: str = "any other reading in the same place"
    unit: str = "reading"
    protects: str = "every reading"

    @classmethod
    def disclaimers(cls, unit: str) -> tuple[str, ...]:
        """About a period, everything that a sensor sends in it is one message, and readings are none of its business."""
        return cls.not_promised if unit == cls.unit else (PERIODS_ADD_UP,)

    def __post_init__(self) -> None:
        at_least_zero(self, epsilon=self.epsilon)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return self._when(
            f"What leaves the sensor is at most {factor(self.epsilon)} times as likely as it would be for any other "
            f"{self.unit}, whoever sees it, all parties together included."
        )

    @property
    def amounts(self) -> Amounts:
        return losses(self.epsilon)
