"""Several releases told as one page: what was asked, answered, paid and promised, what left and what stayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from wallflower.atomic_file import write_whole
from wallflower.report.figures import MUTED, SERIES, Picture, draw
from wallflower.report.pages import render

Lines = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One area at work."""

    area: str
    title: str
    setting: str
    """Whose rows these are, and what somebody would like to know."""
    sentence: str
    """The answer in one sentence, from nothing but what left."""
    promised: str
    """The promise in one sentence."""
    left: Lines
    """What was asked, answered, promised and paid, as label and text: all of it may leave."""
    stayed: Lines = ()
    """What only the owner sees."""
    public: tuple[Picture, ...] = ()
    """Pictures of public things and of answers."""
    pictures: tuple[Picture, ...] = ()
    """Pictures of rows: on real rows they stay."""
    papers: Lines = ()
    """Label and place, from the page's folder, of what was filed: certificates, owner's reports."""
    spent: Mapping[str, tuple[Fraction, Fraction]] | None = None
    """For each family of promises what was spent and its limit."""


def write_story(path: Path, scenes: Sequence[Scene], *, organisation: str, title: str, introduction: str) -> None:
    """One self-contained page that needs no network; its first sheet says it all."""
    page = render(
        "story.html",
        organisation=organisation,
        title=title,
        introduction=introduction,
        scenes=scenes,
        budget=budget_picture(scenes),
    )
    write_whole(path, page)


def budget_picture(scenes: Sequence[Scene]) -> Picture | None:
    """The share of each budget that is spent, one bar per table and family."""
    bars = [
        (f"{scene.area}: {family}", spent, limit)
        for scene in scenes
        for family, (spent, limit) in (scene.spent or {}).items()
        if limit
    ]
    if not bars:
        return None

    def paint(axes: Any) -> None:
        places = range(len(bars))
        axes.barh(places, [100] * len(bars), color="#eef0f2", height=0.6)
        axes.barh(places, [100 * float(spent / limit) for _, spent, limit in bars], color=SERIES[0], height=0.6)
        axes.set_yticks(places, [name for name, _, _ in bars])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.grid(visible=False, axis="y")
        for place, (_, spent, limit) in zip(places, bars, strict=True):
            colour = "white" if spent > limit * Fraction(4, 5) else MUTED  # readable on the bar as well as beside it
            axes.text(
                99, place, f"{float(spent):g} of {float(limit):g}", ha="right", va="center", color=colour, fontsize=9
            )

    said = "; ".join(f"{name} {float(spent):g} of {float(limit):g}" for name, spent, limit in bars)
    return draw(
        paint,
        x="spent (% of the limit)",
        y="",
        caption="What the answers on this page have cost, by table and family of promises. When a bar is full, nothing more is answered.",
        alt=f"Bars of spent budget: {said}.",
        size=(7.0, 0.8 + 0.34 * len(bars)),
    )
