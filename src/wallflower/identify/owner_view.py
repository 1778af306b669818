"""The curator's view: what is true, how surely each row would be told, and how well each is protected. Owner only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.engines.executors import Spread
from wallflower.engines.spill import Spill
from wallflower.identify.answers import Answers
from wallflower.identify.margins import anomalous
from wallflower.identify.metric import Ints, Metric
from wallflower.identify.parts import of_every_row, on_executors, plan_of, spread_out
from wallflower.identify.sentences import chance
from wallflower.identify.tasks import PickedHere, RowsHere, picked_from, tallied
from wallflower.identify.values import shown_values
from wallflower.schema.display import percent
from wallflower.schema.domains import Categories
from wallflower.schema.exact import shown

DRAWN = 4_000
"""So many rows at most are drawn in a picture, spread evenly over the order of counts."""
MOST_TEXTS = 30
"""More categories than these are drawn by their number."""


def view(rows: Rows, *, metric: Metric, answering: Answers, asked: Ints, counted: tuple[Ints, Ints]) -> dict[str, Any]:
    """Facts, the asked values with their true answers, and the arrays behind the pictures. NOT PRIVATE."""
    model = answering.model
    held, near, many, drawn = _looked_at(rows, metric, answering)
    truth = anomalous(held, near, beta=model.beta, included=model.included)
    losses = effective_epsilon(answering, held, near)
    sensitive = near >= model.beta + 1 - model.k
    return {
        "facts": {
            "rows": int(many.sum()),
            "anomalous rows": int(many[truth].sum()),
            "rows that the model protects (k-sensitive)": _share(many, sensitive),
            "epsilon of a question": shown(answering.epsilon),
            "rows whose own effective epsilon is above that": _share(
                many, losses > float(answering.epsilon) * (1 + 1e-9)
            ),
            "largest effective epsilon of a row": f"{float(losses.max(initial=0.0)):.4g}",
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
        "figures": {"map": _map(rows, metric, answering, drawn), "epsilon": float(answering.epsilon)},
    }


def _looked_at(rows: Rows, metric: Metric, answering: Answers) -> tuple[Ints, Ints, Ints, Ints]:
    """Each (copies, within) that a row has, how many rows have it, and the rows that are drawn: (within, value, copies)."""
    width, plan = len(metric.columns), plan_of(rows.declaration, metric)
    by, how = range(width + 1), {"until": answering.copies_matter, "cap": min(answering.cap, 2**62)}
    found = Counter[tuple[int, int]]()

    def add(pairs: Ints, many: Ints) -> None:
        found.update(dict(zip(map(tuple, pairs.tolist()), many.tolist(), strict=True)))

    if spread_out(rows, metric):
        seen_there, told = on_executors(rows, metric, **how)
        with seen_there:
            for pairs, many in told:
                add(pairs, many)
            drawn = _spread_there(seen_there, found.total(), by)
    else:
        with Spill(width + 3, most=2**62 if plan.way == "fetch" else plan.rows) as heap:
            for seen in of_every_row(rows, metric, **how):
                add(*tallied(seen.held, seen.near, seen.stands_for))
                heap.add(np.column_stack([seen.near, seen.values, seen.held, seen.stands_for]))
            drawn = _spread(heap, found.total(), by)
    pairs = np.array(sorted(found), dtype=np.int64).reshape(-1, 2)
    many = np.array([found[held, near] for held, near in pairs.tolist()], dtype=np.int64)
    return pairs[:, 0], pairs[:, 1], many, drawn


def _places(rows: int) -> Ints:
    """At most `DRAWN` places, spread evenly over so many."""
    return np.arange(rows) if rows <= DRAWN else np.linspace(0, rows - 1, DRAWN).astype(np.int64)


def _spread(heap: Spill, rows: int, by: Sequence[int]) -> Ints:
    """At most `DRAWN` rows, spread evenly over their order by these columns; the last column says how many rows each stands for."""
    places, chosen, done = _places(rows), [np.empty((0, len(by) + 1), dtype=np.int64)], 0
    for batch in heap.ascending(by):
        picked, done = picked_from(batch, places, done)
        chosen.append(picked)
    return np.concatenate(chosen)


def _spread_there(seen: Spread, rows: int, by: Sequence[int]) -> Ints:
    """The same of rows that lie on executors, which sort them."""
    with seen.ascending(by) as ordered:
        ends = np.cumsum([0, *ordered.over(RowsHere())])
        picked = ordered.over(PickedHere(_places(rows), tuple(ends.tolist())))
    return np.concatenate([np.empty((0, len(by) + 1), dtype=np.int64), *(each for each in picked if each is not None)])


def effective_epsilon(answering: Answers, copies: Ints, within: Ints) -> NDArray[np.float64]:
    """The paper's ln A_i: the largest loss of the answer about i when one row of value i is added or removed."""
    here = answering.log_chances(copies, within)
    more = answering.log_chances(copies + 1, within + 1)
    less = answering.log_chances(np.maximum(copies - 1, 0), np.maximum(within - (copies > 0), 0))
    with np.errstate(invalid="ignore"):
        gaps = [np.abs(a - b) for other in (more, less) for a, b in zip(here, other, strict=True)]
    # Two impossible outcomes are equally likely: ln 0 − ln 0 is no loss.
    return np.asarray(np.max(np.nan_to_num(np.array(gaps), nan=0.0, posinf=np.inf), axis=0))


def _share(many: Ints, chosen: NDArray[np.bool_]) -> str:
    some, rows = int(many[chosen].sum()), int(many.sum())
    return f"{some} of {rows}" + (f" ({percent(some / rows, digits=2)})" if rows else "")


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


def _map(rows: Rows, metric: Metric, answering: Answers, drawn: Ints) -> dict[str, Any]:
    """The first two columns in their units, and for each drawn row what it would get; with one column, rows near go upwards."""
    near, points, held = drawn[:, 0], drawn[:, 1:-1], drawn[:, -1]
    truth = anomalous(held, near, beta=answering.model.beta, included=answering.model.included)
    no, yes = answering.log_chances(held, near)
    axes = [_axis(rows, metric, points, place) for place in range(min(2, len(metric.columns)))]
    if len(axes) == 1:
        axes.append({"name": "rows within the radius", "at": near, "texts": []})
    return {
        "x": axes[0],
        "y": axes[1],
        "accuracy": np.exp(np.where(truth, yes, no)),
        "effective_epsilon": effective_epsilon(answering, held, near),
        "near": near,
    }


def _axis(rows: Rows, metric: Metric, points: Ints, place: int) -> dict[str, Any]:
    name = metric.columns[place]
    domain = rows.declaration.column(name).domain
    texts = list(domain.values) if isinstance(domain, Categories) and domain.size <= MOST_TEXTS else []
    return {"name": name, "at": points[:, place] * float(getattr(domain, "step", 1)), "texts": texts}
