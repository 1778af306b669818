"""How a question reads the rows, from public things alone: the engine adds cells up, or all rows are fetched."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from wallflower.detectors.base import Detector
from wallflower.detectors.contexts import Fast, values_asked
from wallflower.engines.plan import Plan, plan_cells, plan_fetch
from wallflower.errors import UsageError
from wallflower.explain.languages import MOST_CELLS
from wallflower.schema.declaration import Declaration


def combinations(declaration: Declaration, by: Sequence[str]) -> int:
    """Of declared values: the cells that an engine would add rows up in."""
    return prod(declaration.column(name).groups.size for name in by)


def plan_contexts(
    declaration: Declaration, by: Sequence[str], metric: str, detector: Detector, *, own_utility: bool
) -> Plan:
    """Cells, counts and nearest values are pushed down. Rows are fetched for a detector that is handed the values of each context, and where
    there are too many cells; what would not fit is refused, before anything is read or charged.
    """
    cells = combinations(declaration, by)
    if own_utility and cells > MOST_CELLS:
        raise UsageError(
            f"a utility of one's own is handed rows counted by declared values: {cells} combinations; {MOST_CELLS} is the most.",
            hint="Name fewer columns in 'by', or declare coarser values or bins.",
        )
    if cells > MOST_CELLS or not isinstance(detector, Fast):
        return plan_fetch(declaration, len(dict.fromkeys((*by, metric))))
    bounds = declaration.column(metric).numeric
    distinct = min(2 * values_asked(detector) + 1, bounds.last - bounds.first + 1) if values_asked(detector) else 0
    return plan_cells(declaration, cells, min(cells * distinct, declaration.max_rows))
