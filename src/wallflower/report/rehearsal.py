"""A rehearsal as a page: private answers beside the true one, and the same at other choices, as a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wallflower.atomic_file import write_whole
from wallflower.report.figures import BLUE, GREEN, MUTED, ORANGE, Picture, draw
from wallflower.report.pages import render
from wallflower.session.rehearsal_result import COLUMNS, MARK, NOTHING, Line, Rehearsal, share, shown


def write_rehearsal(path: Path, seen: Rehearsal) -> None:
    write_whole(path, rehearsal_page(seen))


def rehearsal_page(seen: Rehearsal) -> str:
    """One self-contained page, marked as what it is."""
    return render(
        "rehearsal.html",
        mark=MARK,
        nothing=NOTHING,
        seen=seen,
        useful=share(seen.useful),
        answers=answers_picture(seen),
        columns=COLUMNS,
        lines=[line.cells() for line in seen.sweep],
        sweep=sweep_pictures(seen.sweep, measured=seen.measured),
    )


def answers_picture(seen: Rehearsal) -> Picture:
    """Every private answer, and the truth among them."""

    def paint(axes: Any) -> None:
        axes.hist(seen.numbers, bins=min(40, max(len(set(seen.numbers)), 5)), color=BLUE)
        if seen.number is not None:
            axes.axvline(seen.number, color=ORANGE, linewidth=2, label="the true answer on these rows")
            axes.legend()

    return draw(
        paint,
        x=seen.measured,
        y="private answers",
        caption=f"{MARK}: {len(seen.numbers)} private answers to the same question on {seen.rows}. Useful: {share(seen.useful)}.",
        alt=f"{len(seen.numbers)} private answers; the true one is {shown(seen.number)}; useful {share(seen.useful)}.",
    )


def sweep_pictures(lines: Sequence[Line], *, measured: str) -> list[Picture]:
    """One figure for each choice: where eight of ten answers fall, the truth, and how many are useful."""
    names = list(dict.fromkeys(line.parameter for line in lines))
    return [
        _swept(name, [line for line in lines if line.parameter == name and not line.refused], measured)
        for name in names
    ]


def _swept(name: str, lines: Sequence[Line], measured: str) -> Picture:
    def paint(axes: Any) -> None:
        places = range(len(lines))
        axes.vlines(
            places, [line.low or 0 for line in lines], [line.high or 0 for line in lines], color=BLUE, linewidth=6
        )
        axes.plot(places, [line.middle or 0 for line in lines], "o", color=MUTED, label="the middle answer")
        if any(line.truth is not None for line in lines):
            axes.plot(
                places,
                [line.truth for line in lines],
                "_",
                color=ORANGE,
                markersize=24,
                markeredgewidth=2.5,
                label="the true answer",
            )
        if all(
            (line.high or 0) <= 1 for line in lines
        ):  # shares: the whole scale, so that nearly all looks like nearly all
            axes.plot(places, [line.useful for line in lines], "--", color=GREEN, label="share of useful answers")
            axes.set_ylim(0, 1.25)
        else:
            axes.margins(y=0.3)
        axes.set_xticks(list(places), [f"{line.value}\nuseful {share(line.useful)}" for line in lines])
        axes.legend()

    told = "; ".join(f"{name} {line.value}: useful {share(line.useful)}" for line in lines)
    return draw(
        paint,
        x=f"{name} (everything else as asked)",
        y=measured if len(measured) < 40 else f"{measured[:38]}…",
        caption=f"{MARK}: eight of ten private answers at each {name}, and the true answer there.",
        alt=told or f"no value of {name} could be asked",
    )
