"""Pictures for `identify`."""

from __future__ import annotations

from typing import Any

import numpy as np

from wallflower.report.figures import BLUE, ORANGE, Picture, draw


def pictures(seen: dict[str, Any]) -> list[Picture]:
    """Where answers are sure, and what each row pays for it."""
    data, epsilon = seen["figures"]["map"], float(seen["figures"]["epsilon"])
    first, second = data["x"]["name"], data["y"]["name"]
    return [
        draw(
            lambda axes: _scatter(axes, data, data["accuracy"], label="chance of the right answer", span=(0.5, 1.0)),
            x=first,
            y=second,
            caption="Chance of telling the right answer about the value of each row. Far from the rest it is near 1.",
            alt="Scatter plot of rows coloured by the chance of a right answer about each.",
        ),
        draw(
            lambda axes: _scatter(
                axes, data, np.exp(-np.asarray(data["effective_epsilon"])), label="e^(−effective ε)", span=(0.0, 1.0)
            ),
            x=first,
            y=second,
            caption="Protection of each row, as e^(−ε) of its own effective ε: high is well protected.",
            alt="Scatter plot of rows coloured by how well each is protected.",
        ),
        draw(
            lambda axes: _by_neighbours(axes, data, epsilon),
            x="rows within the radius",
            y="effective ε of the row",
            caption=f"What the answer about its own value costs a row. The line is ε = {epsilon:g}, the promise to protected rows.",
            alt="Scatter plot of effective epsilon against the number of rows within the radius.",
        ),
    ]


def _scatter(axes: Any, data: dict[str, Any], values: Any, *, label: str, span: tuple[float, float]) -> None:
    shown = axes.scatter(
        data["x"]["at"], data["y"]["at"], c=values, s=6, cmap="viridis", vmin=span[0], vmax=span[1], rasterized=True
    )
    axes.figure.colorbar(shown, ax=axes, label=label)
    if data["x"]["texts"]:
        axes.set_xticks(range(len(data["x"]["texts"])), data["x"]["texts"])
    if data["y"]["texts"]:
        axes.set_yticks(range(len(data["y"]["texts"])), data["y"]["texts"])


def _by_neighbours(axes: Any, data: dict[str, Any], epsilon: float) -> None:
    losses = np.asarray(data["effective_epsilon"], dtype=float)
    finite = np.isfinite(losses)
    axes.scatter(np.asarray(data["near"])[finite], losses[finite], s=6, color=BLUE, rasterized=True)
    axes.axhline(epsilon, color=ORANGE, linewidth=1)
