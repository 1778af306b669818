"""Pictures for `explain`."""

from __future__ import annotations

from typing import Any

from wallflower.report.figures import BLUE, ORANGE, Picture, draw


def pictures(seen: dict[str, Any]) -> list[Picture]:
    """The record against the distribution of the best valid context; none when there is none."""
    data = seen["figures"].get("context")
    if data is None:
        return []
    edges, heights = list(data["edges"]), list(data["heights"])

    def paint(axes: Any) -> None:
        axes.bar(edges[:-1], heights, width=edges[1] - edges[0], align="edge", color=BLUE)
        axes.axvline(data["record"], color=ORANGE, linewidth=1.5)
        axes.annotate("the record", (data["record"], 0.95), xycoords=("data", "axes fraction"), color=ORANGE)

    return [
        draw(
            paint,
            x=data["metric"],
            y="rows",
            caption=f"{data['metric']} of all rows of the best valid context (blue), and of the record (orange).",
            alt=f"Histogram of {data['metric']} in the best context, with a line where the record lies.",
        )
    ]
