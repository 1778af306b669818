"""Write the pictures of docs/guide.md: what each promise costs in accuracy, from public arithmetic alone; no row is read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from wallflower.count import Outliers
from wallflower.count.expectations import error_by_epsilon
from wallflower.detectors import Grubbs
from wallflower.explain import Context
from wallflower.identify import margins
from wallflower.mechanisms.layer import LayerResponse
from wallflower.mechanisms.logistic import FadingResponse
from wallflower.report.count import error_picture
from wallflower.report.figures import SERIES, Picture, draw
from wallflower.schema import loads

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SIZE = (7.0, 3.6)
EPSILONS = [Fraction(n, 20) for n in (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40)]

Line = tuple[str, Sequence[float], Sequence[float]]


def lines(drawn: Sequence[Line], *, x: str, y: str, caption: str, logs: str = "xy") -> Picture:
    """Labelled lines in the package's colours; `logs` names the axes that are logarithmic."""

    def paint(axes: Any) -> None:
        for (label, across, up), colour in zip(drawn, SERIES, strict=False):
            axes.plot(across, up, color=colour, label=label, linestyle="--" if label.startswith("dp") else "-")
        if "x" in logs:
            axes.set_xscale("log")
            axes.set_xticks(ticks := [0.05, 0.1, 0.2, 0.5, 1, 2], [str(tick) for tick in ticks])
            axes.minorticks_off()
        if "y" in logs:
            axes.set_yscale("log")
        axes.legend()

    return draw(paint, x=x, y=y, caption=caption, alt=caption, size=SIZE)


def count() -> Picture:
    query = Outliers(columns=("m", "n"), neighbours=3, radius=1, epsilon=1)
    return error_picture(error_by_epsilon(query, loads(declared([]))))


def identify() -> Picture:
    beta, k = 30, 3
    near = np.arange(1, 61)
    drawn: list[Line] = []
    for method, margin in (("sensitive", margins.star), ("dp", margins.every_row)):
        for epsilon in (Fraction(1, 4), Fraction(1)):
            steps = margin(np.ones_like(near), near, beta=beta, k=k)
            told = FadingResponse(epsilon=epsilon)
            wrong = [float(np.exp(told.log_flip(int(step)))) for step in steps]
            drawn.append((f"{method}, ε = {epsilon}", near.tolist(), wrong))
    return lines(
        drawn,
        x="rows within the radius, itself included (β = 30, k = 3)",
        y="chance of a wrong answer",
        caption="Error of identify about a value that one row holds: under sensitive privacy a value that is far from the threshold is "
        "answered well whichever side it is on; under differential privacy a lone anomaly is not.",
        logs="",
    )


def explain() -> Picture:
    def shortfall(columns: int, epsilon: Fraction) -> float:
        names = [f"c{place}" for place in range(columns)]
        query = Context(record="r", metric="m", by=tuple(names), detector=Grubbs(), epsilon=epsilon)
        text = str(query.price(loads(declared(names))).expected["shortfall"])
        return float(text.split("at most ")[1].split(maxsplit=1)[0])

    return lines(
        [
            (f"2^{6 * columns} contexts", floats(EPSILONS), [shortfall(columns, e) for e in EPSILONS])
            for columns in (1, 2, 3)
        ],
        x="ε of the explanation",
        y="rows below the best, 19 times out of 20",
        caption="Shortfall of explain: how many rows fewer than the largest valid context the released one has at most. "
        "It falls with ε and grows slowly with the number of contexts.",
    )


def stream() -> Picture:
    at = [Fraction(n, 4) for n in range(1, 25)]
    return lines(
        [
            (
                "the randomised bit is wrong (share)",
                floats(at),
                [float(LayerResponse(epsilon=e).likelihood()[0, 1]) for e in at],
            ),
            ("mean size of the noise (declared ranges)", floats(at), [float(1 / e) for e in at]),
        ],
        x="ε of the bit, or of the column",
        y="share, or ranges",
        caption="Local noise of a stream: the noise of a column is range/ε on average and stays wide; the bit becomes reliable from ε = 3 or so.",
        logs="y",
    )


def declared(names: Sequence[str]) -> str:
    """Columns of seven values each: the record's own is in every context, so six are free in each column."""
    head = (
        '[table]\nid = "public"\nkey = "id"\nunit = "row"\nneighbours = "add-remove"\nmax_rows = 1000\nledger = "l"\n'
        '[budget.output-constrained-dp]\nepsilon = "10"\n[columns.m]\nrole = "sensitive"\nlower = 0\nupper = 100\nstep = 1\n'
        'outside = "clip"\nmissing = "drop"\n'
    )
    column = '[columns.{}]\nrole = "quasi-identifier"\nvalues = {}\noutside = "drop"\nmissing = "drop"\n'
    return head + "".join(column.format(name, [f"v{n}" for n in range(7)]) for name in names)


def floats(numbers: Sequence[Fraction]) -> list[float]:
    return [float(number) for number in numbers]


PICTURES = {"count": count, "identify": identify, "explain": explain, "stream": stream}


def standalone(picture: Picture) -> str:
    """A file of its own needs a size, and says which version drew it: others may round differently."""
    import matplotlib as mpl

    size = f'width="{SIZE[0] * 96:.0f}" height="{SIZE[1] * 96:.0f}"'
    return f"<!-- matplotlib {mpl.__version__} -->\n{picture.svg.replace('<svg', f'<svg {size}', 1)}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, make in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(standalone(make()), encoding="utf-8")
