"""Pictures for `publish`."""

from __future__ import annotations

from typing import Any

import numpy as np

from wallflower.report.figures import BLUE, ORANGE, Picture, draw

MOST_LABELS = 8
ROOM = 56
"""Letters that stand side by side under a picture; more of them are turned, so that none lies on another."""


def pictures(seen: dict[str, Any]) -> list[Picture]:
    """Class sizes, then each quasi-identifier before and after."""
    figures = seen["figures"]
    drawn = [_sizes(np.asarray(figures["sizes"]))] if len(figures["sizes"]) else []
    return drawn + [_before_and_after(column) for column in figures["columns"]]


def _sizes(sizes: Any) -> Picture:
    def paint(axes: Any) -> None:
        axes.hist(sizes, bins=min(40, max(1, int(sizes.max() - sizes.min()) + 1)), color=BLUE)

    return draw(
        paint,
        x="published rows in a group",
        y="groups",
        caption=f"{len(sizes)} groups of {int(sizes.min())} to {int(sizes.max())} rows.",
        alt="Histogram of group sizes.",
    )


def _before_and_after(column: dict[str, Any]) -> Picture:
    labels, before, after = column["labels"], np.asarray(column["before"]), np.asarray(column["after"])
    places = np.arange(len(labels))

    def paint(axes: Any) -> None:
        axes.bar(places - 0.2, before, width=0.4, color=BLUE, label="in the table")
        axes.bar(places + 0.2, after, width=0.4, color=ORANGE, label="published, spread over the interval")
        step = max(1, -(-len(labels) // MOST_LABELS))
        texts = [str(label)[:16] for label in labels[::step]]
        crowded = len(texts) * (2 + max(map(len, texts), default=0)) > ROOM
        turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
        axes.set_xticks(places[::step], texts, **turned)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)

    return draw(
        paint,
        x=column["name"],
        y="rows",
        caption=f"{column['name']} in the table (blue) and as published (orange).",
        alt=f"Bars of {column['name']} before and after publishing.",
    )
