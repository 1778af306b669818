"""How many outliers there are in each group: a histogram by the declared values of one column. The proof is in `groups.md`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wallflower.count.degrees import capped_degrees, declared_ball
from wallflower.count.intervals import IntervalEpsilon, NarrowInterval
from wallflower.count.noise import MISS, NOISES, Noise, NoiseName
from wallflower.count.profiles import REPLACE_ONE
from wallflower.count.queries import (
    check_columns,
    counted,
    largest_answer,
    measure_points,
    near_options,
    public_settings,
)
from wallflower.count.sensitivity import packing
from wallflower.engines.base import Rows
from wallflower.engines.plan import plan_fetch
from wallflower.errors import UsageError
from wallflower.geometry.balls import Ball
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import PureDP
from wallflower.privacy.price import Price
from wallflower.privacy.trial import NEAR, FieldTrial, Stage, near
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.schema.fields import Epsilon, Exact, Names, Text, Whole

Among = Literal["group", "table"]
AMONG: tuple[Among, ...] = ("group", "table")
ADD_REMOVE = "add-remove"

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class GroupedOutliers:
    """Count the outliers of every declared value of `by`, seen in the rows or not.

    >>> query = GroupedOutliers(measures=("salary",), by="ward", neighbours=5, radius="1000", epsilon="0.5")
    >>> query.among, query.epsilon
    ('group', Fraction(1, 2))
    """

    name: ClassVar[str] = "count"

    measures: Names = Names()
    """The columns of the distance."""
    by: Text = Text()
    """The column whose declared values are the groups: categories, or the bins of numbers."""
    neighbours: Whole = Whole(least=1)
    """A row with fewer others within the radius is an outlier."""
    radius: Exact = Exact(least=0)
    epsilon: Epsilon = Epsilon()
    """Budget of the whole histogram under add-remove; replace-one costs twice, because a row may change its group."""
    among: Among = "group"
    """Whose neighbours count: "group", the rows of the same group; "table", all rows."""
    noise: NoiseName = "auto"
    interval_epsilon: IntervalEpsilon = IntervalEpsilon()
    """Further budget for narrow intervals in every group; for lomax noise inside groups."""

    def __post_init__(self) -> None:
        check_columns(self.measures)
        if self.noise not in NOISES:
            raise UsageError(f"'noise' must be one of {', '.join(NOISES)}, got '{self.noise}'.")
        if self.among not in AMONG:
            raise UsageError(f"'among' must be one of {', '.join(AMONG)}, got '{self.among}'.")
        if self.among == "table" and (self.noise not in ("auto", "laplace") or self.interval_epsilon is not None):
            raise UsageError(
                "where all rows of the table are neighbours the groups share one sensitivity, and the noise is laplace.",
                hint="Leave the noise and the interval's epsilon out: the interval is free. Or count inside groups.",
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.measures, *(() if self.by in self.measures else (self.by,)))

    def price(self, declaration: Declaration) -> Price:
        for name in self.measures:
            _ = declaration.column(name).numeric
        values = self.values(declaration)
        scheme = self._scheme(declaration)
        moves = 2 if declaration.neighbours == REPLACE_ONE else 1
        return Price(
            guarantee=PureDP(epsilon=moves * scheme.epsilon, neighbours=declaration.neighbours),
            mechanism=scheme.mechanism(),
            settings={
                **public_settings(declaration, self.measures, self.neighbours, self.radius),
                "by": f"{self.by}: {len(values)} groups",
                "neighbours_among": "the rows of the same group" if self.among == "group" else "all rows of the table",
                "noise": scheme.noise_name,
                "plan": str(plan_fetch(declaration, len(self.columns))),
            },
            expected={
                "error": f"in any one group {scheme.error(1)}",
                "error_of_all_groups_together": f"in all {len(values)} groups at once {scheme.error(len(values))}",
            },
            notes=(self._charged(scheme.epsilon, moves), *scheme.notes()),
        )

    def _charged(self, epsilon: Fraction, moves: int) -> str:
        if moves == 1:
            return f"A row is in one group: all groups together cost {shown(epsilon)}."
        return f"A replaced row may leave one group and join another: all groups together cost 2 × {shown(epsilon)}."

    def values(self, declaration: Declaration) -> tuple[str, ...]:
        groups = declaration.column(self.by).groups
        return tuple(groups.text(code) for code in range(groups.size))

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        self.run(rows, entropy)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any] | None:
        scheme, most = self._scheme(rows.declaration), largest_answer(rows)
        told = []
        for value, group in zip(self.values(rows.declaration), self._groups(rows), strict=True):
            noisy, reach = scheme.draw(group, most, entropy)
            interval = None if reach is None else [max(noisy - reach, 0), min(noisy + reach, most)]
            told.append({"value": value, "count": noisy, "interval": interval})
        return {"groups": told}

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        return "; ".join(f"{one['value']}: {counted(one)}" for one in answer["groups"])

    def _groups(self, rows: Rows) -> Iterator[_Group]:
        fetched = rows.fetch(numbers=self.measures, codes=(self.by,))
        points, codes = fetched.numbers, fetched.codes[:, 0]
        order = np.argsort(codes, kind="stable")
        edges = np.searchsorted(codes[order], np.arange(len(self.values(rows.declaration)) + 1))
        ball = declared_ball(rows.declaration, self.measures, self.radius)
        outlying = None
        if self.among == "table":
            outlying = (capped_degrees(points, ball, self.neighbours) < self.neighbours)[order]
        for first, last in pairwise(edges.tolist()):
            yield _Group(
                points=points[order[first:last]],
                ball=ball,
                outliers=None if outlying is None else int(outlying[first:last].sum()),
            )

    def trial(self) -> FieldTrial:
        """How it is rehearsed."""
        return FieldTrial(
            query=self,
            measured="share of groups whose count is near the true one",
            useful=f"three groups of four {NEAR}",
            on=self._staged,
            options=near_options(self.epsilon, self.radius, self.neighbours),
        )

    def _staged(self, rows: Rows) -> Stage:
        values = self.values(rows.declaration)
        truth = [group.count(self.neighbours) for group in self._groups(rows)]

        def score(answer: Mapping[str, Any] | None) -> tuple[float, bool]:
            told = [] if answer is None else answer["groups"]
            right = sum(near(true, one["count"]) for true, one in zip(truth, told, strict=False)) / max(len(truth), 1)
            return right, right >= 3 / 4

        return Stage(
            truth={
                "groups": [
                    {"value": value, "count": count, "interval": None}
                    for value, count in zip(values, truth, strict=True)
                ]
            },
            number=1.0,
            draw=lambda entropy: self.run(rows, entropy),
            score=score,
        )

    def inspect(self, rows: Rows) -> dict[str, Any]:
        values = self.values(rows.declaration)
        counts = [group.count(self.neighbours) for group in self._groups(rows)]
        scheme = self._scheme(rows.declaration)
        return {
            "facts": {"outliers": sum(counts), "groups": len(values)},
            "tables": [
                {
                    "title": "Outliers by group",
                    "columns": [self.by, "outliers"],
                    "rows": [[value, count] for value, count in zip(values, counts, strict=True)],
                }
            ],
            "figures": {"groups": {"by": self.by, "values": values, "counts": counts, "error": scheme.reaches()[0]}},
        }

    def _scheme(self, declaration: Declaration) -> InsideGroups | OverTheTable:
        if self.among == "table":
            return OverTheTable(epsilon=self.epsilon, dimension=len(self.measures), k=self.neighbours)
        noise = Noise(
            epsilon=self.epsilon,
            dimension=len(self.measures),
            k=self.neighbours,
            # Groups have no public size, not even where the table has: a row that is replaced may change its group.
            neighbours=ADD_REMOVE,
            max_rows=declaration.max_rows,
            wanted=self.noise,
        )
        bought = self.interval_epsilon
        return InsideGroups(noise, None if bought is None else NarrowInterval(noise=noise, epsilon=bought))


@dataclass(frozen=True)
class _Group:
    """The rows of one group. Private."""

    points: Ints
    ball: Ball
    outliers: int | None
    """Its outliers where all rows of the table are neighbours; None where only its own are, and it must be counted."""

    def count(self, k: int) -> int:
        if self.outliers is not None:
            return self.outliers
        return int((capped_degrees(self.points, self.ball, k) < k).sum())


@dataclass(frozen=True)
class InsideGroups:
    """A count of its own in every group: one row touches one group, so that the groups share one price."""

    noise: Noise
    interval: NarrowInterval | None

    @property
    def epsilon(self) -> Fraction:
        return self.noise.epsilon + (Fraction(0) if self.interval is None else self.interval.epsilon)

    @property
    def noise_name(self) -> str:
        return self.noise.name

    def mechanism(self) -> dict[str, str]:
        return self.noise.mechanism() | ({} if self.interval is None else self.interval.mechanism())

    def reaches(self, groups: int = 1) -> tuple[int, int | None]:
        return self.noise.margins(miss=MISS / groups)

    def error(self, groups: int) -> str:
        best, worst = self.reaches(groups)
        if worst is None:
            return f"within ±{best} rows on calm groups, 19 times out of 20; more on others"
        if best == worst:
            return f"within ±{best} rows, 19 times out of 20"
        return f"from ±{best} rows on calm groups to at most ±{worst} rows, 19 times out of 20"

    def notes(self) -> tuple[str, ...]:
        return () if self.interval is None else (self.interval.advice(),)

    def draw(self, group: _Group, most: int, entropy: Entropy) -> tuple[int, int | None]:
        count, bounds = measure_points(group.points, group.ball, self.noise, cap=self.noise.row_cap)
        noisy = self.noise.draw(count, bounds, most, entropy)
        if self.interval is None or bounds is None:
            return noisy, self.noise.margins()[1]
        return noisy, self.interval.draw(bounds, entropy)


@dataclass(frozen=True)
class OverTheTable:
    """The table's outliers by group: one row moves all counts together by at most `sensitivity`, added up over groups."""

    epsilon: Fraction
    dimension: int
    k: int

    @property
    def sensitivity(self) -> int:
        return packing(self.dimension) * self.k

    @property
    def noise_name(self) -> str:
        return "laplace"

    @property
    def laplace(self) -> DiscreteLaplace:
        return DiscreteLaplace(scale=self.sensitivity / self.epsilon)

    def mechanism(self) -> dict[str, str]:
        return {"name": "discrete-laplace", "scale": shown(self.laplace.scale)}

    def reaches(self, groups: int = 1) -> tuple[int, int]:
        reach = self.laplace.reach(miss=MISS / groups)
        return reach, reach

    def error(self, groups: int) -> str:
        return f"within ±{self.reaches(groups)[0]} rows, 19 times out of 20"

    def notes(self) -> tuple[str, ...]:
        return ()

    def draw(self, group: _Group, most: int, entropy: Entropy) -> tuple[int, int]:
        return min(max(self.laplace(group.count(self.k), entropy), 0), most), self.reaches()[0]
