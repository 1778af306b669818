"""The questions of a request as every method reads them: the declared model, its distance, and the asked values as integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError, nearest_name
from wallflower.identify.metric import Metric, metric_of
from wallflower.identify.values import as_numbers, shown_values
from wallflower.schema.declaration import Declaration, Model


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Public in full."""

    declaration: Declaration
    model: Model
    metric: Metric
    asked: NDArray[np.int64]
    """One row per value, one column per column of the metric."""

    @classmethod
    def read(cls, values: Iterable[Mapping[str, str]], model: str, declaration: Declaration) -> Questions:
        if not isinstance(model, str) or model not in declaration.models:
            raise UsageError(
                f"no anomaly model '{model}' is declared: what an anomaly is, and its budget, are the owner's to fix.",
                hint=f"Add [identify.{model}] to the declaration. {nearest_name(model, declaration.models)}",
            )
        found = declaration.models[model]
        metric = metric_of(declaration, found)
        return cls(declaration=declaration, model=found, metric=metric, asked=as_numbers(values, metric, declaration))

    def answered(self, told: Iterable[bool]) -> dict[str, list[dict[str, object]]]:
        """What is released: every asked value in its one spelling, with what was told."""
        texts = shown_values(self.asked, self.metric, self.declaration)
        return {"answers": [{"asked": text, "anomalous": bool(one)} for text, one in zip(texts, told, strict=True)]}
