"""What the owner sees of a publication: risk before and after, who was left out, what was lost. NOT PRIVATE."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.attacks import attack
from wallflower.publish.floor import floor
from wallflower.publish.loss import losses
from wallflower.publish.publication import Publication
from wallflower.publish.published import PublishedGroup

BARS = 40
MOST_VALUES = 12


def inspected(made: Publication) -> dict[str, Any]:
    """Facts, tables and arrays for figures; the grouping is the one `run` writes, because it draws nothing."""
    groups, suppressed = made.grouping.groups, made.grouping.suppressed
    sizes = np.array([len(group.rows) for group in groups], dtype=np.int64)
    low = np.array([g.low for g in groups], dtype=np.int64).reshape(len(groups), len(made.space.quasi))
    high = np.array([g.high for g in groups], dtype=np.int64).reshape(len(groups), len(made.space.quasi))
    lost = losses(made.space.quasi, low, high, sizes.tolist(), suppressed=len(suppressed), k=made.terms.k)
    outliers = made.checker.outlying
    ground = floor(made.checker, made.terms.level, suppressed, least=made.terms.least)
    risk = _risks(made, sizes)
    return {
        "facts": {
            "rows": len(made.places),
            "published": int(sizes.sum()),
            "left out": f"{len(suppressed)} ({_share(len(suppressed), len(made.places))})",
            "no method could publish": f"at least {ground.rows} of them at this level (proved for {len(ground.proved)} of {ground.examined} examined)",
            "sensitive-attribute outliers": made.grouping.sensitive_outliers,
            "(p, d)-outliers": f"{int(outliers.sum())}, of which {int(outliers[suppressed].sum())} left out",
            "groups": len(groups),
            "rows in a group": f"{_least(sizes)} to {_most(sizes)}, {lost.average_class:.1f} on average",
            "information loss (Definition 3.7)": f"{lost.information_loss:.4f} of {len(made.space.quasi)}",
            "normalised certainty penalty": f"{lost.certainty_penalty:.4f}",
            "discernibility": lost.discernibility,
            "average class size / k": f"{lost.average_class_k:.2f}",
        },
        "tables": [
            {"title": "Risk before and after", "columns": ["", "before", "after"], "rows": risk},
            {
                "title": "Information loss by column",
                "columns": ["column", "loss", "average width"],
                "rows": _widths(made, low, high, sizes, lost.by_column),
            },
            *_left_out(made, suppressed),
        ],
        "figures": {"sizes": sizes, "columns": _histograms(made, low, high, sizes)},
    }


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "no rows"


def _least(sizes: NDArray[np.int64]) -> int:
    return int(sizes.min()) if len(sizes) else 0


def _most(sizes: NDArray[np.int64]) -> int:
    return int(sizes.max()) if len(sizes) else 0


def _risks(made: Publication, sizes: NDArray[np.int64]) -> list[list[str]]:
    """Prosecutor risk (1 / rows that look alike) and the attacks, on the rows as they are and as published."""
    quasi, checker = made.checker.quasi, made.checker
    _, inverse, before = np.unique(made.places[:, :quasi], axis=0, return_inverse=True, return_counts=True)
    alike = before[inverse.reshape(-1)] if len(made.places) else before
    groups = made.grouping.groups
    after = attack(checker, [PublishedGroup(g.low, g.high, made.places[g.rows, quasi:]) for g in groups])
    people = float(sizes.sum())
    return [
        ["rows alone in their group", str(int((alike == 1).sum())), str(int((sizes == 1).sum()))],
        ["highest re-identification risk", _risk(alike), _risk(sizes)],
        [
            "average re-identification risk",
            f"{len(before) / len(made.places):.3f}" if len(made.places) else "0",
            f"{len(sizes) / people:.3f}" if people else "0",
        ],
        ["outliers that Theorems 4.1 and 4.2 give away", "not published in groups", str(len(after.leaks))],
        ["values normal for nobody who matches", "not published in groups", str(after.abnormal_values)],
        ["people normal with no value of a group they match", "not published in groups", str(after.abnormal_people)],
    ]


def _risk(alike: NDArray[np.int64]) -> str:
    return f"{1 / int(alike.min()):.3f}" if len(alike) else "0"


def _widths(
    made: Publication,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    sizes: NDArray[np.int64],
    by_column: dict[str, float],
) -> list[list[str]]:
    rows = []
    for a, axis in enumerate(made.space.quasi):
        wide = float(((high[:, a] - low[:, a] + 1) * sizes).sum() / max(int(sizes.sum()), 1))
        rows.append([axis.name, f"{by_column[axis.name]:.4f}", f"{wide:.1f} of {axis.size} values"])
    return rows


def _left_out(made: Publication, suppressed: NDArray[np.int64]) -> list[dict[str, Any]]:
    """For every column the values that lost most rows."""
    tables = []
    gone = np.zeros(len(made.places), dtype=np.bool_)
    gone[suppressed] = True
    for a, axis in enumerate(made.space.axes):
        held, inverse, counts = np.unique(made.places[:, a], return_inverse=True, return_counts=True)
        missing = np.bincount(inverse.reshape(-1), weights=gone, minlength=len(held)).astype(int)
        worst = [i for i in np.argsort(-missing, kind="stable")[:MOST_VALUES] if missing[i]]
        rows = [
            [axis.value(int(held[i])), str(counts[i]), str(missing[i]), _share(missing[i], counts[i])] for i in worst
        ]
        if rows:
            columns = [axis.name, "rows", "left out", "share"]
            tables.append({"title": f"Left out, by {axis.name}", "columns": columns, "rows": rows})
    return tables


def _histograms(
    made: Publication, low: NDArray[np.int64], high: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[dict[str, Any]]:
    """Each quasi-identifier before, and after with every published row spread evenly over its interval."""
    pictures = []
    for a, axis in enumerate(made.space.quasi):
        bars = min(axis.size, BARS)
        edges = np.linspace(-0.5, axis.size - 0.5, bars + 1)
        before = np.histogram(made.places[:, a], bins=edges)[0]
        after = np.zeros(bars)
        for g in range(len(sizes)):
            start, stop = low[g, a] - 0.5, high[g, a] + 0.5
            overlap = np.clip(np.minimum(edges[1:], stop) - np.maximum(edges[:-1], start), 0, None)
            after += sizes[g] * overlap / (stop - start)
        middles = [axis.value(int(np.clip(round((x + y) / 2), 0, axis.size - 1))) for x, y in pairwise(edges)]
        pictures.append({"name": axis.name, "labels": middles, "before": before, "after": after})
    return pictures
