"""From rows to groups. Nothing is drawn: rows are in a canonical order and every tie follows a written rule, so that the grouping is a function of
the multiset of rows, the question and, where it is made in regions, their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wallflower.publish.checker import Checker
from wallflower.publish.diversity import Demands
from wallflower.publish.grouping import Grouping
from wallflower.publish.regions import RegionWork, Run, grouped, in_turn


def anonymise(
    checker: Checker,
    *,
    level: str,
    k: int,
    method: str,
    least: int | None = None,
    demands: Demands | None = None,
    regions: int = 1,
    run: Run = in_turn,
) -> Grouping:
    """Group the checker's rows; what no group can take is suppressed. `least`: the possible values of level `matching`.

    `run` groups the regions, wherever that may be.
    """
    if len(checker.places) < max(k, 1):
        return Grouping((), np.arange(len(checker.places)), 0)
    question: dict[str, Any] = {
        "k": k,
        "method": method,
        "least": k if least is None else least,
        "demands": demands or Demands(),
    }
    grouping = grouped(RegionWork.on(checker, level=level, **question), regions, run)
    if level == "attack":
        # Whatever passes candidate passes attack: take its groups where they hold more rows.
        other = grouped(RegionWork.on(checker, level="candidate", **question), regions, run)
        return other if other.published > grouping.published else grouping
    return grouping
