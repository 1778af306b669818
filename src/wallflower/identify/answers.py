"""Two ways to tell an answer: fade the chance of a wrong one with the margin, or perturb the count (look-ahead)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError
from wallflower.identify import margins
from wallflower.identify.lookahead import LookAhead
from wallflower.identify.own_margins import LONGEST, OwnMargin, checked_table
from wallflower.identify.sentences import about_the_graph, chance, ladder
from wallflower.mechanisms.logistic import FadingResponse
from wallflower.noise.entropy import Entropy
from wallflower.schema.declaration import Model
from wallflower.schema.exact import shown

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Answers(Protocol):
    """How (copies, within) becomes a told answer."""

    @property
    def model(self) -> Model: ...

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def cap(self) -> int:
        """Counts beyond this change nothing."""
        ...

    @property
    def copies_matter(self) -> int:
        """Up to so many rows within the radius an answer about a value that is present depends on its copies."""
        ...

    @property
    def mechanism(self) -> dict[str, str]: ...

    def verify(self) -> None:
        """Refuse what would not keep the promise, from public things alone."""
        ...

    def tell(self, copies: int, within: int, entropy: Entropy, /) -> bool: ...

    def log_chances(self, copies: Ints, within: Ints, /) -> tuple[Floats, Floats]:
        """ln P(no) and ln P(yes), for prices, reports and experiments."""
        ...

    def expected(self) -> dict[str, object]:
        """The chance of a wrong answer by how many rows are near."""
        ...

    def notes(self, separating: tuple[str, ...], /) -> tuple[str, ...]: ...


@dataclass(frozen=True, kw_only=True)
class FadingAnswers:
    """Construction 1: flip the true answer with probability e^(−ε(margin−1))/(1 + e^ε)."""

    model: Model
    epsilon: Fraction
    bound: str | OwnMargin
    """"star", "paper", "dp", or a margin of the caller's own."""

    @property
    def most(self) -> int:
        """Where margins of normal values are cut off."""
        cap = margins.cap(self.epsilon)
        return cap if isinstance(self.bound, str) else min(cap, LONGEST)

    @property
    def cap(self) -> int:
        return self.model.beta + self.most

    @property
    def copies_matter(self) -> int:
        return self.model.beta if isinstance(self.bound, str) else self.cap

    @property
    def mechanism(self) -> dict[str, str]:
        bound = self.bound if isinstance(self.bound, str) else type(self.bound).__name__
        return {
            "name": "fading-response",
            "epsilon": shown(self.epsilon),
            "margin": "threshold" if self._margin is margins.threshold else bound,
            "longest_margin": str(self.most),
        }

    @property
    def _margin(self) -> margins.Margin:
        if isinstance(self.bound, OwnMargin):
            return checked_table(
                self.bound, beta=self.model.beta, k=self.model.k, most=self.most, included=self.model.included
            )
        if self.model.included and self.bound != "paper":
            return margins.threshold
        named: dict[str, margins.Margin] = {"star": margins.star, "paper": margins.paper, "dp": margins.every_row}
        return named[self.bound]

    def verify(self) -> None:
        _ = self._margin  # a margin of one's own is checked where its table is made
        if self.bound == "paper" and self.model.included:
            raise UsageError(
                "the paper's bound is for values that a row may hold or not, and this model counts the asked value as included.",
                hint='Leave the bound out: for such a model "star" is exact and protects every row.',
            )

    def margins(self, copies: Ints, within: Ints) -> Ints:
        copies, within = np.minimum(copies, self.cap), np.minimum(within, self.cap)
        plain = self._margin(copies, within, beta=self.model.beta, k=self.model.k)
        return margins.capped(plain, within, beta=self.model.beta, most=self.most)

    def true(self, copies: Ints, within: Ints) -> NDArray[np.bool_]:
        return margins.anomalous(copies, within, beta=self.model.beta, included=self.model.included)

    def tell(self, copies: int, within: int, entropy: Entropy) -> bool:
        pair = np.array([copies]), np.array([within])
        return FadingResponse(epsilon=self.epsilon)(bool(self.true(*pair)[0]), int(self.margins(*pair)[0]), entropy)

    def log_chances(self, copies: Ints, within: Ints) -> tuple[Floats, Floats]:
        wrong = FadingResponse(epsilon=self.epsilon).log_flip(0) - float(self.epsilon) * self.margins(copies, within)
        right = np.log1p(-np.exp(wrong))
        yes = self.true(copies, within)
        return np.where(yes, wrong, right), np.where(yes, right, wrong)

    def expected(self) -> dict[str, object]:
        near = ladder(self.model)
        if self.model.included:
            return {"wrong_by_rows_near": self._table(near, np.zeros_like(near))}
        return {
            "wrong_if_no_row_holds_it_by_rows_near": self._table(near, np.zeros_like(near)),
            "wrong_if_one_row_holds_it_by_rows_near": self._table(near[near > 0], np.ones_like(near[near > 0])),
        }

    def _table(self, near: Ints, held: Ints) -> dict[str, str]:
        flip = FadingResponse(epsilon=self.epsilon)
        return {
            str(n): chance(flip.log_flip(int(margin)))
            for n, margin in zip(near.tolist(), self.margins(held, near), strict=True)
        }

    def notes(self, separating: tuple[str, ...]) -> tuple[str, ...]:
        if self.bound == "dp":
            return ()
        if self.model.included and isinstance(self.bound, str):
            note = (
                "This model counts the asked value as included, so the answer depends on the number of rows near alone: it is "
                "in fact differentially private for every row. It is booked under the model, whose promise is weaker."
            )
            return (note,)
        return about_the_graph(self.model, separating)


