"""How many outliers there are at the end of every day, in a table to which rows are only added. The proof is in `daily.md`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wallflower.count.degrees import capped_degrees, declared_ball
from wallflower.count.noise import MISS
from wallflower.count.profiles import REPLACE_ONE
from wallflower.count.queries import check_columns, counted, public_settings
from wallflower.count.sensitivity import packing, stream_sensitivity
from wallflower.count.tree import LONGEST, Tree, reach_of_sum
from wallflower.engines.base import Rows
from wallflower.engines.plan import plan_fetch
from wallflower.errors import DeclarationError, UsageError
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import Entropy
from wallflower.privacy.price import Price
from wallflower.privacy.trial import NEAR, FieldTrial, Stage, multiples, near, wholes
from wallflower.schema.canonical import MOMENT
from wallflower.schema.declaration import Declaration
from wallflower.schema.domains import EPOCH, Dates
from wallflower.schema.exact import shown
from wallflower.schema.fields import Day, Epsilon, Exact, Names, Text, Whole

Ints = NDArray[np.int64]

ONE_CHARGE = (
    "One charge covers every day of the series, those that are still to come included: asking again on a later day goes on and costs nothing more, "
    "and days that were told once are told the same."
)
LATE = (
    "A row counts from the day that '{column}' names. One that arrives after its day was told is seen only by sums that close after it arrived; "
    "days told before stay as they are."
)
LEAVING = (
    "a row that leaves, or changes, can move the count of every later day, so that the loss would grow with the number of days; "
    "and a window, such as the last 30 days, lets rows leave"
)


@dataclass(frozen=True, kw_only=True)
class DailyOutliers:
    """Count the outliers at the end of every day from `start`, for `horizon` days, under one charge.

    >>> query = DailyOutliers(
    ...     measures=("salary",), daily="added", start="2026-01-01", horizon=365, neighbours=5, radius="1000", epsilon="1"
    ... )
    >>> query.end.isoformat(), query.tree.arity
    ('2026-12-31', 20)
    """

    name: ClassVar[str] = "count"

    measures: Names = Names()
    """The columns of the distance."""
    daily: Text = Text()
    """The column of dates that says from which day on a row counts."""
    start: Day = Day()
    """The first day; rows of earlier days count from then on."""
    horizon: Whole = Whole(least=1, most=LONGEST)
    """How many days the series has at most."""
    neighbours: Whole = Whole(least=1)
    """A row with fewer others within the radius is an outlier."""
    radius: Exact = Exact(least=0)
    epsilon: Epsilon = Epsilon()
    """Budget of the whole series."""
    through: date | None = field(default=None, metadata=MOMENT)
    """The last day to be told now; None: yesterday, in UTC. No part of the question: a later day goes on with the same series."""

    def __post_init__(self) -> None:
        check_columns(self.measures)
        if self.start > date.max - timedelta(days=LONGEST):
            raise UsageError(f"'start' must be before {date.max - timedelta(days=LONGEST)}, got {self.start}.")
        if self.through is not None:
            object.__setattr__(self, "through", Day.of(self.through, "through"))

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.measures, *(() if self.daily in self.measures else (self.daily,)))

    @property
    def end(self) -> date:
        """The last day of the horizon."""
        return self.start + timedelta(days=self.horizon - 1)

    @property
    def tree(self) -> Tree:
        return Tree.best(self.horizon)

    def noise(self, neighbours: str) -> DiscreteLaplace:
        """The noise of every sum: one row moves the sums of one level by the stream's sensitivity, and there are `levels`."""
        return DiscreteLaplace(scale=self._distance(neighbours) / self.epsilon)

    def _distance(self, neighbours: str) -> int:
        moves = 2 if neighbours == REPLACE_ONE else 1
        return moves * self.tree.levels * stream_sensitivity(len(self.measures), self.neighbours)

    def price(self, declaration: Declaration) -> Price:
        for name in self.measures:
            _ = declaration.column(name).numeric
        self._refuse(declaration)
        neighbours, tree = declaration.neighbours, self.tree
        noise = self.noise(neighbours)
        best, worst = (self._reach(terms, noise) for terms in _extremes(tree))
        rms = _root(2 * noise.scale**2 * tree.mean_terms)
        alone = packing(len(self.measures)) * self.neighbours + (neighbours == REPLACE_ONE)
        separate = _root(2 * (alone * self.horizon / self.epsilon) ** 2)
        return Price(
            guarantee=noise.guarantee(distance=self._distance(neighbours), neighbours=neighbours),
            mechanism={
                "name": "tree-of-discrete-laplace",
                "scale": shown(noise.scale),
                "arity": str(tree.arity),
                "levels": str(tree.levels),
            },
            settings={
                **public_settings(declaration, self.measures, self.neighbours, self.radius),
                "plan": str(plan_fetch(declaration, len(self.columns))),
                "daily": f"by {self.daily}, from {self.start} to {self.end}: {self.horizon} days",
                "sensitivity": f"{stream_sensitivity(len(self.measures), self.neighbours)} for all days of one level, {tree.levels} levels",
            },
            expected={
                "error": f"from ±{best} rows on the best day to ±{worst} rows on the worst, each 19 times out of 20",
                "error_over_all_days": f"root of the mean square {rms} rows; {self.horizon} separate counts at the same price would have {separate}",
            },
            notes=(ONE_CHARGE, LATE.format(column=self.daily)),
        )

    def _refuse(self, declaration: Declaration) -> None:
        domain = declaration.column(self.daily).domain
        if not isinstance(domain, Dates):
            raise DeclarationError(
                f"column '{self.daily}' does not hold dates, and a daily count needs the day of each row.",
                hint=f'Declare [columns.{self.daily}] with lower = "{self.start}" and upper as dates.',
            )
        if not declaration.grows:
            raise DeclarationError(
                f"table '{declaration.id}' does not say that it only grows: {LEAVING}.",
                hint="Write grows = true in [table] if rows are only added, never changed or removed. Otherwise ask for single counts.",
            )
        if not (domain.lower <= self.start and self.end <= domain.upper):
            raise UsageError(
                f"the series runs from {self.start} to {self.end}, and '{self.daily}' is declared from {domain.lower} to {domain.upper}.",
                hint="Choose a start and a horizon within the declared days: a date beyond them would count on the wrong day.",
            )

    def until(self, today: date) -> Self:
        """The same question with the last day it can be told now: no day that is not over, none past the horizon."""
        over = today - timedelta(days=1)
        if self.through is not None and self.through > over:
            raise UsageError(
                f"'through' is {self.through}, and that day is not over yet (in UTC): rows that are still to come would be missing for good.",
                hint=f"Ask for days until {over}, or leave it out.",
            )
        last = min(over if self.through is None else self.through, self.end)
        if last < self.start:
            raise UsageError(
                f"the series begins on {self.start}, and no day of it is over by {last}.", hint="Ask again later."
            )
        return replace(self, through=last)

    @property
    def days(self) -> int:
        """How many days are to be told."""
        return ((self.end if self.through is None else self.through) - self.start).days + 1

    def has_all(self, kept: Sequence[int]) -> bool:
        """Whether these sums tell every day that is asked for."""
        return len(kept) >= self.days

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        replace(self, through=self.start).run(rows, entropy)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any]:
        return self.go_on((), rows, entropy)[1]

    def go_on(self, kept: Sequence[int], rows: Rows, entropy: Entropy) -> tuple[list[int], dict[str, Any]]:
        """The noisy sums that are kept with those of the days since, and every day's count so far.

        Both ends of a sum are counted now, from one reading of the rows: no true count of an earlier day is ever kept, and a row
        that came late is on both ends of every sum after its day.
        """
        sums = self._sums(kept, self._counter(rows), rows.declaration.neighbours, entropy)
        return sums, self._answer(sums, rows.declaration)

    def _sums(self, kept: Sequence[int], until: _Counter, neighbours: str, entropy: Entropy) -> list[int]:
        noise, tree = self.noise(neighbours), self.tree
        days = range(len(kept) + 1, self.days + 1)
        return [*kept, *(noise(until(day) - until(day - tree.length(day)), entropy) for day in days)]

    def _counter(self, rows: Rows) -> _Counter:
        names = self.columns
        fetched = rows.fetch(numbers=names).numbers
        since = fetched[:, names.index(self.daily)] - (self.start - EPOCH).days + 1
        ball = declared_ball(rows.declaration, self.measures, self.radius)
        return _Counter(points=fetched[:, : len(self.measures)], since=since, ball=ball, k=self.neighbours)

    def _answer(self, sums: Sequence[int], declaration: Declaration) -> dict[str, Any]:
        """Every day's count, from nothing but the kept sums: the same whenever it is told."""
        noise, most, told = self.noise(declaration.neighbours), declaration.max_rows, []
        for day, total in enumerate(self.tree.totals(sums), start=1):
            reach = self._reach(self.tree.terms(day), noise)
            count = min(max(total, 0), most)
            ends = [min(max(total - reach, 0), most), min(max(total + reach, 0), most)]
            told.append({"day": str(self.start + timedelta(days=day - 1)), "count": count, "interval": ends})
        return {"days": told}

    @staticmethod
    def _reach(terms: int, noise: DiscreteLaplace) -> int:
        if terms == 1:
            return noise.reach(miss=MISS)
        return math.ceil(noise.scale * Fraction(reach_of_sum(terms, MISS)))

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        days = answer["days"]
        return f"{len(days)} days; {days[-1]['day']}: {counted(days[-1])}"

    def trial(self) -> FieldTrial:
        """How it is rehearsed: by the count of the last day."""
        return FieldTrial(
            query=self,
            measured="count of the last day",
            useful=NEAR,
            on=self._staged,
            options={
                "epsilon": multiples(self.epsilon),
                "radius": multiples(self.radius),
                "neighbours": wholes(self.neighbours),
            },
        )

    def _staged(self, rows: Rows) -> Stage:
        until, declaration = self._counter(rows), rows.declaration
        days = [str(self.start + timedelta(days=day)) for day in range(self.days)]
        true = [until(day + 1) for day in range(self.days)]

        def score(answer: Mapping[str, Any] | None) -> tuple[float, bool]:
            count = 0 if answer is None else answer["days"][-1]["count"]
            return float(count), near(true[-1], count)

        return Stage(
            truth={
                "days": [
                    {"day": day, "count": count, "interval": [count, count]}
                    for day, count in zip(days, true, strict=True)
                ]
            },
            number=float(true[-1]),
            draw=lambda entropy: self._answer(self._sums((), until, declaration.neighbours, entropy), declaration),
            score=score,
        )

    def inspect(self, rows: Rows) -> dict[str, Any]:
        until, noise = self._counter(rows), self.noise(rows.declaration.neighbours)
        days = [str(self.start + timedelta(days=day)) for day in range(self.days)]
        counts = [until(day + 1) for day in range(self.days)]
        reaches = [self._reach(self.tree.terms(day + 1), noise) for day in range(self.days)]
        return {
            "facts": {"days": len(days), "outliers_on_the_last_day": counts[-1], "rows_on_the_last_day": until.rows},
            "tables": [
                {
                    "title": "Outliers by day, as the rows are now",
                    "columns": ["day", "outliers"],
                    "rows": [list(pair) for pair in zip(days, counts, strict=True)],
                }
            ],
            "figures": {"daily": {"days": days, "counts": counts, "errors": reaches}},
        }


class _Counter:
    """The true number of outliers among the rows until each day, as the rows are now. Private, and never kept."""

    def __init__(self, *, points: Ints, since: Ints, ball: Any, k: int) -> None:
        order = np.argsort(since, kind="stable")
        self._points, self._since = np.ascontiguousarray(points[order]), since[order]
        self._ball, self._k = ball, k
        self._known: dict[int, int] = {0: 0}  # before the first day nothing has been told: the first sum counts all
        self.rows = 0

    def __call__(self, day: int) -> int:
        if day not in self._known:
            self.rows = int(np.searchsorted(self._since, day, side="right"))
            degrees = capped_degrees(self._points[: self.rows], self._ball, self._k)
            self._known[day] = int((degrees < self._k).sum())
        return self._known[day]


def _extremes(tree: Tree) -> tuple[int, int]:
    every = [tree.terms(day) for day in range(1, tree.horizon + 1)]
    return min(every), max(every)


def _root(square: Fraction) -> int:
    """Rounded up, and exact: scales outgrow floats."""
    return math.isqrt(math.ceil(square) - 1) + 1
