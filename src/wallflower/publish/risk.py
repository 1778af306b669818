"""Re-identification risk as ARX and sdcMicro report it: from the sizes of groups alone, whatever is sensitive in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Risk:
    """Of rows that lie in groups of `sizes`; `population` people in all, where that is declared, of whom the table is a random sample.

    >>> risk = Risk(sizes=np.array([2, 4, 4]), rows=12, population=120)
    >>> risk.prosecutor, risk.journalist, risk.marketer, risk.alone
    (0.5, 0.05, 0.3, 0)
    """

    sizes: Whole
    rows: int
    """Rows of the table, published or not."""
    population: int | None = None

    @property
    def prosecutor(self) -> float:
        """The largest chance to name a row for someone who knows that a person is in the table: 1 / the smallest group."""
        return 1 / int(self.sizes.min()) if len(self.sizes) else 0.0

    @property
    def journalist(self) -> float | None:
        """The same for someone who does not know it: groups are taken to be larger in the population in proportion."""
        return None if self.population is None else self.prosecutor * self.rows / self.population

    @property
    def marketer(self) -> float:
        """The share of published rows that a guess in every group would name on average."""
        return len(self.sizes) / int(self.sizes.sum()) if len(self.sizes) else 0.0

    @property
    def alone(self) -> int:
        return int((self.sizes == 1).sum())


def risk_rows(before: Risk, after: Risk) -> list[list[str]]:
    """Label, before, after."""
    lines = [
        ["rows alone in their group", str(before.alone), str(after.alone)],
        ["prosecutor risk, highest (1 / smallest group)", f"{before.prosecutor:.3f}", f"{after.prosecutor:.3f}"],
        ["marketer risk (average)", f"{before.marketer:.3f}", f"{after.marketer:.3f}"],
    ]
    if before.journalist is not None and after.journalist is not None:
        said = f"journalist risk, highest (a sample of {after.population:,} people)"
        lines.insert(2, [said, f"{before.journalist:.4f}", f"{after.journalist:.4f}"])
    return lines