@dataclass(frozen=True, kw_only=True)
class LookAheadAnswers:
    """The look-ahead mechanism, for a radius that holds no other value."""

    model: Model
    epsilon: Fraction
    alone: bool

    @property
    def _mechanism(self) -> LookAhead:
        return LookAhead(epsilon=self.epsilon, beta=self.model.beta, k=self.model.k)

    @property
    def cap(self) -> int:
        return 2**62  # noise is added to the count itself, so it is needed in full

    @property
    def copies_matter(self) -> int:
        return self.model.beta

    @property
    def mechanism(self) -> dict[str, str]:
        return {
            "name": "look-ahead",
            "scale": shown(1 / self.epsilon),
            "from_copies": str(max(self.model.beta - self.model.k, 0)),
        }

    def verify(self) -> None:
        if not self.alone:
            raise UsageError(
                "the look-ahead method is private only when no other value lies within the radius (radius 0, or below every step).",
                hint='Ask with method "sensitive", or declare a model with radius = 0.',
            )
        if self.model.included:
            raise UsageError(
                "the look-ahead method answers for values that a row may hold or not, and this model counts the asked value as included.",
                hint='Ask with method "sensitive".',
            )

    def tell(self, copies: int, within: int, entropy: Entropy) -> bool:
        return self._mechanism(copies, entropy)

    def log_chances(self, copies: Ints, within: Ints) -> tuple[Floats, Floats]:
        different, which = np.unique(copies, return_inverse=True)
        both = np.array([self._mechanism.chances(int(n)) for n in different]).reshape(-1, 2)
        with np.errstate(divide="ignore"):
            no, yes = np.log(both).T
        return no[which].reshape(np.shape(copies)), yes[which].reshape(np.shape(copies))

    def expected(self) -> dict[str, object]:
        table = {}
        for n in ladder(self.model).tolist():
            no, yes = self._mechanism.chances(n)
            wrong = no if 1 <= n <= self.model.beta else yes
            table[str(n)] = chance(math.log(wrong)) if wrong > 0 else "0"
        return {"wrong_by_rows_that_hold_it": table}

    def notes(self, separating: tuple[str, ...]) -> tuple[str, ...]:
        if self.model.k >= self.model.beta:
            return about_the_graph(self.model, separating)
        note = (
            f"Warning: about a value held by fewer than {self.model.beta - self.model.k} rows the answer is the plain truth; "
            "this model promises such rows nothing."
        )
        return (note,)
