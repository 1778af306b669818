"""The paper's figures as small pictures, drawn from the tables of RESULTS.md: they cannot show anything else."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from experiments.pcor_2021.sections import rows_under, with_section
from wallflower.report.figures import MUTED, SERIES

HERE = Path(__file__).parent
PANELS = (
    ("Figure 1: searches, ε = 0.2", "Tables 2 and 3"),
    ("Figure 2: overlap, ε = 0.2", "Tables 4 and 5"),
    ("Figure 3: other detectors, ε = 0.2", "Tables 6 and 7"),
    ("Figure 4: bfs by ε, n = 50", "Tables 8 and 9"),
    ("Figure 5: bfs by samples, ε = 0.2", "Tables 10 and 11"),
)
MATCHES = "Tables 12 and 13"


def illustrated(text):
    """The page with its figures."""
    sections = (
        f"## Figures 1 to 5, drawn from the tables above\n\nShare of the answers in each tenth of the best utility; the paper's searches at the paper's cost. The last panel is ours.\n\n{utilities(text)}\n",
        f"## A figure of the two tables above\n\nOne colour a detector, the style says what is compared.\n\n{matches(text)}\n",
    )
    text = with_section(text, sections[0], before="Homicides")
    return with_section(text, sections[1], before="What the promise leaves open")


def utilities(text):
    figure = Figure(figsize=(11, 6), layout="constrained")
    panels = figure.subplots(2, 3)
    for axes, (title, heading) in zip(panels.flat, PANELS, strict=False):
        shown = [row for row in rows_under(text, heading) if len(row) == 9 and "its real cost" not in row[0]]
        if "Figure 4" in title:
            shown = [row for row in shown if row[0].startswith("bfs")]
        detectors = iter(("Grubbs", "Grubbs", "Histogram", "Histogram"))
        for (label, samples, epsilon, *_, counts), colour in zip(shown, (*SERIES, MUTED), strict=False):
            counted = np.array([int(count) for count in counts.split()])
            name = f"{next(detectors)} {label}" if "Figure 3" in title else label
            name = name.split(",")[0] + (f", ε = {epsilon}" if "Figure 4" in title else "")
            name += f", n = {samples}" if "Figure 5" in title else ""
            axes.plot(
                np.arange(10) / 10 + 0.05,
                100 * counted / counted.sum(),
                color=colour,
                marker="o",
                markersize=3,
                label=name,
            )
        axes.set(xlim=(0, 1), ylim=(-3, 103))
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("share of the best utility", fontsize=8)
        axes.legend(fontsize=7, loc="upper left")
    for axes in (figure.axes[0], figure.axes[3]):
        axes.set_ylabel("answers, %", fontsize=8)
    flipping(figure.axes[5], text)
    return saved(figure, "figures_1_to_5.png")


def flipping(axes, text):
    """Not in the paper: how many times the loss of permute-and-flip the exponential mechanism loses, for `exact`."""
    points = [row for row in rows_under(text, "Permute-and-flip") if row[0] == "exact" and len(row) == 6]
    epsilons = [float(row[1]) for row in points]
    for column, label, colour in ((4, "mean over the outliers", SERIES[0]), (5, "largest", SERIES[1])):
        axes.plot(epsilons, [float(row[column]) for row in points], color=colour, marker="o", markersize=3, label=label)
    axes.axhline(1, color=MUTED, linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks(epsilons, [row[1] for row in points])
    axes.minorticks_off()
    axes.set_title("Ours: exact, exponential / permute-and-flip", fontsize=9)
    axes.set_xlabel("ε", fontsize=8)
    axes.set_ylabel("expected rows below the best, quotient", fontsize=8)
    axes.legend(fontsize=7)


def matches(text):
    found = {}
    for data, detector, size, change, *shares in rows_under(text, MATCHES):
        numbers = [float(share.rstrip(" %")) for share in shares[:3]]
        found.setdefault(data, {}).setdefault(f"{detector}, {size}", []).append((int(change), *numbers))
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    for axes, (data, detectors) in zip(figure.subplots(1, 2, sharey=True), found.items(), strict=True):
        for (label, points), colour in zip(detectors.items(), SERIES, strict=False):
            changes, paper, equal, jaccard = zip(*points, strict=True)
            axes.plot(changes, equal, color=colour, marker="o", markersize=3, label=label)
            axes.plot(changes, jaccard, color=colour, linestyle=":")
            axes.plot(changes, paper, color=colour, linestyle="--", linewidth=0.8)
        axes.set_title(data, fontsize=9)
        axes.set_xlabel("rows removed", fontsize=8)
        axes.grid(color=MUTED, linewidth=0.3)
        for style, label in (("-", "all equal"), (":", "mean Jaccard"), ("--", "the paper")):
            axes.plot([], [], color=MUTED, linestyle=style, label=label)
        axes.legend(fontsize=7, loc="lower left", ncols=2, title="outliers × neighbours", title_fontsize=7)
    figure.axes[0].set_ylabel("valid contexts match, %", fontsize=8)
    return saved(figure, "figure_12_13.png")


def saved(figure, file):
    """Few colours keep the files small."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=72, format="png")
    Image.open(buffer).convert("RGB").quantize(48).save(HERE / file, optimize=True)
    return f"![{file}]({file})"
