"""How many rows are outliers: fewer than `neighbours` other rows within `radius`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wallflower.count.degrees import capped_degrees, quadratic_form
from wallflower.count.sensitivity import global_sensitivity
from wallflower.engines.base import Rows
from wallflower.errors import UsageError
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import Entropy
from wallflower.privacy.price import Price
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import exact, positive, shown

INTERVAL = Fraction(95, 100)


@dataclass(frozen=True, kw_only=True)
class Outliers:
    """Count the rows with fewer than `neighbours` others within `radius`.

    The distance is the root of the mean over the columns of ((x − y) / scale)².

    >>> Outliers(columns=("salary",), neighbours=5, radius="1000", epsilon="0.5").epsilon
    Fraction(1, 2)
    """

    name: ClassVar[str] = "count"

    columns: tuple[str, ...]
    neighbours: int
    """A row with fewer others within the radius is an outlier."""
    radius: Fraction | str | int
    epsilon: Fraction | str | int

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "radius", exact(self.radius, name="radius"))
        object.__setattr__(self, "epsilon", positive(self.epsilon, name="epsilon"))
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise UsageError("'columns' must name at least one column, each once.")
        if self.neighbours < 1:
            raise UsageError(f"'neighbours' must be at least 1, got {self.neighbours}.")
        if exact(self.radius) < 0:
            raise UsageError(f"'radius' must be at least 0, got {shown(exact(self.radius))}.")

    def _noise(self) -> tuple[DiscreteLaplace, int]:
        sensitivity = global_sensitivity(len(self.columns), self.neighbours)
        return DiscreteLaplace(scale=sensitivity / exact(self.epsilon)), sensitivity

    def price(self, declaration: Declaration) -> Price:
        for name in self.columns:
            _ = declaration.column(name).numeric
        noise, sensitivity = self._noise()
        margin = half_width(noise.scale)
        return Price(
            guarantee=noise.guarantee(distance=sensitivity, neighbours=declaration.neighbours),
            mechanism={"name": "discrete-laplace", "scale": shown(noise.scale)},
            settings={
                "columns": ", ".join(self.columns),
                "neighbours": str(self.neighbours),
                "radius": shown(exact(self.radius)),
                "scales": ", ".join(f"{name}: {shown(declaration.columns[name].scale or 1)}" for name in self.columns),
                "sensitivity": str(sensitivity),
            },
            expected={"error": f"within ±{margin} rows, 19 times out of 20"},
        )

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any] | None:
        noise, _ = self._noise()
        most = rows.size if rows.declaration.neighbours == "replace-one" else rows.declaration.max_rows
        noisy = noise(self._true_count(rows), entropy)
        margin = half_width(noise.scale)
        low, high = (min(max(end, 0), most) for end in (noisy - margin, noisy + margin))
        return {"count": min(max(noisy, 0), most), "interval": [low, high]}

    def inspect(self, rows: Rows) -> dict[str, Any]:
        degrees = self._degrees(rows, cap=3 * self.neighbours)
        outliers = int((degrees < self.neighbours).sum())
        return {
            "facts": {"rows": len(degrees), "outliers": outliers},
            "figures": {
                "degrees": {
                    "rows": np.bincount(degrees, minlength=3 * self.neighbours + 1),
                    "threshold": self.neighbours,
                }
            },
        }

    def _true_count(self, rows: Rows) -> int:
        return int((self._degrees(rows, cap=self.neighbours) < self.neighbours).sum())

    def _degrees(self, rows: Rows, cap: int) -> Any:
        form = quadratic_form(rows.declaration, self.columns, exact(self.radius))
        return capped_degrees(rows.numbers(self.columns), form, cap)


def half_width(scale: Fraction) -> int:
    """The least t with P(|Z| > t) ≤ 1/20 for discrete Laplace noise Z: 2q^(t+1)/(1+q), q = e^(−1/scale)."""
    q = math.exp(-1 / scale)
    return max(0, math.ceil(math.log(float(1 - INTERVAL) * (1 + q) / 2) / math.log(q) - 1))
