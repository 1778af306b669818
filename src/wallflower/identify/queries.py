"""Is this value an anomaly in the table? Answers to public values, each wrong with a known chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from wallflower.engines.base import Rows
from wallflower.errors import UsageError
from wallflower.identify.answers import Answers, FadingAnswers, LookAheadAnswers
from wallflower.identify.counts import prepare
from wallflower.identify.grid import GridAnswers, grid_of
from wallflower.identify.influence import most_influenced
from wallflower.identify.margins import anomalous
from wallflower.identify.metric import Metric
from wallflower.identify.own_margins import OwnMargin
from wallflower.identify.parts import in_cells, of_asked, plan_of_asked, prepare_parts
from wallflower.identify.questions import Questions
from wallflower.identify.rehearsal import ModelTrial, staged
from wallflower.identify.values import Values, shown_values
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import Guarantee, PureDP, SensitivePrivacy
from wallflower.privacy.price import Price
from wallflower.privacy.trial import Stage
from wallflower.schema.declaration import Declaration, Model
from wallflower.schema.exact import shown
from wallflower.schema.fields import Epsilon, Text

METHODS = ("sensitive", "dp", "lookahead", "grid", "cheapest-dp")
DP = ("dp", "grid", "cheapest-dp")
BOUNDS = ("star", "paper")


@dataclass(frozen=True, kw_only=True)
class Anomalies:
    """Ask about each of `values` whether it is an anomaly: held by a row, with at most β rows within the radius of it.

    >>> Anomalies(values=({"age": 51, "salary": "900000"},), epsilon="0.5").values
    ({'age': '51', 'salary': '900000'},)
    """

    name: ClassVar[str] = "identify"

    values: Values = Values()
    """Public values, each a mapping of every column of the model; asking one twice costs twice."""
    epsilon: Epsilon = Epsilon()
    """Budget of one question; a request is charged by how many of its questions one row can influence."""
    model: Text = Text("default")
    """The declared model, [identify.NAME]."""
    method: str = "sensitive"
    """"sensitive" protects rows that are normal or nearly so; "dp" every row; "lookahead" is for a radius that holds no other value.
    "grid" is "dp" for many questions at once, from one noisy grid; "cheapest-dp" the cheaper of the two by public numbers."""
    bound: str | OwnMargin = "star"
    """What `sensitive` fades with: "star", "paper", or a margin of your own (`identify.own_margins`)."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"'method' is {', '.join(METHODS)}, got {self.method!r}.")
        if isinstance(self.bound, str) and self.bound not in BOUNDS:
            raise UsageError(f"'bound' is {' or '.join(BOUNDS)}, or a margin of your own, got {self.bound!r}.")
        if type(self.bound).__hash__ is None:
            raise UsageError(
                "a margin of your own is a frozen dataclass: this one can be changed after it was checked."
            )
        if not isinstance(self.bound, str | OwnMargin):
            raise UsageError("a margin of your own is a frozen dataclass with margin(copies, within, *, beta, k).")
        if self.method != "sensitive" and self.bound != "star":
            raise UsageError(f"a bound is for method 'sensitive'; '{self.method}' has none to choose.")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.values[0])

    def price(self, declaration: Declaration) -> Price:
        questions = self._questions(declaration)
        model, metric, asked = questions.model, questions.metric, questions.asked
        answering = self._answering(model, metric)
        answering.verify()
        influenced = most_influenced(metric, asked)
        possible = self._possible_grid(questions)
        grid = self._grid(possible, influenced)
        return Price(
            guarantee=self._guarantee(declaration, model, influenced, grid),
            mechanism=_grid_mechanism(grid)
            if grid
            else {**answering.mechanism, "questions_of_one_row": str(influenced)},
            settings={
                "model": model.name,
                "columns": ", ".join(metric.columns),
                "beta": str(model.beta),
                "radius": shown(model.radius),
                "k": str(model.k),
                "distance": model.distance,
                "scales": _each(metric, {name: declaration.column(name).scale for name in metric.columns}),
                "weights": _each(metric, metric.weights),
                "asked_value": "counted as one more row" if model.included else "counted only if a row holds it",
                "questions": str(len(asked)),
                "epsilon_of_a_question": shown(self.epsilon),
                "method": self._method_said(grid),
                **self._both_prices(questions, influenced, possible),
                "plan": str(plan_of_asked(declaration, metric)),
            },
            expected=answering.expected(),
            notes=(
                *self._notes(declaration, model, len(asked), influenced, grid),
                *answering.notes(metric.separating),
            ),
        )

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        first = replace(self, values=self.values[:1], method="dp" if self.method in DP else self.method)
        first.run(rows, entropy)
        questions = self._questions(rows.declaration)
        numbers = len(self.values) * len(questions.metric.columns) * rows.declaration.max_rows
        prepare(questions.metric, questions.metric.points(rows), comparisons=numbers)
        prepare_parts(rows, questions.metric, comparisons=numbers)
        if self.method in ("grid", "cheapest-dp"):
            self.run(rows, entropy)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any]:
        questions = self._questions(rows.declaration)
        grid = None
        if self.method in ("grid", "cheapest-dp"):
            influenced = 0 if self.method == "grid" else most_influenced(questions.metric, questions.asked)
            grid = self._grid(self._possible_grid(questions), influenced)
        if grid is not None:
            return questions.answered(grid.tell(in_cells(rows, questions.metric, grid.grid), entropy))
        answering = self._answering(questions.model, questions.metric)
        held, near = of_asked(rows, questions.metric, questions.asked, cap=answering.cap)
        return questions.answered(answering.tell(int(a), int(n), entropy) for a, n in zip(held, near, strict=True))

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        def one(found: Mapping[str, Any]) -> str:
            value = ", ".join(f"{name} {text}" for name, text in found["asked"].items())
            return f"{value}: {'an anomaly' if found['anomalous'] else 'no anomaly'}"

        return "; ".join(one(found) for found in answer["answers"])

    def trial(self) -> ModelTrial:
        """How it is rehearsed."""
        return ModelTrial(
            query=self, on=self._staged, asked=self._asked_numbers, epsilon=self.epsilon, model=self.model
        )

    def _asked_numbers(self, declaration: Declaration) -> list[dict[str, int]]:
        questions = self._questions(declaration)
        return [dict(zip(questions.metric.columns, map(int, one), strict=True)) for one in questions.asked]

    def _staged(self, rows: Rows) -> Stage:
        questions = self._questions(rows.declaration)
        model, metric, asked = questions.model, questions.metric, questions.asked
        answering = self._answering(model, metric)
        held, near = of_asked(rows, metric, asked, cap=max(answering.cap, model.beta + 2))
        texts = shown_values(asked, metric, rows.declaration)
        true = anomalous(held, near, beta=model.beta, included=model.included)
        return staged(texts, true, lambda entropy: self.run(rows, entropy))

    def inspect(self, rows: Rows) -> dict[str, Any]:
        from wallflower.identify.owner_view import view

        questions = self._questions(rows.declaration)
        metric, asked = questions.metric, questions.asked
        # A grid is wrong no more often than this says: that is how its budget is chosen.
        answering = self._answering(questions.model, metric)
        counted = of_asked(rows, metric, asked, cap=answering.cap)
        return view(rows, metric=metric, answering=answering, asked=asked, counted=counted)

    def _questions(self, declaration: Declaration) -> Questions:
        return Questions.read(self.values, self.model, declaration)

    def _possible_grid(self, questions: Questions) -> GridAnswers | None:
        """The grid that these questions could be read off; None where there is none, and refused where one is asked for."""
        if self.method not in DP:
            return None
        try:
            found = GridAnswers(questions=questions, grid=grid_of(questions), epsilon=self.epsilon)
            _ = found.budget
        except UsageError:
            if self.method == "grid":
                raise
            return None
        return found

    def _grid(self, possible: GridAnswers | None, influenced: int) -> GridAnswers | None:
        """The grid where one is asked for, or is the cheaper; None where every question has a coin of its own."""
        if self.method == "grid" or (
            self.method == "cheapest-dp" and possible is not None and possible.budget < influenced * self.epsilon
        ):
            return possible
        return None

    def _method_said(self, grid: GridAnswers | None) -> str:
        if self.method != "cheapest-dp":
            return self.method
        return f"{'grid' if grid else 'dp'} (the cheaper, by the questions and the declaration alone)"

    def _both_prices(self, questions: Questions, influenced: int, possible: GridAnswers | None) -> dict[str, str]:
        """What either way would cost, where both promise the same."""
        if self.method not in DP:
            return {}
        moves = 2 if questions.declaration.neighbours == "replace-one" else 1
        alone = f"question by question {shown(moves * influenced * self.epsilon)}"
        if possible is None:
            return {"charges": f"{alone}, and no grid for these questions"}
        return {"charges": f"{alone}, from one grid {shown(moves * possible.budget)}"}

    def _answering(self, model: Model, metric: Metric) -> Answers:
        if self.method == "lookahead":
            return LookAheadAnswers(model=model, epsilon=self.epsilon, alone=metric.alone)
        bound = "dp" if self.method in DP else self.bound
        return FadingAnswers(model=model, epsilon=self.epsilon, bound=bound)

    def _guarantee(
        self, declaration: Declaration, model: Model, influenced: int, grid: GridAnswers | None
    ) -> Guarantee:
        if grid is not None:  # a row is in one cell at most; a replaced one leaves one and joins another
            distance = 2 if declaration.neighbours == "replace-one" else 1
            return grid.noise.guarantee(distance=distance, neighbours=declaration.neighbours)
        # A replacement is a removal and an addition, each of which may move every one of those answers by one step.
        moves = influenced * (2 if declaration.neighbours == "replace-one" else 1)
        if self.method in DP:
            return PureDP(epsilon=moves * self.epsilon, neighbours=declaration.neighbours)
        return SensitivePrivacy(
            epsilon=moves * self.epsilon, k=model.k, model=model.name, neighbours=declaration.neighbours
        )

    def _notes(
        self, declaration: Declaration, model: Model, questions: int, influenced: int, grid: GridAnswers | None
    ) -> tuple[str, ...]:
        near = f"at most {model.beta} rows lie within {shown(model.radius)} of it"
        if model.included:
            meaning = (
                f"yes says: with one more row of this value in the table, {near}, that row included. no says: more do."
            )
        else:
            meaning = (
                f"yes says: a row holds this value, and {near}, itself included. no says: no row holds it, or more do."
            )
        twice = (
            ", and twice that because a row may be replaced by another"
            if declaration.neighbours == "replace-one"
            else ""
        )
        if grid is not None:
            one_charge = (
                f"All {questions} answers are read off one noisy grid of {grid.grid.cells} cells, for one charge of {shown(grid.budget)}{twice}: "
                "each is wrong no more often than said here, and answers to questions near each other are wrong together more often than by chance."
            )
            return (f"{meaning} Each answer is wrong at most with the chance given here.", one_charge)
        charged = (
            f"One row can influence at most {influenced} of the {questions} answers, so the charge is "
            f"{influenced} × {shown(self.epsilon)}{twice}."
        )
        return (f"{meaning} Each answer is wrong with the chance given here.", charged)


def _grid_mechanism(grid: GridAnswers) -> dict[str, str]:
    return {
        "name": "noisy-grid",
        "scale": shown(grid.noise.scale),
        "cells": str(grid.grid.cells),
        "most_cells_of_a_question": str(grid.grid.most_read),
    }


def _each(metric: Metric, numbers: Mapping[str, Fraction | None]) -> str:
    return ", ".join(f"{name}: {shown(1 if (n := numbers[name]) is None else n)}" for name in metric.columns)
