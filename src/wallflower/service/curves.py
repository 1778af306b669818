"""The error of a count at each ε as a small drawing: points on a line, from the declaration and the question alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

from wallflower.count import Outliers
from wallflower.count.expectations import EPSILONS, error_of_auto
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown

WIDTH, HEIGHT, EDGE = 320, 110, 14


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What a template draws: no style, no script, only places."""

    points: str
    x: int
    y: int
    label: str
    words: str
    """For those who do not see it."""
    ends: tuple[str, str]


def error_curve(query: object, declaration: Declaration) -> Curve | None:
    """The curve around the asked ε; None for questions other than a count."""
    if not isinstance(query, Outliers):
        return None
    errors = error_of_auto(query, declaration)
    low, high = float(EPSILONS[0]), float(EPSILONS[-1])
    top, bottom = log10(max(*errors, 2)), log10(max(min(errors), 1))

    def across(epsilon: float) -> int:
        part = (log10(min(max(epsilon, low), high)) - log10(low)) / (log10(high) - log10(low))
        return round(EDGE + part * (WIDTH - 2 * EDGE))

    def down(error: float) -> int:
        part = (top - log10(max(error, 1))) / max(top - bottom, 0.01)
        return round(EDGE + part * (HEIGHT - 3 * EDGE))

    places = [(across(float(epsilon)), down(error)) for epsilon, error in zip(EPSILONS, errors, strict=True)]
    nearest = min(range(len(errors)), key=lambda i: abs(float(EPSILONS[i]) - float(query.epsilon)))
    return Curve(
        points=" ".join(f"{x},{y}" for x, y in places),
        x=places[nearest][0],
        y=places[nearest][1],
        label=f"±{errors[nearest]} at ε {shown(EPSILONS[nearest])}",
        words=f"The error falls from ±{errors[0]} at ε {shown(EPSILONS[0])} to ±{errors[-1]} at ε {shown(EPSILONS[-1])}.",
        ends=(f"ε {shown(EPSILONS[0])}", f"ε {shown(EPSILONS[-1])}"),
    )
