"""One visual language: the same colours, type and margins for every picture, as SVG that needs no network."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wallflower.errors import UsageError

# Okabe and Ito's palette: told apart with any kind of colour vision, and in grey when printed.
INK = "#1b1b1b"
MUTED = "#8a8f98"
GRID = "#e3e5e8"
BLUE = "#0072b2"
ORANGE = "#d55e00"
GREEN = "#009e73"
PURPLE = "#cc79a7"
SKY = "#56b4e9"
YELLOW = "#e69f00"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """An SVG drawing with the sentence under it and the sentence for those who cannot see it."""

    svg: str
    caption: str
    alt: str


def draw(
    paint: Callable[[Any], None], *, x: str, y: str, caption: str, alt: str, size: tuple[float, float] = (7.0, 3.6)
) -> Picture:
    """Let `paint` fill the axes of a new figure; labels carry units."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "pictures need matplotlib, which is not installed.", hint="Run: pip install 'wallflower[report]'"
        ) from None
    style = {
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": INK,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": GRID,
        "axes.axisbelow": True,
        "legend.frameon": False,
        "svg.fonttype": "none",
        "text.parse_math": False,  # a column called $\input{x}$ is a name, not a formula
        "text.usetex": False,  # and nothing for TeX to run, whatever this machine's matplotlibrc says
        "svg.hashsalt": "wallflower",  # the same picture twice is the same bytes
    }
    with mpl.rc_context(style), warnings.catch_warnings():
        # Letters are left to the reader's fonts (svg.fonttype): what matplotlib's own font lacks is measured, not drawn.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        paint(axes)
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":  # its own labels are formulas, and names must not be
                axis.set_major_formatter(lambda value, _: f"{value:,g}")
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(svg=_embeddable(buffer.getvalue(), alt), caption=caption, alt=alt)


def _embeddable(svg: str, alt: str) -> str:
    """The <svg> element alone, as wide as its place allows, with a name for screen readers."""
    from html import escape

    element = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", svg[svg.index("<svg") :])  # no XML holds these
    element = re.sub(r'(<svg[^>]*?) width="[^"]*pt"', r"\1", element, count=1)
    element = re.sub(r'(<svg[^>]*?) height="[^"]*pt"', r"\1", element, count=1)
    return element.replace("<svg", f'<svg role="img" aria-label="{escape(alt, quote=True)}"', 1)
