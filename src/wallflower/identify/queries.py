"""Is this value an anomaly in the table? Answers to public values, each wrong with a known chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from wallflower.engines.base import Rows
from wallflower.errors import UsageError, nearest_name
from wallflower.identify.answers import Answers, FadingAnswers, LookAheadAnswers
from wallflower.identify.counting import of_values, prepare
from wallflower.identify.influence import most_influenced
from wallflower.identify.margins import anomalous
from wallflower.identify.metric import Metric, metric_of
from wallflower.identify.own_margins import OwnMargin
from wallflower.identify.rehearsal import ModelTrial, staged
from wallflower.identify.values import Values, as_numbers, shown_values
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import Guarantee, PureDP, SensitivePrivacy
from wallflower.privacy.price import Price
from wallflower.privacy.trial import Stage
from wallflower.schema.declaration import Declaration, Model
from wallflower.schema.exact import shown
from wallflower.schema.fields import Epsilon

METHODS = ("sensitive", "dp", "lookahead")
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
    model: str = "default"
    """The declared model, [identify.NAME]."""
    method: str = "sensitive"
    """"sensitive" protects rows that are normal or nearly so; "dp" every row; "lookahead" is for a radius that holds no other value."""
    bound: str | OwnMargin = "star"
    """What `sensitive` fades with: "star", "paper", or a margin of your own (`identify.own_margins`)."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"'method' is {', '.join(METHODS)}, got {self.method!r}.")
        if isinstance(self.bound, str) and self.bound not in BOUNDS:
            raise UsageError(f"'bound' is {' or '.join(BOUNDS)}, or a margin of your own, got {self.bound!r}.")
        if not isinstance(self.bound, str | OwnMargin):
            raise UsageError("a margin of your own is a frozen dataclass with margin(copies, within, *, beta, k).")
        if type(self.bound).__hash__ is None:
            raise UsageError(
                "a margin of your own is a frozen dataclass: this one can be changed after it was checked."
            )
        if self.method != "sensitive" and self.bound != "star":
            raise UsageError(f"a bound is for method 'sensitive'; '{self.method}' has none to choose.")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.values[0])

    def price(self, declaration: Declaration) -> Price:
        model = self._model(declaration)
        metric = metric_of(declaration, model)
        asked = as_numbers(self.values, metric, declaration)
        answering = self._answering(model, metric)
        answering.verify()
        influenced = most_influenced(metric, asked)
        return Price(
            guarantee=self._guarantee(declaration, model, influenced),
            mechanism={**answering.mechanism, "questions_of_one_row": str(influenced)},
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
                "method": self.method,
            },
            expected=answering.expected(),
            notes=(*self._notes(declaration, model, len(asked), influenced), *answering.notes(metric.separating)),
        )

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        replace(self, values=self.values[:1]).run(rows, entropy)
        metric = metric_of(rows.declaration, self._model(rows.declaration))
        numbers = len(self.values) * len(metric.columns) * rows.declaration.max_rows
        prepare(metric, metric.points(rows), comparisons=numbers)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any]:
        model = self._model(rows.declaration)
        metric = metric_of(rows.declaration, model)
        asked = as_numbers(self.values, metric, rows.declaration)
        answering = self._answering(model, metric)
        held, near = of_values(metric, metric.points(rows), asked, cap=answering.cap)
        told = [answering.tell(int(a), int(n), entropy) for a, n in zip(held, near, strict=True)]
        return {
            "answers": [
                {"asked": text, "anomalous": answer}
                for text, answer in zip(shown_values(asked, metric, rows.declaration), told, strict=True)
            ]
        }

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
        metric = metric_of(declaration, self._model(declaration))
        asked = as_numbers(self.values, metric, declaration)
        return [dict(zip(metric.columns, map(int, one), strict=True)) for one in asked]

    def _staged(self, rows: Rows) -> Stage:
        model = self._model(rows.declaration)
        metric = metric_of(rows.declaration, model)
        asked = as_numbers(self.values, metric, rows.declaration)
        answering = self._answering(model, metric)
        held, near = of_values(metric, metric.points(rows), asked, cap=max(answering.cap, model.beta + 2))
        texts = shown_values(asked, metric, rows.declaration)
        true = anomalous(held, near, beta=model.beta, included=model.included)
        return staged(texts, true, lambda entropy: self.run(rows, entropy))

    def inspect(self, rows: Rows) -> dict[str, Any]:
        from wallflower.identify.owner_view import view

        model = self._model(rows.declaration)
        metric = metric_of(rows.declaration, model)
        asked = as_numbers(self.values, metric, rows.declaration)
        answering = self._answering(model, metric)
        counted = of_values(metric, metric.points(rows), asked, cap=answering.cap)
        return view(rows, metric=metric, answering=answering, asked=asked, counted=counted)

    def _model(self, declaration: Declaration) -> Model:
        if self.model in declaration.models:
            return declaration.models[self.model]
        raise UsageError(
            f"no anomaly model '{self.model}' is declared: what an anomaly is, and its budget, are the owner's to fix.",
            hint=f"Add [identify.{self.model}] to the declaration. {nearest_name(self.model, declaration.models)}",
        )

    def _answering(self, model: Model, metric: Metric) -> Answers:
        if self.method == "lookahead":
            return LookAheadAnswers(model=model, epsilon=self.epsilon, alone=metric.alone)
        bound = "dp" if self.method == "dp" else self.bound
        return FadingAnswers(model=model, epsilon=self.epsilon, bound=bound)

    def _guarantee(self, declaration: Declaration, model: Model, influenced: int) -> Guarantee:
        # A replacement is a removal and an addition, each of which may move every one of those answers by one step.
        moves = influenced * (2 if declaration.neighbours == "replace-one" else 1)
        if self.method == "dp":
            return PureDP(epsilon=moves * self.epsilon, neighbours=declaration.neighbours)
        return SensitivePrivacy(
            epsilon=moves * self.epsilon, k=model.k, model=model.name, neighbours=declaration.neighbours
        )

    def _notes(self, declaration: Declaration, model: Model, questions: int, influenced: int) -> tuple[str, ...]:
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
        charged = (
            f"One row can influence at most {influenced} of the {questions} answers, so the charge is "
            f"{influenced} × {shown(self.epsilon)}{twice}."
        )
        return (f"{meaning} Each answer is wrong with the chance given here.", charged)


def _each(metric: Metric, numbers: Mapping[str, Fraction | None]) -> str:
    return ", ".join(f"{name}: {shown(1 if (n := numbers[name]) is None else n)}" for name in metric.columns)
