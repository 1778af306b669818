"""In which subspaces are there many outliers? The h best of all of one size, and how many outliers each holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wallflower.count.degrees import SubspaceDegrees, declared_ball
from wallflower.count.noise import NOISES, Noise, NoiseName
from wallflower.count.parts.degrees import plan_of
from wallflower.count.parts.measure import count_outliers, prepare_parts
from wallflower.count.queries import (
    check_columns,
    expected_error,
    largest_answer,
    measure,
    near_options,
    of_several_rows,
    public_settings,
)
from wallflower.count.sensitivity import global_sensitivity
from wallflower.engines.base import Rows
from wallflower.errors import UsageError
from wallflower.mechanisms.top import TopH
from wallflower.noise.entropy import Entropy
from wallflower.privacy.accountants import total
from wallflower.privacy.price import Price
from wallflower.privacy.trial import FieldTrial, Stage
from wallflower.progress import report
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.schema.fields import Epsilon, Exact, MaybeEpsilon, Names, Whole

MOST_SUBSPACES = 100_000
"""More candidates than this are refused before any row is read."""


@dataclass(frozen=True, kw_only=True)
class Subspaces:
    """Find the `top` subspaces of `size` columns with the most outliers, and optionally count in each of them.

    >>> query = Subspaces(columns=("a", "b", "c"), size=2, top=1, neighbours=3, radius="1", epsilon="1")
    >>> query.candidates
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """

    name: ClassVar[str] = "subspaces"

    columns: Names = Names()
    size: Whole = Whole(least=1)
    """How many columns a subspace has."""
    top: Whole = Whole(least=1)
    """How many subspaces to find."""
    neighbours: Whole = Whole(least=1)
    """A row with fewer others within the radius is an outlier."""
    radius: Exact = Exact(least=0)
    epsilon: Epsilon = Epsilon()
    """Budget for finding the subspaces."""
    counts_epsilon: MaybeEpsilon = MaybeEpsilon()
    """Further budget for counting in all the subspaces found; without it no counts."""
    noise: NoiseName = "auto"

    def __post_init__(self) -> None:
        check_columns(self.columns)
        if not 1 <= self.size <= len(self.columns):
            raise UsageError(f"'size' must be between 1 and the {len(self.columns)} columns, got {self.size}.")
        many = math.comb(len(self.columns), self.size)
        if many > MOST_SUBSPACES:
            raise UsageError(
                f"there are {many} subspaces of {self.size} of these columns, more than {MOST_SUBSPACES}.",
                hint="Name fewer columns, or another size.",
            )
        if not 1 <= self.top <= many:
            raise UsageError(f"'top' must be between 1 and the {many} subspaces there are, got {self.top}.")
        if self.noise not in NOISES:
            raise UsageError(f"'noise' must be one of {', '.join(NOISES)}, got '{self.noise}'.")

    @property
    def candidates(self) -> list[tuple[str, ...]]:
        return list(combinations(self.columns, self.size))

    def price(self, declaration: Declaration) -> Price:
        for name in self.columns:
            _ = declaration.column(name).numeric
        choice, count = self._choice(declaration), self._count(declaration)
        distance = self._distance(declaration)
        found_promise = choice.guarantee(distance=distance, neighbours=declaration.neighbours)
        parts = [found_promise if declaration.rows_per_person is None else found_promise.about("person")]
        parts += [] if count is None else [count.guarantee] * self.top
        found, counted = parts[0].epsilon, sum((part.epsilon for part in parts[1:]), Fraction(0))
        settings = {
            **public_settings(declaration, self.columns, self.neighbours, self.radius),
            "size": str(self.size),
            "top": str(self.top),
            "candidates": str(len(self.candidates)),
            "sensitivity": str(distance),
            "plan": str(plan_of(declaration, self.columns, self.radius)),
        }
        mechanism = {"name": "top-h exponential", "exponent": shown(choice.exponent)}
        if count is not None:
            settings["budget"] = f"{shown(found)} to find, {shown(counted)} to count"
            mechanism |= {f"counts_{name}": value for name, value in count.mechanism().items()}
        return Price(
            guarantee=total(parts),
            mechanism=mechanism,
            settings=settings,
            expected=self._expected(choice, count),
            notes=(
                "The subspaces come in the order they were drawn, which says little about which has more.",
                *of_several_rows(declaration.rows_per_person),
            ),
        )

    def _expected(self, choice: TopH, count: Noise | None) -> dict[str, object]:
        """A wrong subspace is drawn with at most 1 chance in 20 when the right one leads by this many outliers."""
        lead = math.ceil(math.log(20 * len(self.candidates)) / choice.exponent)
        said: dict[str, object] = {
            "certainty": f"a subspace that leads all others by {lead} outliers is drawn first, 19 times out of 20"
        }
        if count is not None:
            said["counts"] = expected_error(count)["error"]
        return said

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        prepare_parts(rows, self.candidates[0], self.radius)
        self.run(rows, entropy)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any] | None:
        declaration, candidates = rows.declaration, self.candidates
        scores = self._outliers(rows)
        chosen = [candidates[index] for index in self._choice(declaration)(scores, entropy)]
        count = self._count(declaration)
        most = largest_answer(rows)
        answers = []
        for names in chosen:
            noisy = None
            if count is not None:
                noisy = count.draw(*measure(rows, names, self.radius, count), most, entropy)
            answers.append({"columns": list(names), "count": noisy})
        return {"subspaces": answers}

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        def one(found: Mapping[str, Any]) -> str:
            return ", ".join(found["columns"]) + ("" if found["count"] is None else f": count {found['count']}")

        return "; ".join(one(found) for found in answer["subspaces"])

    def trial(self) -> FieldTrial:
        """How it is rehearsed."""
        return FieldTrial(
            query=self,
            measured="outliers of the subspaces found, as a share of those of the best",
            useful="the subspaces found hold nine tenths of the outliers of the best ones",
            on=self._staged,
            options=near_options(self.epsilon, self.radius, self.neighbours),
        )

    def _staged(self, rows: Rows) -> Stage:
        scores = dict(zip(self.candidates, self._outliers(rows).tolist(), strict=True))
        best = sorted(scores, key=lambda names: -scores[names])[: self.top]
        most = sum(scores[names] for names in best)

        def score(answer: Mapping[str, Any] | None) -> tuple[float, bool]:
            told = [] if answer is None else answer["subspaces"]
            found = sum(scores[tuple(one["columns"])] for one in told)
            part = found / most if most else 1.0
            return part, part >= 9 / 10

        return Stage(
            truth={"subspaces": [{"columns": list(names), "count": scores[names]} for names in best]},
            number=1.0,
            draw=lambda entropy: self.run(rows, entropy),
            score=score,
        )

    def inspect(self, rows: Rows) -> dict[str, Any]:
        scores = self._outliers(rows)
        best = np.argsort(-scores, kind="stable")[: max(self.top, 20)]
        return {
            "facts": {"rows": self._rows(rows), "subspaces": len(scores)},
            "tables": [
                {
                    "title": "Subspaces with the most outliers",
                    "columns": ["columns", "outliers"],
                    "rows": [[", ".join(self.candidates[place]), int(scores[place])] for place in best],
                }
            ],
        }

    def _outliers(self, rows: Rows) -> NDArray[np.int64]:
        if plan_of(rows.declaration, self.columns, self.radius).way != "fetch":
            return self._outliers_in_parts(rows)
        return subspace_outliers(
            rows.fetch(numbers=self.columns).numbers,
            rows.declaration,
            self.columns,
            size=self.size,
            neighbours=self.neighbours,
            radius=self.radius,
        )

    def _outliers_in_parts(self, rows: Rows) -> NDArray[np.int64]:
        """One subspace after the other: each is cut across a column of its own, or fetched where its few columns fit."""
        found = []
        for names in self.candidates:
            found.append(count_outliers(rows, names, self.radius, self.neighbours))
            report("subspaces", len(found), len(self.candidates))
        return np.array(found, dtype=np.int64)

    def _rows(self, rows: Rows) -> int:
        """For the owner alone."""
        return sum(int(batch.times.sum()) for batch in rows.stream(self.columns[:1]))

    def _distance(self, declaration: Declaration) -> int:
        """How far all rows of one unit together can move the count of a subspace."""
        rows = declaration.rows_per_person or 1
        return rows * global_sensitivity(self.size, self.neighbours, declaration.neighbours)

    def _choice(self, declaration: Declaration) -> TopH:
        return TopH(h=self.top, exponent=self.epsilon / (2 * self.top * self._distance(declaration)))

    def _count(self, declaration: Declaration) -> Noise | None:
        if self.counts_epsilon is None:
            return None
        return Noise(
            epsilon=self.counts_epsilon / self.top,
            dimension=self.size,
            k=self.neighbours,
            neighbours=declaration.neighbours,
            max_rows=declaration.max_rows,
            wanted=self.noise,
            rows=declaration.rows_per_person,
        )


def subspace_outliers(
    points: NDArray[np.int64],
    declaration: Declaration,
    columns: Sequence[str],
    *,
    size: int,
    neighbours: int,
    radius: Fraction,
) -> NDArray[np.int64]:
    """The number of outliers in every subspace of `size` columns, in the order of `combinations`.

    The rows are read once, each count stops at `neighbours`, and up to three columns share the cells of each column.
    """
    subspaces = list(combinations(range(len(columns)), size))
    found = np.zeros(len(subspaces), dtype=np.int64)
    degrees = SubspaceDegrees(points)
    for place, chosen in enumerate(subspaces):
        ball = declared_ball(declaration, [columns[axis] for axis in chosen], radius)
        found[place] = (degrees(chosen, ball, neighbours) < neighbours).sum()
        report("subspaces", place + 1, len(subspaces))
    return found
