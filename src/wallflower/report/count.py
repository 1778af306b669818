"""Pictures for `count`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallflower.count.expectations import ErrorCurve
from wallflower.privacy.guarantee import worded
from wallflower.report.figures import BLUE, GREEN, INK, ORANGE, PURPLE, Picture, draw

MOST_NUMBERED = 30
"""With more bars than this, numbers on them would run into each other."""
TRUE_COUNTS = ("outliers", "rows beyond the true fences")
"""What the questions call the true count among their facts."""
TOWERS = 3
"""A bar so many times as high as the highest bar of outliers is cut, and its number written on it."""


def pictures(seen: dict[str, Any]) -> list[Picture]:
    """What was released beside what is true, then outliers by day, by group or by how many neighbours rows have."""
    figures, released, unit = seen.get("figures", {}), seen.get("released"), str(seen.get("unit", "row"))
    if "daily" in figures:
        return [_by_day(figures["daily"], released)]
    if "groups" in figures:
        return [_by_group(figures["groups"], released)]
    drawn = []
    true = next((seen["facts"][name] for name in TRUE_COUNTS if name in seen["facts"]), None)
    if released is not None and "count" in released and true is not None:
        drawn.append(_answer(released, int(true), unit))
    if "degrees" in figures:
        drawn.append(_by_neighbours(list(figures["degrees"]["rows"]), int(figures["degrees"]["threshold"]), unit))
    return drawn


def _answer(released: Mapping[str, Any], true: int, unit: str) -> Picture:
    """One line of rows: the true count, the released one, and its interval."""
    count, ends = int(released["count"]), released.get("interval")

    def paint(axes: Any) -> None:
        if ends is not None:
            axes.plot(ends, [0, 0], color=BLUE, linewidth=6, alpha=0.25, solid_capstyle="butt")
        axes.plot([count], [0], marker="o", markersize=9, color=BLUE, linestyle="none")
        axes.plot([true], [0], marker="|", markersize=24, markeredgewidth=2.5, color=ORANGE, linestyle="none")
        axes.annotate(f"released: {count:,}", (count, 0), (0, 14), textcoords="offset points", ha="center", color=BLUE)
        axes.annotate(f"true: {true:,}", (true, 0), (0, -24), textcoords="offset points", ha="center", color=ORANGE)
        axes.set_yticks([])
        axes.set_ylim(-1, 1)
        axes.margins(x=0.15)
        axes.spines["left"].set_visible(False)

    band = "" if ends is None else f" The band is the released interval, {ends[0]:,} to {ends[1]:,}."
    return draw(
        paint,
        x=worded("outliers (rows)", unit),
        y="",
        caption=f"The released count (blue) beside the true one (orange), which never leaves.{band}",
        alt=f"A line with the released count {count} and the true count {true} marked.",
        size=(7.0, 1.7),
    )


def _by_neighbours(heights: list[int], threshold: int, unit: str) -> Picture:
    """Rows by number of neighbours. Rows with very many neighbours are most of a table: they are said, not drawn."""
    near, many = [int(height) for height in heights[:-1]], int(heights[-1])
    outlying = near[:threshold]
    tallest = max(outlying, default=0)
    ceiling = max(1.25 * tallest, 4.0) if max(near, default=0) > TOWERS * max(tallest, 1) else None

    def paint(axes: Any) -> None:
        colours = [ORANGE if place < threshold else BLUE for place in range(len(near))]
        axes.bar(range(len(near)), near, color=colours, width=0.9)
        axes.axvline(threshold - 0.5, color=ORANGE, linewidth=1)
        if ceiling is not None:
            axes.set_ylim(0, ceiling)
        for place, height in enumerate(near):
            cut = ceiling is not None and height > ceiling
            if len(near) <= MOST_NUMBERED and (cut or (place < threshold and height)):
                where = ceiling if cut else height
                axes.annotate(
                    f"{height:,}{' ↑' if cut else ''}", (place, where), (0, 2), textcoords="offset points",
                    ha="center", fontsize=8, annotation_clip=False, color=ORANGE if place < threshold else BLUE,
                )  # fmt: skip
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.get_major_locator().set_params(integer=True)

    cut = " Bars with an arrow go on above the picture." if ceiling is not None else ""
    return draw(
        paint,
        x=worded("other rows within the radius", unit),
        y=worded("rows", unit),
        caption=worded(
            f"Rows by how many others lie within the radius. Fewer than {threshold} makes an outlier (orange): {sum(outlying):,} rows. "
            f"Not drawn: {many:,} rows with {len(near)} or more.{cut}",
            unit,
        ),
        alt=worded(
            f"Bar chart of rows by number of neighbours; the bars below {threshold} are the {sum(outlying)} outliers.",
            unit,
        ),
    )


def _by_group(data: dict[str, Any], released: Mapping[str, Any] | None) -> Picture:
    values, counts, error = list(data["values"]), list(data["counts"]), int(data["error"])
    said = [] if released is None else [int(group["count"]) for group in released.get("groups", [])]
    said = said if len(said) == len(values) else []

    def paint(axes: Any) -> None:
        places = range(len(values))
        axes.barh(places, counts, color=ORANGE, height=0.7)
        axes.errorbar(counts, places, xerr=error, fmt="none", ecolor=INK, elinewidth=1, capsize=3)
        if said:
            axes.plot(said, places, marker="D", markersize=5, color=BLUE, linestyle="none")
        axes.set_yticks(places, values)
        axes.invert_yaxis()
        axes.set_xlim(left=0)

    diamonds = " Blue: the released counts." if said else ""
    return draw(
        paint,
        x="outliers",
        y=str(data["by"]),
        caption=f"Outliers by {data['by']}. Whiskers: a released count is at least so uncertain, ±{error} rows, 19 times out of 20.{diamonds}",
        alt=f"Bar chart of outliers by {data['by']}, with the error of a released count on each bar.",
        size=(7.0, max(2.0, 0.8 + 0.3 * len(values))),
    )


def _by_day(data: dict[str, Any], released: Mapping[str, Any] | None) -> Picture:
    days, counts, errors = list(data["days"]), list(data["counts"]), list(data["errors"])
    said = [] if released is None else [int(day["count"]) for day in released.get("days", [])][: len(days)]

    def paint(axes: Any) -> None:
        places = range(len(days))
        low = [max(count - error, 0) for count, error in zip(counts, errors, strict=True)]
        high = [count + error for count, error in zip(counts, errors, strict=True)]
        axes.fill_between(places, low, high, color=BLUE, alpha=0.15, linewidth=0, step="mid", label="a told count")
        axes.step(places, counts, color=ORANGE, where="mid", label="outliers in the rows")
        if said:
            axes.plot(range(len(said)), said, color=BLUE, marker="o", markersize=2, linewidth=0.8, label="told")
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
