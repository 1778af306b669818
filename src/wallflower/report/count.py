"""Pictures for `count`."""

from __future__ import annotations

from typing import Any

from wallflower.report.figures import BLUE, ORANGE, Picture, draw


def pictures(seen: dict[str, Any]) -> list[Picture]:
    """How many rows have how many neighbours, with the rows that count as outliers in another colour."""
    data = seen["figures"]["degrees"]
    heights, threshold = list(data["rows"]), int(data["threshold"])

    def paint(axes: Any) -> None:
        colours = [ORANGE if place < threshold else BLUE for place in range(len(heights))]
        axes.bar(range(len(heights)), heights, color=colours, width=0.9)
        axes.axvline(threshold - 0.5, color=ORANGE, linewidth=1)
        axes.annotate("outliers", (threshold - 0.6, 0.95), xycoords=("data", "axes fraction"), ha="right", color=ORANGE)

    return [
        draw(
            paint,
            x=f"other rows within the radius (the last bar: {len(heights) - 1} or more)",
            y="rows",
            caption=f"Rows by how many others lie within the radius. Fewer than {threshold} makes an outlier (orange).",
            alt="Bar chart of rows by number of neighbours; the bars below the threshold are the outliers.",
        )
    ]
