"""How many rows lie beyond quantile fences that are themselves private: the rule of the box plot, as a baseline people know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wallflower.count.noise import MISS
from wallflower.count.queries import counted, counted_near, largest_answer
from wallflower.detectors.registry import call_in_text, setting_in_text
from wallflower.engines.base import Rows
from wallflower.engines.plan import plan_fetch
from wallflower.errors import UsageError
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.mechanisms.quantile import Quantile
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import PureDP
from wallflower.privacy.price import Price
from wallflower.privacy.trial import NEAR, FieldTrial, Stage, multiples
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.schema.fields import Epsilon, Exact, Text

Ints = NDArray[np.int64]
NOT_COUNTED = (
    "Beyond a fence means far from the middle of one column; rows in a gap, or odd in several columns together, are not counted. "
    "Compare --neighbours and --radius."
)
FENCES = ("iqr",)
FAR = 2**62
"""No number of steps is beyond it."""
QUARTILES = (Fraction(1, 4), Fraction(3, 4))


def fence_in_text(text: str) -> dict[str, Any]:
    """The settings that a spelt fence stands for.

    >>> fence_in_text("iqr(factor=3)"), fence_in_text("iqr")
    ({'fence': 'iqr', 'factor': '3'}, {'fence': 'iqr'})
    """
    call = call_in_text(text)
    if call is None:
        raise fence_misspelt()
    name, settings = call[0], [setting_in_text(piece) for piece in call[1]]
    if len(settings) > 1 or any(setting != "factor" or not value for setting, value in settings):
        raise fence_misspelt()
    return {"fence": name, **dict(settings)}


def fence_misspelt() -> UsageError:
    return UsageError(
        "a fence is spelt iqr or iqr(factor=1.5), for one column.", hint="For example --columns stay --fence iqr."
    )


@dataclass(frozen=True, kw_only=True)
class FencedOutliers:
    """Choose the quartiles of a column privately, then count the rows more than `factor` times their distance beyond them.

    >>> FencedOutliers(column="salary", epsilon="1").factor
    Fraction(3, 2)
    """

    name: ClassVar[str] = "count"

    column: Text = Text()
    epsilon: Epsilon = Epsilon()
    """Half of it is spent on the count, a quarter on each quartile."""
    fence: Literal["iqr"] = "iqr"
    factor: Exact = Exact("3/2", least=0)

    def __post_init__(self) -> None:
        if self.fence not in FENCES:
            raise UsageError(f"'fence' must be one of {', '.join(FENCES)}, got '{self.fence}'.")

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def _noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(scale=2 / self.epsilon)  # a row is beyond fixed fences or not, under either adjacency

    def quartiles(self, declaration: Declaration) -> tuple[Quantile, Quantile]:
        domain = declaration.column(self.column).numeric
        low, high = (
            Quantile.of(
                self.epsilon / 4, share=share, first=domain.first, last=domain.last, neighbours=declaration.neighbours
            )
            for share in QUARTILES
        )
        return low, high

    def price(self, declaration: Declaration) -> Price:
        neighbours = declaration.neighbours
        quartiles = self.quartiles(declaration)
        spent = sum((quartile.guarantee(neighbours=neighbours).epsilon for quartile in quartiles), start=Fraction(0))
        spent += self._noise.guarantee(distance=1, neighbours=neighbours).epsilon
        return Price(
            guarantee=PureDP(epsilon=spent, neighbours=neighbours),
            mechanism={
                "name": "quantile fences",
                "exponent": shown(quartiles[0].exponent),
                "scale": shown(self._noise.scale),
            },
            settings={
                "column": self.column,
                "fence": f"quartiles, and {shown(self.factor)} times their distance beyond them",
                "budget": f"{shown(self.epsilon / 2)} for the quartiles, {shown(self.epsilon / 2)} to count",
                "plan": str(plan_fetch(declaration, 1)),
            },
            expected={
                "error": f"within ±{self._noise.reach(miss=MISS)} rows of the rows beyond the released fences, 19 times out of 20",
                "quartiles": f"each at most {quartiles[0].rank_error(miss=MISS / 2)} rows further from its rank than the best value, 19 times out of 20",
            },
            notes=(NOT_COUNTED,),
        )

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        self.run(rows, entropy)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any] | None:
        numbers, domain = self._numbers(rows), rows.declaration.column(self.column).numeric
        ends = sorted(quartile(numbers, entropy) for quartile in self.quartiles(rows.declaration))
        low, high = self.fences(ends[0], ends[1])
        most, reach = largest_answer(rows), self._noise.reach(miss=MISS)
        noisy = min(max(self._noise(beyond(numbers, low, high), entropy), 0), most)
        return {
            "count": noisy,
            "interval": [max(noisy - reach, 0), min(noisy + reach, most)],
            "fences": [
                domain.text(max(math.ceil(low), domain.first)),
                domain.text(min(math.floor(high), domain.last)),
            ],
        }

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        low, high = answer["fences"]
        return f"count {counted(answer)}, beyond the fences {low} and {high}"

    def fences(self, low: int, high: int) -> tuple[Fraction, Fraction]:
        """From the quartiles, in steps."""
        return low - self.factor * (high - low), high + self.factor * (high - low)

    def _numbers(self, rows: Rows) -> Ints:
        return rows.fetch(numbers=self.columns).numbers[:, 0]

    def trial(self) -> FieldTrial:
        """How it is rehearsed."""
        return FieldTrial(
            query=self,
            measured="rows counted beyond the fences",
            useful=NEAR,
            on=self._staged,
            options={"epsilon": multiples(self.epsilon), "factor": multiples(self.factor, ("1/2", "1", "2"))},
        )

    def _staged(self, rows: Rows) -> Stage:
        numbers, domain = np.sort(self._numbers(rows)), rows.declaration.column(self.column).numeric
        truth, ends = 0, (domain.first, domain.last)
        if len(numbers):
            low, high = (int(numbers[min(int(share * len(numbers)), len(numbers) - 1)]) for share in QUARTILES)
            first, last = self.fences(low, high)
            truth, ends = beyond(numbers, first, last), (math.ceil(first), math.floor(last))
        fences = [domain.text(max(ends[0], domain.first)), domain.text(min(ends[1], domain.last))]
        return Stage(
            truth={"count": truth, "interval": None, "fences": fences},
            number=truth,
            draw=lambda entropy: self.run(rows, entropy),
            score=lambda answer: counted_near(truth, answer),
        )

    def inspect(self, rows: Rows) -> dict[str, Any]:
        numbers, domain = np.sort(self._numbers(rows)), rows.declaration.column(self.column).numeric
        if not len(numbers):
            return {"facts": {"rows": 0}}
        low, high = (int(numbers[min(int(share * len(numbers)), len(numbers) - 1)]) for share in QUARTILES)
        outside = beyond(numbers, *self.fences(low, high))
        return {
            "facts": {
                "rows": len(numbers),
                "true quartiles": f"{domain.text(low)}, {domain.text(high)}",
                "rows beyond the true fences": outside,
            }
        }


def beyond(numbers: Ints, low: Fraction, high: Fraction) -> int:
    """How many numbers are below `low` or above `high`; exact."""
    first, last = max(math.ceil(low), -FAR), min(math.floor(high), FAR)
    return int((numbers < first).sum() + (numbers > last).sum())
