"""Pictures of a stream: what was measured, what was received and presumed, what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.atomic_file import write_whole
from wallflower.report.figures import BLUE, GRID, MUTED, ORANGE, Picture, draw
from wallflower.report.pages import render
from wallflower.stream import facts
from wallflower.stream.prices import price
from wallflower.stream.simulated_fleet import SimulatedFleet

MOST_ROWS = 30
MOST_DRAWN = 4000
"""More dots than this say no more and make a heavy page."""


def pictures(
    names: list[str],
    *,
    measured: NDArray[np.float64],
    beyond: NDArray[np.bool_],
    received: NDArray[np.float64],
    presumed: NDArray[np.bool_],
    decided: NDArray[np.bool_],
) -> list[Picture]:
    """Four scatter plots over the first two columns, or over time when there is one."""
    here = "NOT PRIVATE: these places never leave the sensor."
    return [
        _scatter(names, measured, beyond, f"Readings as measured, with those beyond the core in orange. {here}"),
        _scatter(names, received, presumed, "Readings as received, with those presumed outliers in orange."),
        _scatter(names, received, decided, "The same readings, with those finally decided to be outliers in orange."),
        _scatter(names, measured, decided, f"The same decisions, drawn where the readings were measured. {here}"),
    ]


def fleet_pictures(fleet: SimulatedFleet) -> list[Picture]:
    """What a simulation measured and what was said of it. NOT PRIVATE where the readings are somebody's."""
    declared = fleet.declared
    if declared.slots is not None:
        return [calendar(declared.roster, **fleet.periods())]
    return pictures([column.name for column in declared.columns], **fleet.sample())


def calendar(
    roster: Sequence[str],
    *,
    words: Sequence[tuple[str, int, bool]],
    slots: int,
    loud: set[tuple[str, int]],
    known: bool,
    first: int,
) -> Picture:
    """One square per sensor and period: orange where an alarm sounded, ringed where the period really misbehaved."""
    rows = {name: place for place, name in enumerate(roster[:MOST_ROWS])}
    heard = {(rows[sensor], number // slots - first): False for sensor, number, _ in words if sensor in rows}
    for sensor, number, said in words:
        if said and sensor in rows:
            heard[rows[sensor], number // slots - first] = True
    truth = [(rows[sensor], period) for sensor, period in loud if sensor in rows]

    def paint(axes: Any) -> None:
        for alarm, colour in ((False, GRID), (True, ORANGE)):
            these = [place for place, said in heard.items() if said is alarm]
            axes.scatter([p for _, p in these], [s for s, _ in these], s=90, marker="s", color=colour, linewidths=0)
        axes.scatter(
            [p for _, p in truth],
            [s for s, _ in truth],
            s=90,
            marker="s",
            facecolors="none",
            edgecolors=BLUE,
            linewidths=1.6,
        )
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.margins(0.05)
        axes.grid(visible=False)
        axes.xaxis.get_major_locator().set_params(integer=True)

    told = " Ringed in blue: periods that really misbehaved. NOT PRIVATE: sensors never say which." if known else ""
    return draw(
        paint,
        x="period",
        y="",
        caption=f"What the analyst knows: a square for each sensor and period, orange where an alarm sounded.{told}",
        alt=f"Grid of {len(heard)} sensor-periods, {sum(heard.values())} of them with an alarm.",
        size=(7.0, 0.9 + 0.3 * len(rows)),
    )


def write_fleet_page(path: Path, fleet: SimulatedFleet, found: Mapping[str, Any]) -> list[Picture]:
    """One self-contained page, written whole or not at all: what a simulation `found`, and its pictures, which are given back."""
    declared, drawn = fleet.declared, fleet_pictures(fleet)
    told = {
        name: facts.said(name, value) for name, value in found.items() if name not in {"alarms", "promise", "expected"}
    }
    write_whole(path, render("stream.html", stream=declared.id, price=price(declared), facts=told, pictures=drawn))
    return drawn


def _scatter(names: list[str], values: NDArray[np.float64], marked: NDArray[np.bool_], caption: str) -> Picture:
    values, marked = values[:MOST_DRAWN], marked[:MOST_DRAWN]
    two = values.shape[1] > 1
    across = values[:, 0] if two else np.arange(len(values))
    upwards = values[:, 1] if two else values[:, 0]

    def paint(axes: Any) -> None:
        axes.scatter(across[~marked], upwards[~marked], s=4, color=BLUE if not marked.any() else MUTED, linewidths=0)
        axes.scatter(across[marked], upwards[marked], s=9, color=ORANGE, linewidths=0, zorder=3)

    return draw(
        paint,
        x=names[0] if two else "reading",
        y=names[1] if two else names[0],
        caption=caption,
        alt=f"Scatter plot of {len(values)} readings, {int(marked.sum())} of them marked. {caption}",
    )
