"""Figure 3 as a picture, drawn from its table in RESULTS.md: it cannot show anything else.

`python -m experiments.streams_2017.figure3_drawn` draws it anew.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from wallflower.report.figures import MUTED, SERIES

HERE = Path(__file__).parent
FILE = "figure_3.png"
STYLES = {"paper, DBSCAN 0.8": "-", "paper, DBSCAN 0.3": "--", "private, decided": ":"}
CAPTION = f"Mean of the runs, the paper's noise; the paper draws (a) and (b) for its own pipeline.\n\n![{FILE}]({FILE})"
BEFORE = "\n| separation | core range"


def illustrated(text):
    """The page with the picture under the table it shows."""
    draw(text)
    if CAPTION in text:
        return text
    before, mark, after = text.partition(BEFORE)
    return f"{before}\n{CAPTION}\n{mark}{after}"


def rows(text):
    """Separation, ε, and the share of the outliers found and of all readings taken, of each way; those with the paper's noise."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if "% of outliers in" in line and line.startswith("|")
    ]
    for separation, epsilon, noise, _, *ways, _ in cells:
        if noise == "stated":
            shares = [tuple(float(share) for share in re.findall(r"([\d.]+)%", way)) for way in ways]
            yield int(separation), epsilon, dict(zip(STYLES, shares, strict=True))


def draw(text):
    found = list(rows(text))
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True)
    titles = ("(a) planted outliers found, %", "(b) size of the subset, % of all readings")
    for place, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        for colour, epsilon in zip(SERIES, dict.fromkeys(row[1] for row in found), strict=False):
            here = [row for row in found if row[1] == epsilon]
            for way, style in STYLES.items():
                axes.plot(
                    [row[0] for row in here],
                    [row[2][way][place] for row in here],
                    color=colour,
                    linestyle=style,
                    marker="o",
                    markersize=3,
                )
            axes.plot([], [], color=colour, label=f"ε = {epsilon}")
        for way, style in STYLES.items():
            axes.plot([], [], color=MUTED, linestyle=style, label=way)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("separation of the planted outliers", fontsize=8)
        axes.set_ylim(-3, 103)
        axes.grid(color=MUTED, linewidth=0.3)
    figure.legend(*panels[1].get_legend_handles_labels(), fontsize=7, loc="outside right upper")
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=72, format="png")
    Image.open(buffer).convert("RGB").quantize(48).save(HERE / FILE, optimize=True)  # few colours keep the file small


if __name__ == "__main__":
    page = HERE / "RESULTS.md"
    page.write_text(illustrated(page.read_text(encoding="utf-8")), encoding="utf-8")
