"""How many rows are outliers: fewer than `neighbours` other rows within `radius`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wallflower.count.degrees import capped_degrees, declared_ball
from wallflower.count.intervals import IntervalEpsilon, NarrowInterval, advised
from wallflower.count.noise import NOISES, Noise, NoiseName
from wallflower.count.parts.degrees import Degrees, DegreesOnExecutors, plan_of
from wallflower.count.parts.measure import measure_in_strips, measure_on_executors, prepare_parts
from wallflower.count.profiles import REPLACE_ONE, profile
from wallflower.engines.base import Rows
from wallflower.errors import UsageError
from wallflower.geometry.balls import Ball
from wallflower.mechanisms.profiles import Profile
from wallflower.noise.entropy import Entropy
from wallflower.privacy.accountants import total
from wallflower.privacy.price import Price
from wallflower.privacy.trial import NEAR, FieldTrial, Stage, multiples, near, wholes
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.schema.fields import Epsilon, Exact, Names, Whole


@dataclass(frozen=True, kw_only=True)
class Outliers:
    """Count the rows with fewer than `neighbours` others within `radius`.

    The distance is the root of the mean over the columns of ((x − y) / scale)², with each column's declared scale.

    >>> Outliers(columns=("salary",), neighbours=5, radius="1000", epsilon="0.5").epsilon
    Fraction(1, 2)
    """

    name: ClassVar[str] = "count"

    columns: Names = Names()
    neighbours: Whole = Whole(least=1)
    """A row with fewer others within the radius is an outlier."""
    radius: Exact = Exact(least=0)
    epsilon: Epsilon = Epsilon()
    noise: NoiseName = "auto"
    """lomax (calm tables get little noise), laplace (the same for all), inverse; auto chooses by public things."""
    interval_epsilon: IntervalEpsilon = IntervalEpsilon()
    """Further budget for an interval as narrow as the table allows; "auto" takes two fifths of `epsilon`. Lomax noise only."""

    def __post_init__(self) -> None:
        check_columns(self.columns)
        if self.noise not in NOISES:
            raise UsageError(f"'noise' must be one of {', '.join(NOISES)}, got '{self.noise}'.")

    def price(self, declaration: Declaration) -> Price:
        for name in self.columns:
            _ = declaration.column(name).numeric
        noise = self.noise_for(declaration)
        interval = self._interval(noise)
        return Price(
            guarantee=total([noise.guarantee, *([] if interval is None else [interval.guarantee])]),
            mechanism=noise.mechanism() | ({} if interval is None else interval.mechanism()),
            settings={
                **public_settings(declaration, self.columns, self.neighbours, self.radius),
                "noise": noise.name
                if self.noise == noise.name
                else f"{noise.name} (chosen from columns, neighbours, epsilon and max_rows)",
                "sensitivity": str(noise.cap),
                "plan": str(plan_of(declaration, self.columns, self.radius)),
                **(
                    {}
                    if interval is None
                    else {
                        "budget": f"{shown(noise.epsilon)} to count, {shown(interval.guarantee.epsilon)} for the interval"
                    }
                ),
            },
            expected=expected_error(noise),
            notes=(
                *(notes(noise) if interval is None else (HOW_MUCH, interval.advice())),
                *of_several_rows(noise.rows),
            ),
        )

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        prepare_parts(rows, self.columns, self.radius)
        self.run(rows, entropy)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any] | None:
        return self._answer(rows, self._measured(rows), entropy)

    def _measured(self, rows: Rows) -> tuple[int, Profile | None]:
        return measure(rows, self.columns, self.radius, self.noise_for(rows.declaration))

    def _answer(self, rows: Rows, measured: tuple[int, Profile | None], entropy: Entropy) -> dict[str, Any]:
        noise, most = self.noise_for(rows.declaration), largest_answer(rows)
        count, bounds = measured
        noisy = noise.draw(count, bounds, most, entropy)
        bought = self._interval(noise)
        reach = noise.margins()[1] if bought is None or bounds is None else bought.draw(bounds, entropy)
        interval = None if reach is None else [max(noisy - reach, 0), min(noisy + reach, most)]
        return {"count": noisy, "interval": interval}

    def trial(self) -> FieldTrial:
        """How it is rehearsed."""
        return FieldTrial(
            query=self,
            measured="outliers counted",
            useful=NEAR,
            on=self._staged,
            options=near_options(self.epsilon, self.radius, self.neighbours),
        )

    def _staged(self, rows: Rows) -> Stage:
        measured = self._measured(rows)
        truth = measured[0]
        return Stage(
            truth={"count": truth, "interval": None},
            number=truth,
            draw=lambda entropy: self._answer(rows, measured, entropy),
            score=lambda answer: counted_near(truth, answer),
        )

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        return f"count {counted(answer)}"

    def inspect(self, rows: Rows) -> dict[str, Any]:
        ball = declared_ball(rows.declaration, self.columns, self.radius)
        plan, cap = plan_of(rows.declaration, self.columns, self.radius), 3 * self.neighbours
        if plan.way == "tiles":
            histogram = Degrees(rows, self.columns, ball, cap, plan).histogram()
        elif plan.way == "distribute":
            histogram = DegreesOnExecutors(rows, self.columns, ball, cap, plan).histogram()
        else:
            degrees = capped_degrees(rows.fetch(numbers=self.columns).numbers, ball, cap)
            histogram = np.bincount(degrees, minlength=cap + 1)
        noise = self.noise_for(rows.declaration)
        count, bounds = measure(rows, self.columns, self.radius, noise)
        return {
            "facts": {"rows": int(histogram.sum()), "outliers": count, **noise.seen(bounds)},
            "figures": {
                "degrees": {
                    "rows": histogram,
                    "threshold": self.neighbours,
                }
            },
        }

    def noise_for(self, declaration: Declaration) -> Noise:
        """The noise this question gets, from public things alone."""
        return Noise(
            epsilon=self.epsilon,
            dimension=len(self.columns),
            k=self.neighbours,
            neighbours=declaration.neighbours,
            max_rows=declaration.max_rows,
            wanted=self.noise,
            rows=declaration.rows_per_person,
        )

    def _interval(self, noise: Noise) -> NarrowInterval | None:
        if self.interval_epsilon is None:
            return None
        return NarrowInterval(noise=noise, epsilon=self.interval_epsilon)


def near_options(epsilon: Fraction, radius: Fraction, neighbours: int) -> dict[str, list[Any]]:
    """Other choices of a question about neighbours that are worth a look."""
    return {"epsilon": multiples(epsilon), "radius": multiples(radius), "neighbours": wholes(neighbours)}


def counted_near(truth: int, answer: Mapping[str, Any] | None) -> tuple[float, bool]:
    """A count as a number of the picture, and whether it is useful."""
    count = 0 if answer is None else int(answer["count"])
    return count, near(truth, count)


def check_columns(columns: tuple[str, ...]) -> None:
    if not columns or len(set(columns)) != len(columns):
        raise UsageError("'columns' must name at least one column, each once.")


def counted(one: Mapping[str, Any]) -> str:
    """A count with its interval, in words."""
    ends = one["interval"]
    return str(one["count"]) if ends is None else f"{one['count']}, between {ends[0]} and {ends[1]}"


def largest_answer(rows: Rows) -> int:
    """The public end of the range of answers: the number of rows only where that number is public."""
    return rows.size if rows.declaration.neighbours == REPLACE_ONE else rows.declaration.max_rows


def measure(rows: Rows, columns: tuple[str, ...], radius: Fraction, noise: Noise) -> tuple[int, Profile | None]:
    """The true count, and the profile where the noise wants one. Private, both of them."""
    plan = plan_of(rows.declaration, columns, radius)
    # Under replace-one the number of rows is public, and no count moves by more.
    cap = min(noise.row_cap, max(rows.size, 1)) if noise.neighbours == REPLACE_ONE else noise.row_cap
    ball = declared_ball(rows.declaration, columns, radius)
    if plan.way == "tiles":
        return measure_in_strips(rows, columns, ball, noise, cap=cap, plan=plan)
    if plan.way == "distribute":
        return measure_on_executors(rows, columns, ball, noise, cap=cap, plan=plan)
    return measure_points(rows.fetch(numbers=columns).numbers, ball, noise, cap=cap)


def measure_points(points: NDArray[np.int64], ball: Ball, noise: Noise, *, cap: int) -> tuple[int, Profile | None]:
    degrees = capped_degrees(points, ball, noise.k + noise.horizon)
    bounds = None
    if noise.horizon:
        bounds = profile(
            points,
            degrees,
            ball,
            k=noise.k,
            horizon=noise.horizon,
            cap=cap,
            neighbours=noise.neighbours,
            most_rows=noise.max_rows,
        )
    return int((degrees < noise.k).sum()), bounds


def public_settings(
    declaration: Declaration, columns: tuple[str, ...], neighbours: int, radius: Fraction
) -> dict[str, str]:
    def scale(name: str) -> str:
        declared = declaration.columns[name].scale
        return f"{name}: {shown(declared)}" if declared is not None else f"{name}: 1 (none declared)"

    return {
        "columns": ", ".join(columns),
        "neighbours": str(neighbours),
        "radius": shown(radius),
        "scales": ", ".join(scale(name) for name in columns),
        "near": _nearness(declaration, columns, radius),
    }


def _nearness(declaration: Declaration, columns: tuple[str, ...], radius: Fraction) -> str:
    """The radius in the columns' own units: it bounds the root of the mean square, so that more columns let one of them differ more."""
    ball = declared_ball(declaration, columns, radius)

    def up_to(place: int, name: str) -> str:
        return f"{shown(ball.reach(place) * declaration.column(name).numeric.step)} in {name}"

    alone = ", ".join(up_to(place, name) for place, name in enumerate(columns))
    if len(columns) == 1:
        return f"rows that differ by up to {alone}"
    together = ", ".join(
        f"{shown(radius * (declaration.column(name).scale or Fraction(1)))} in {name}" for name in columns
    )
    return f"rows that differ by up to {alone}, in one of them alone; or by {together}, in all of them at once"


def expected_error(noise: Noise) -> dict[str, object]:
    best, worst = noise.margins()
    if best == worst:
        return {"error": f"within ±{best} rows, 19 times out of 20"}
    if worst is None:
        return {
            "error": f"within ±{best} rows on a calm table, 19 times out of 20; more on others, with no public bound"
        }
    return {"error": f"from ±{best} rows on a calm table to at most ±{worst} rows on any, 19 times out of 20"}


HOW_MUCH = "How much noise there is depends on the rows, so the answer cannot say it."


def of_several_rows(rows: int | None) -> tuple[str, ...]:
    if rows is None:
        return ()
    said = f"A person is up to {rows} rows here, and the noise hides all of them together."
    return (f"{said} It grows with the square of that number: one row a person (per_person) needs less.",)


def notes(noise: Noise) -> tuple[str, ...]:
    if noise.name == "laplace":
        return ()
    if noise.name == "lomax":
        wide = f"{HOW_MUCH} The interval is drawn for the worst table there could be and is wide."
        hint = advised(noise)
        return (wide,) if hint is None else (wide, hint)
    return (f"{HOW_MUCH} There is no interval.",)
