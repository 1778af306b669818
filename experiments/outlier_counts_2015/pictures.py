"""Figures 3 and 4 as one small picture."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from wallflower.report.figures import BLUE, GREEN, MUTED, ORANGE, PURPLE

HERE = Path(__file__).parent
CURVES = (
    ("global", "global as published, NOT PRIVATE", MUTED, ":"),
    ("reading B", "smooth, reading B, NOT PRIVATE", MUTED, "--"),
    ("theorem 2, capped", "smooth, Theorem 2, capped at GS", PURPLE, "-"),
    ("laplace", "Laplace on GS, ours", ORANGE, "-"),
    ("lomax", "Lomax, ours", BLUE, "-"),
    ("inverse", "inverse sensitivity, ours", GREEN, "-"),
)


def figures_3_and_4(epsilons, panels):
    """The noise of every mechanism by ε, one panel a data set."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, (title, means) in zip(figure.subplots(1, len(panels), sharey=True), panels, strict=True):
        for name, label, colour, style in CURVES:
            axes.plot(
                [float(epsilon) for epsilon in epsilons],
                [mean[name] for mean in means],
                color=colour,
                linestyle=style,
                marker="o",
                markersize=3,
                label=label,
            )
        axes.axhline(7, color=MUTED, linewidth=0.8)
        axes.annotate("7: the paper's text for ε ≥ 0.7", (0.1, 7.3), color=MUTED, fontsize=8)
        axes.set_yscale("log")
        axes.set_xlabel("ε")
        axes.set_title(title, fontsize=9)
    figure.axes[0].set_ylabel("standard deviation of the noise, rows")
    figure.axes[-1].legend(fontsize=7)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=72, format="png")
    Image.open(buffer).convert("RGB").quantize(48).save(HERE / "figure_3_4.png", optimize=True)
    return "![figure_3_4.png](figure_3_4.png)"
