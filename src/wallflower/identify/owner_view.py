"""The curator's view: what is true, how surely each row would be told, and how well each is protected. Owner only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.identify.answers import Answers
from wallflower.identify.counting import of_rows
from wallflower.identify.margins import anomalous
from wallflower.identify.metric import Ints, Metric
from wallflower.identify.sentences import chance
from wallflower.identify.values import shown_values
from wallflower.schema.domains import Categories

DRAWN = 4_000
"""So many rows at most are drawn in a picture, spread evenly over the order of counts."""
MOST_TEXTS = 30
"""More categories than these are drawn by their number."""


def view(rows: Rows, *, metric: Metric, answering: Answers, asked: Ints, counted: tuple[Ints, Ints]) -> dict[str, Any]:
    """Facts, the asked values with their true answers, and the arrays behind the pictures. NOT PRIVATE."""
    model = answering.model
    points = metric.points(rows)
    held, near = of_rows(metric, points, until=answering.copies_matter, cap=min(answering.cap, 2**62))
    truth = anomalous(held, near, beta=model.beta, included=model.included)
    no, yes = answering.log_chances(held, near)
    right = np.exp(np.where(truth, yes, no))
    losses = effective_epsilon(answering, held, near)
    sensitive = near >= model.beta + 1 - model.k
    return {
        "facts": {
            "rows": len(points),
            "anomalous rows": int(truth.sum()),
            "rows that the model protects (k-sensitive)": _share(sensitive),
            "epsilon of a question": float(answering.epsilon),
            "rows whose own effective epsilon is above that": _share(losses > float(answering.epsilon) * (1 + 1e-9)),
            "largest effective epsilon of a row": float(losses.max(initial=0.0)),
        },
        "tables": [
            {
                "title": "The asked values",
                "columns": [
                    *metric.columns,
                    "rows that hold it",
                    "rows within the radius",
                    "true answer",
                    "chance of telling it wrongly",
                ],
                "rows": _asked_rows(rows, metric, answering, asked, counted),
            }
        ],
        "figures": {
            "map": _map(rows, metric, points, near, right=right, losses=losses),
            "epsilon": float(answering.epsilon),
        },
    }


def effective_epsilon(answering: Answers, copies: Ints, within: Ints) -> NDArray[np.float64]:
    """The paper's ln A_i: the largest loss of the answer about i when one row of value i is added or removed."""
    here = answering.log_chances(copies, within)
    more = answering.log_chances(copies + 1, within + 1)
    less = answering.log_chances(np.maximum(copies - 1, 0), np.maximum(within - (copies > 0), 0))
    with np.errstate(invalid="ignore"):
        gaps = [np.abs(a - b) for other in (more, less) for a, b in zip(here, other, strict=True)]
    # Two impossible outcomes are equally likely: ln 0 − ln 0 is no loss.
    return np.asarray(np.max(np.nan_to_num(np.array(gaps), nan=0.0, posinf=np.inf), axis=0))


def _share(chosen: Any) -> str:
    many = len(chosen)
    return f"{int(chosen.sum())} of {many}" + (f" ({100 * chosen.mean():.2f} %)" if many else "")


def _asked_rows(
    rows: Rows, metric: Metric, answering: Answers, asked: Ints, counted: tuple[Ints, Ints]
) -> list[list[Any]]:
    held, near = counted
    truth = anomalous(held, near, beta=answering.model.beta, included=answering.model.included)
    no, yes = answering.log_chances(held, near)
    wrong = np.where(truth, no, yes)
    return [
        [*text.values(), int(a), int(n), "yes" if g else "no", chance(float(w)) if np.isfinite(w) else "0"]
        for text, a, n, g, w in zip(
            shown_values(asked, metric, rows.declaration), held, near, truth, wrong, strict=True
        )
    ]


def _map(rows: Rows, metric: Metric, points: Ints, near: Ints, *, right: Any, losses: Any) -> dict[str, Any]:
    """The first two columns in their units, and for each drawn row what it would get; with one column, rows near go upwards."""
    order = np.argsort(near, kind="stable")
    chosen = order if len(order) <= DRAWN else order[np.linspace(0, len(order) - 1, DRAWN).astype(np.int64)]
    axes = [_axis(rows, metric, points[chosen], place) for place in range(min(2, len(metric.columns)))]
    if len(axes) == 1:
        axes.append({"name": "rows within the radius", "at": near[chosen], "texts": []})
    return {
        "x": axes[0],
        "y": axes[1],
        "accuracy": right[chosen],
        "effective_epsilon": losses[chosen],
        "near": near[chosen],
    }


def _axis(rows: Rows, metric: Metric, points: Ints, place: int) -> dict[str, Any]:
    name = metric.columns[place]
    domain = rows.declaration.column(name).domain
    texts = list(domain.values) if isinstance(domain, Categories) and domain.size <= MOST_TEXTS else []
    return {"name": name, "at": points[:, place] * float(getattr(domain, "step", 1)), "texts": texts}
