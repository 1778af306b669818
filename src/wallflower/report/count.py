"""Pictures for `count`."""

from __future__ import annotations

from typing import Any

from wallflower.count.expectations import ErrorCurve
from wallflower.report.figures import BLUE, GREEN, INK, ORANGE, PURPLE, Picture, draw


def pictures(seen: dict[str, Any]) -> list[Picture]:
    """Outliers by day or by group, or how many rows have how many neighbours, with the outliers in another colour."""
    if "daily" in seen["figures"]:
        return [_by_day(seen["figures"]["daily"])]
    if "groups" in seen["figures"]:
        return [_by_group(seen["figures"]["groups"])]
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


def _by_group(data: dict[str, Any]) -> Picture:
    values, counts, error = list(data["values"]), list(data["counts"]), int(data["error"])

    def paint(axes: Any) -> None:
        places = range(len(values))
        axes.barh(places, counts, color=ORANGE, height=0.7)
        axes.errorbar(counts, places, xerr=error, fmt="none", ecolor=INK, elinewidth=1, capsize=3)
        axes.set_yticks(places, values)
        axes.invert_yaxis()
        axes.set_xlim(left=0)

    return draw(
        paint,
        x="outliers",
        y=str(data["by"]),
        caption=f"Outliers by {data['by']}. Whiskers: a released count is at least so uncertain, ±{error} rows, 19 times out of 20.",
        alt=f"Bar chart of outliers by {data['by']}, with the error of a released count on each bar.",
        size=(7.0, max(2.0, 0.8 + 0.3 * len(values))),
    )


def _by_day(data: dict[str, Any]) -> Picture:
    days, counts, errors = list(data["days"]), list(data["counts"]), list(data["errors"])

    def paint(axes: Any) -> None:
        places = range(len(days))
        low = [max(count - error, 0) for count, error in zip(counts, errors, strict=True)]
        high = [count + error for count, error in zip(counts, errors, strict=True)]
        axes.fill_between(places, low, high, color=BLUE, alpha=0.15, linewidth=0, step="mid", label="a told count")
        axes.step(places, counts, color=ORANGE, where="mid", label="outliers in the rows")
        shown = sorted({0, len(days) // 2, len(days) - 1})
        axes.set_xticks(shown, [days[place] for place in shown])
        axes.set_ylim(bottom=0)
        axes.legend()

    return draw(
        paint,
        x="end of the day",
        y="outliers",
        caption="Outliers at the end of every day, as the rows are now. Band: where a told count lies, 19 times out of 20; "
        "one charge pays for all days.",
        alt="Line of the number of outliers by day, with a band around it for the error of the told counts.",
    )


def error_picture(curve: ErrorCurve) -> Picture:
    """The error to expect at each epsilon, before any row is read."""
    epsilons = [float(epsilon) for epsilon in curve.epsilons]

    def paint(axes: Any) -> None:
        axes.fill_between(epsilons, curve.lomax_calm, curve.lomax_worst, color=BLUE, alpha=0.15, linewidth=0)
        axes.plot(epsilons, curve.lomax_calm, color=BLUE, label="lomax, on a calm table")
        axes.plot(
            epsilons, curve.lomax_worst, color=BLUE, linestyle=":", label="lomax, on the worst table there could be"
        )
        bought = [(epsilon, reach) for epsilon, reach in zip(epsilons, curve.bought, strict=True) if reach is not None]
        if bought:
            axes.plot(*zip(*bought, strict=True), color=PURPLE, linestyle="--", label="an interval bought with lomax")
        axes.plot(epsilons, curve.laplace, color=ORANGE, label="laplace, on any table")
        chosen = [
            calm if name == "lomax" else laplace
            for calm, laplace, name in zip(curve.lomax_calm, curve.laplace, curve.chosen, strict=True)
        ]
        axes.plot(epsilons, chosen, color=GREEN, linestyle="none", marker="o", markersize=4, label="what auto takes")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.legend()

    return draw(
        paint,
        x="epsilon",
        y="± rows, 19 times out of 20",
        caption="The error of the count by epsilon. It follows from the declaration and the question alone: no row was read.",
        alt="Curves of expected error against epsilon for Laplace noise and, from calm to worst table, for Lomax noise.",
    )
