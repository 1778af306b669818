"""What the owner sees of a publication: risk before and after, who was left out, what was lost. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.attacks import Findings, attack
from wallflower.publish.floor import Floor, floor
from wallflower.publish.levels import counts_possible_values
from wallflower.publish.loss import losses
from wallflower.publish.matching_attack import Guesses
from wallflower.publish.publication import Publication
from wallflower.publish.published_file import PublishedGroup
from wallflower.publish.risk import Risk, risk_rows
from wallflower.schema.display import percent

BARS = 40
MOST_VALUES = 12
UNHIDABLE = "Rows that no method could publish"
"""How the title of the table that names them begins."""
OUTLYING_WITH_ANYONE = "its value would make an outlier of anyone, so nobody normal could be thought to hold it"


def inspected(made: Publication) -> dict[str, Any]:
    """Facts, tables and arrays for figures; the grouping is the one `run` writes, because it draws nothing."""
    groups, suppressed = made.grouping.groups, made.grouping.suppressed
    sizes = np.array([len(group.rows) for group in groups], dtype=np.int64)
    low = np.array([g.low for g in groups], dtype=np.int64).reshape(len(groups), len(made.space.quasi))
    high = np.array([g.high for g in groups], dtype=np.int64).reshape(len(groups), len(made.space.quasi))
    lost = losses(made.space.quasi, low, high, sizes.tolist(), suppressed=len(suppressed), k=made.terms.k)
    outliers = made.checker.outlying
    ground = floor(made.checker, made.terms.level, suppressed, least=made.terms.least)
    found = _attacked(made)
    kept = int(outliers.sum() - outliers[suppressed].sum())
    return {
        "facts": {
            "rows": len(made.places),
            "published": int(sizes.sum()),
            "left out": f"{len(suppressed)} ({_share(len(suppressed), len(made.places))})",
            "no method could publish": _ground(ground),
            "sensitive-attribute outliers": made.grouping.sensitive_outliers,
            "(p, d)-outliers": f"{int(outliers.sum())}, of which {kept} published and {int(outliers[suppressed].sum())} left out",
            "groups": len(groups),
            "rows in a group": f"{_least(sizes)} to {_most(sizes)}, {lost.average_class:.1f} on average",
            "information loss (Definition 3.7)": f"{lost.information_loss:.4f} of {len(made.space.quasi)}",
            "normalised certainty penalty": f"{lost.certainty_penalty:.4f}",
            "discernibility": lost.discernibility,
            "average class size / k": f"{lost.average_class_k:.2f}",
        },
        "tables": [
            {"title": "Risk before and after", "columns": ["", "before", "after"], "rows": _risks(made, sizes, found)},
            _possible_values(found),
            {
                "title": "Information loss by column",
                "columns": ["column", "loss", "average width"],
                "rows": _widths(made, low, high, sizes, lost.by_column),
            },
            *_unhidable(made, ground),
            *_left_out(made, suppressed),
        ],
        "numbers": {
            "rows": len(made.places),
            "left out": len(suppressed),
            "outliers": int(outliers.sum()),
            "outliers published": kept,
        },
        "figures": {"sizes": sizes, "columns": _histograms(made, low, high, sizes)},
    }


def _share(part: int, whole: int) -> str:
    return percent(part / whole, digits=1) if whole else "no rows"


def _least(sizes: NDArray[np.int64]) -> int:
    return int(sizes.min()) if len(sizes) else 0


def _most(sizes: NDArray[np.int64]) -> int:
    return int(sizes.max()) if len(sizes) else 0


def _attacked(made: Publication) -> Findings:
    quasi, groups = made.checker.quasi, made.grouping.groups
    return attack(
        made.checker,
        [PublishedGroup(g.low, g.high, made.places[g.rows, quasi:]) for g in groups],
        [g.rows for g in groups],
    )


def _risks(made: Publication, sizes: NDArray[np.int64], found: Findings) -> list[list[str]]:
    """Risks by group size, and the attacks, on the rows as they are and as published."""
    alike = np.unique(made.places[:, : made.checker.quasi], axis=0, return_counts=True)[1]
    before = Risk(alike, len(made.places), made.terms.population)
    after = Risk(sizes, len(made.places), made.terms.population)
    nothing = "not published in groups"
    guessed = found.guesses
    return [
        *risk_rows(before, after),
        ["outliers that Theorems 4.1 and 4.2 give away", nothing, str(len(found.leaks))],
        ["values normal for nobody who matches", nothing, str(found.abnormal_values)],
        ["people normal with no value of a group they match", nothing, str(found.abnormal_people)],
        ["people pinned to one value (matching)", nothing, str(len(guessed.pinned))],
        ["fewest possible values, all and outliers (matching)", nothing, _both(guessed, guessed.fewest)],
        ["likeliest value at most, all and outliers (matching)", nothing, _both(guessed, guessed.surest)],
        ["left out, in no group's box", nothing, str(len(found.absence.outside))],
        ["left out or not, no value of the groups they match fits", nothing, str(len(found.absence.unfitting))],
    ]


def _both(guessed: Guesses, measure: Callable[..., float]) -> str:
    outliers = f"{measure(outlying=True):.3g}" if guessed.outlying.any() else "none published"
    return f"{measure(outlying=False):.3g}, {outliers}"


def _possible_values(found: Findings) -> dict[str, Any]:
    """How many published people have how many possible values, and how sure the likeliest is."""
    guessed = found.guesses
    counts, many = np.unique(guessed.possible, return_counts=True)
    rows = []
    for count, people in list(zip(counts.tolist(), many.tolist(), strict=True))[:MOST_VALUES]:
        some = guessed.possible == count
        shares = guessed.likeliest[some]
        rows.append(
            [
                str(count),
                str(people),
                str(int(guessed.outlying[some].sum())),
                f"{np.median(shares):.2f}",
                f"{shares.max():.2f}",
            ]
        )
    title = "Possible values of published people, by the table as it is"
    if guessed.estimated:
        title += f" (likeliest estimated by a walk for {guessed.estimated} of {len(guessed.rows)})"
    return {
        "title": title,
        "columns": ["possible values", "people", "outliers", "likeliest, median", "largest"],
        "rows": rows,
    }


def _ground(ground: Floor) -> str:
    said = (
        f"at least {ground.rows} of them at this level (proved for {len(ground.proved)} of {ground.examined} examined"
    )
    if len(ground.abnormal) and ground.forced:
        said += (
            f"; and {len(ground.abnormal)} hold a value that would make anyone an outlier, which only the {ground.forced} rows that "
            "stand out with every value could be thought to hold"
        )
    return said + ")"


def _unhidable(made: Publication, ground: Floor) -> list[dict[str, Any]]:
    """Rows that no method could publish at this level, each with the reason."""
    rows = ground.named
    if not len(rows):
        return []
    axes, alone = made.space.axes, set(ground.alone.tolist())
    own, other = _reasons(made)
    lines = [
        [*(axis.value(int(made.places[row, a])) for a, axis in enumerate(axes)), own if row in alone else other]
        for row in rows[:MOST_VALUES].tolist()
    ]
    return [
        {
            "title": f"{UNHIDABLE} at this level ({len(rows)} proved)",
            "columns": [*(a.name for a in axes), "why"],
            "rows": lines,
        }
    ]


def _reasons(made: Publication) -> tuple[str, str]:
    """Why a row cannot be published: for its value alone, and otherwise."""
    level = made.terms.level
    if counts_possible_values(level):
        return (
            OUTLYING_WITH_ANYONE,
            f"fewer than {made.terms.least} values that can be published could be taken for its own",
        )
    other = "stands out with every value" if level == "candidate" else "in every box it brings a corner that stands out"
    return "its value stands out by itself", other


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
