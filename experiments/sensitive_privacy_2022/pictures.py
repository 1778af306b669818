"""Figures 1 to 5 as small pictures."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from experiments.sensitive_privacy_2022 import measures
from wallflower.identify.owner_view import effective_epsilon
from wallflower.report.figures import BLUE, GREEN, MUTED, ORANGE, PURPLE

HERE = Path(__file__).parent
EPSILONS = ("1", "0.1", "0.01")


def save(figure, name):
    """Few colours keep the files small."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=72, format="png")
    Image.open(buffer).convert("RGB").quantize(48).save(HERE / name, optimize=True)
    return f"![{name}]({name})"


def plane(axes):
    """Both columns in the same unit, so that a ball is round."""
    axes.set_aspect("equal")
    axes.set_xlabel("first column", fontsize=8)
    axes.set_ylabel("second column", fontsize=8)


def figure_1(counted):
    """Accuracy and protection on 20,000 Gaussian points, for sensitive privacy (k = 1) and differential privacy."""
    points = counted.data.points / 10**6
    figure = Figure(figsize=(10, 8), layout="constrained")
    axes = figure.subplots(2, 2)
    for column, (bound, title) in enumerate((("paper", "(0.25, 1)-sensitive"), ("dp", "0.25-differential"))):
        right = 1 - np.exp(measures.errors(counted, epsilon="1/4", bound=bound))
        fading = measures.mechanism(counted.data, epsilon="1/4", bound=bound)
        losses = effective_epsilon(fading, counted.held, counted.near)
        for row, (values, label, top) in enumerate(
            ((right, "accuracy", 1), (losses, "effective ε = ln A", losses.max()))
        ):
            order = np.argsort(values)
            shown = axes[row, column].scatter(
                *points[order].T, c=values[order], s=1.5, vmin=0.5 if row == 0 else 0, vmax=top
            )
            figure.colorbar(shown, ax=axes[row, column], label=label)
            axes[row, column].set_title(f"{title} privacy: {label}", fontsize=9)
            plane(axes[row, column])
    return save(figure, "figure_1.png")


def figure_2(counted):
    """e^(−ε) of every point for k = 1, 7 and 14."""
    points = counted.data.points / 10**6
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    for axes, k in zip(figure.subplots(1, 3), (1, 7, 14), strict=True):
        fading = measures.mechanism(counted.data, epsilon="1/4", bound="paper", k=k)
        level = np.exp(-effective_epsilon(fading, counted.held, counted.near))
        order = np.argsort(-level)
        shown = axes.scatter(*points[order].T, c=level[order], s=1.5, vmin=0, vmax=1)
        axes.set_title(f"k = {k}", fontsize=9)
        plane(axes)
    figure.colorbar(shown, ax=figure.axes, label="e^(−ε) of each record")
    return save(figure, "figure_2.png")


def figure_3(everything):
    """Box plots of the error over all true anomalies."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    for axes, counted in zip(figure.subplots(1, len(everything), sharey=True), everything, strict=True):
        boxes, names = [], []
        for epsilon in EPSILONS:
            for bound, name in (("paper", "SP"), ("dp", "DP")):
                boxes.append(np.exp(measures.errors(counted, epsilon=epsilon, bound=bound))[counted.truth])
                names.append(f"{name}\n{epsilon}")
        drawn = axes.boxplot(boxes, flierprops={"markersize": 2}, patch_artist=True)
        for place, box in enumerate(drawn["boxes"]):
            box.set_facecolor(BLUE if place % 2 == 0 else ORANGE)
        axes.set_xticks(range(1, len(names) + 1), names, fontsize=7)
        axes.set_xlabel("mechanism, ε", fontsize=8)
        axes.set_title(counted.data.name, fontsize=9)
    figure.axes[0].set_ylabel("error (k = 1)")
    return save(figure, "figure_3.png")


def figure_4(everything):
    """Errors at ε = 0.1 of all true anomalies in order, for k = 10, 20 and 30 % of β, and for differential privacy."""
    figure = Figure(figsize=(12, 3.4), layout="constrained")
    for axes, counted in zip(figure.subplots(1, len(everything), sharey=True), everything, strict=True):
        for share, colour in ((10, BLUE), (20, GREEN), (30, PURPLE)):
            k = -(-counted.data.beta * share // 100)
            error = np.exp(measures.errors(counted, epsilon="1/10", bound="paper", k=k))[counted.truth]
            axes.plot(np.sort(error)[::-1], color=colour, label=f"SP, k = {share} % of β")
        axes.plot(
            np.sort(np.exp(measures.errors(counted, epsilon="1/10", bound="dp"))[counted.truth])[::-1],
            color=ORANGE,
            label="DP",
        )
        axes.set_title(counted.data.name, fontsize=9)
        axes.set_xlabel("true anomalies, worst first", fontsize=8)
    figure.axes[0].set_ylabel("error (ε = 0.1)")
    figure.axes[0].legend(fontsize=7, frameon=False)
    return save(figure, "figure_4.png")


def figure_5(everything):
    """Mean error over all normal records at ε = 0.1."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots()
    for shift, (bound, name, colour) in enumerate((("paper", "SP, k = 1", BLUE), ("dp", "DP", ORANGE))):
        means = [measures.mean(measures.errors(c, epsilon="1/10", bound=bound)[~c.truth]) for c in everything]
        axes.bar(np.arange(len(means)) + 0.4 * shift, means, width=0.38, color=colour, label=name)
    axes.set_xticks(np.arange(len(everything)) + 0.2, [c.data.name for c in everything], fontsize=7)
    axes.set_yscale("log")  # the data sets are two orders of magnitude apart
    axes.set_ylabel("mean error, normal records (ε = 0.1)", fontsize=8)
    axes.grid(axis="y", color=MUTED, linewidth=0.3)
    axes.legend(frameon=False)
    return save(figure, "figure_5.png")
