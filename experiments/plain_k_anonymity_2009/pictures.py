"""Figures 8, 11 and 13 (a) with level matching beside the paper's methods, and who is published at which level, as small pictures."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from wallflower.report.figures import BLUE, GREEN, MUTED, ORANGE, PURPLE, SKY

HERE = Path(__file__).parent
CURVES = {
    "ExpC": (ORANGE, "-", "ExpC, the paper's"),
    "GNOF": (PURPLE, "-", "GNOF, the paper's baseline"),
    "GOF": (GREEN, "-", "GOF, the paper's baseline"),
    "hybrid": (SKY, "--", "hybrid, level strict, ours"),
    "matching": (BLUE, "-", "level matching, ours"),
    "removal": (MUTED, ":", "remove all outliers, NOT PRIVATE"),
}


def by_size(sizes: Sequence[int], outcomes: Mapping, measures: Mapping[str, str]) -> str:
    """One panel a measure (an attribute of `Outcome`), one curve a method."""
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    for axes, (measure, title) in zip(figure.subplots(1, len(measures)), measures.items(), strict=True):
        for method, (colour, style, label) in CURVES.items():
            known = [size for size in sizes if (size, method) in outcomes]
            values = [getattr(outcomes[size, method], measure) for size in known]
            axes.plot(known, values, color=colour, linestyle=style, marker="o", markersize=3, label=label)
        axes.set_xlabel("rows")
        axes.set_ylim(bottom=0)
        axes.set_title(title, fontsize=9)
    time, _, loss = figure.axes
    last = sizes[-1]
    slower = (outcomes[last, "GNOF"].seconds + outcomes[last, "GOF"].seconds) / 2
    time.plot(
        [last],
        [slower / 2],
        color=ORANGE,
        marker="x",
        linestyle="none",
        label="ExpC by the paper's sentence: half of these two",
    )
    loss.axhline(1, color=ORANGE, linewidth=0.8, linestyle=":")
    loss.annotate("1: the paper's text, ExpC", (sizes[0], 1.06), color=ORANGE, fontsize=7)
    time.legend(fontsize=6)
    return _saved(figure, "figure_8_11_13.png")


def outliers(kept: Mapping[str, Mapping[str, tuple[int, int, int]]]) -> str:
    """For each table and level: the share of outliers published, and of these pinned to one value."""
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    for axes, (table, levels) in zip(figure.subplots(1, len(kept), sharey=True), kept.items(), strict=True):
        for place, (published, pinned, everyone) in enumerate(levels.values()):
            axes.bar(place, 100 * published / max(everyone, 1), color=BLUE, label="published" if not place else None)
            axes.bar(
                place, 100 * pinned / max(everyone, 1), color=ORANGE, label="pinned to one value" if not place else None
            )
            axes.annotate(
                f"{published:,} of {everyone:,}, {pinned} pinned",
                (place, 3 + 100 * published / max(everyone, 1)),
                ha="center",
                fontsize=6,
            )
        axes.set_xticks(range(len(levels)), [name.replace(" (", "\n(") for name in levels], fontsize=6)
        axes.set_ylim(0, 115)
        axes.set_title(table, fontsize=9)
    figure.axes[0].set_ylabel("% of the outliers")
    figure.axes[0].legend(fontsize=7)
    return _saved(figure, "outliers_published.png")


def _saved(figure: Figure, name: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=80, format="png")
    Image.open(buffer).convert("RGB").quantize(48).save(HERE / name, optimize=True)
    return f"![{name}]({name})"
