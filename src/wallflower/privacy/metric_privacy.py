"""Privacy loss in proportion to distance, for the readings of a sensor."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.privacy.account import Amounts, Kind
from wallflower.privacy.guarantee import Guarantee, at_least_zero, factor, losses
from wallflower.schema.exact import shown

METRIC = Kind(
    code="metric-privacy",
    budget="metric-privacy",
    words="metric-privacy",
    everyday_name="metric privacy",
    bounds=lambda times, _unit, _change: f"What was sent cannot {times} any one reading is another.",
    conditional=True,
    between_tables=False,
    order=7,
)


@dataclass(frozen=True, kw_only=True)
class MetricPrivacy(Guarantee):
    """Privacy loss in proportion to distance (Chatzikokolakis et al. 2013): ε across the declared core range."""

    family: ClassVar[str] = "metric-privacy"
    title: ClassVar[str] = "Metric privacy"
    not_promised: ClassVar[tuple[str, ...]] = (
        "A reading far outside the core range is recognisable as such, the further the more.",
    )
    of_a_stream: ClassVar[bool] = True

    epsilon: Fraction
    """Loss between two readings that are one core range apart in every column."""
    neighbours: str = "any other reading, by how far away it is"
    unit: str = "reading"
    protects: str = "every reading, the less the further apart the two compared are"

    def __post_init__(self) -> None:
        at_least_zero(self, epsilon=self.epsilon)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return self._when(
            "Whoever sees what leaves the sensor can tell two readings inside the declared core range apart by at most a "
            f"factor {factor(self.epsilon)} in likelihood; readings up to D core ranges apart in a column (D at least 1) only by "
            f"at most e^({shown(self.epsilon)}·D), so a far outlier can be recognised as one."
        )

    @property
    def amounts(self) -> Amounts:
        return losses(self.epsilon)
