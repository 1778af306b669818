"""How questions about anomalies are rehearsed: how many of the answers are right, also under other numbers of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from wallflower.noise.entropy import Entropy
from wallflower.privacy.trial import Stage, multiples, wholes
from wallflower.schema.declaration import Declaration
from wallflower.schema.fields import Exact, Whole
from wallflower.schema.models import MOST_ROWS


@dataclass(frozen=True, kw_only=True)
class OfTheModel:
    """What a declaration takes for the numbers of a model, whoever varies them."""

    radius: Exact = Exact(0, least=0)
    beta: Whole = Whole(1, least=1, most=MOST_ROWS)
    k: Whole = Whole(1, least=1, most=MOST_ROWS)


@dataclass(frozen=True, kw_only=True)
class ModelTrial:
    """ε is the question's; radius, β and k are the declared model's, and are varied in a copy of the declaration."""

    query: Any
    on: Callable[[Any], Stage]
    asked: Callable[[Declaration], Sequence[Mapping[str, int]]]
    epsilon: Fraction
    model: str
    measured: str = "share of the answers that are right"
    useful: str = "every answer is right"
    is_random: bool = True

    def choices(self, declaration: Declaration) -> Mapping[str, Sequence[Any]]:
        model = declaration.models[self.model]
        return {
            "epsilon": multiples(self.epsilon),
            "radius": multiples(model.radius, ("1/2", "1", "2")),
            "beta": wholes(model.beta),
            "k": wholes(model.k),
        }

    def changed(self, name: str, value: Any, declaration: Declaration) -> tuple[Any, Declaration]:
        if name not in {field.name for field in fields(OfTheModel)}:
            return replace(self.query, **{name: value}), declaration
        model = declaration.models[self.model]
        read = getattr(OfTheModel(**{name: value}), name)
        models = {**declaration.models, self.model: replace(model, **{name: read})}
        return self.query, replace(declaration, models=models)

    def held(self, declaration: Declaration) -> Sequence[Mapping[str, int]]:
        """Every asked value once: nothing that no row holds is an anomaly."""
        return self.asked(declaration)


def staged(
    texts: Sequence[Mapping[str, str]], true: NDArray[Any], draw: Callable[[Entropy], Mapping[str, Any] | None]
) -> Stage:
    """The true answers beside private ones."""
    truth = [{"asked": dict(text), "anomalous": bool(answer)} for text, answer in zip(texts, true, strict=True)]

    def score(answer: Mapping[str, Any] | None) -> tuple[float, bool]:
        if answer is None:
            return 0.0, False
        pairs = zip(answer["answers"], truth, strict=True)
        right = sum(one["anomalous"] == known["anomalous"] for one, known in pairs)
        return right / len(truth), right == len(truth)

    return Stage(truth={"answers": truth}, number=1.0, draw=draw, score=score)
