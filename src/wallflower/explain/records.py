"""Several records in one request: one question each, which share epsilon and add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from wallflower.engines.base import Rows
from wallflower.errors import UsageError
from wallflower.explain.queries import Context
from wallflower.explain.rehearsal import MEASURED, USEFUL, TogetherTrial, together
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import BUT_ASKED, OutputConstrainedDP, PureDP
from wallflower.privacy.price import Price
from wallflower.privacy.trial import Stage
from wallflower.schema.declaration import Declaration
from wallflower.schema.fields import Names

MOST = 100


@dataclass(frozen=True, kw_only=True)
class Records:
    """Ask `question` of each of `records`; its own `record` counts for nothing, and its epsilon is that of all of them together.

    >>> from wallflower.detectors import LOF
    >>> question = Context(record="", metric="salary", by=("job",), detector=LOF(), epsilon=1)
    >>> [str(one.epsilon) for one in Records(records=("8", "9"), question=question).each]
    ['1/2', '1/2']
    """

    name: ClassVar[str] = "explain"

    records: Names = Names()
    question: Context

    def __post_init__(self) -> None:
        if not isinstance(self.question, Context):
            raise UsageError(f"'question' must be an explain.Context, got {type(self.question).__name__}.")
        if not 2 <= len(self.records) <= MOST or len(set(self.records)) != len(self.records):
            raise UsageError(f"several records are from 2 to {MOST}, each once.")

    @property
    def each(self) -> tuple[Context, ...]:
        """The questions, with their parts of the budget."""
        shares, asked = len(self.records), self.question
        part, failure = asked.certificate_epsilon, asked.certificate_failure
        return tuple(
            replace(
                asked,
                record=record,
                epsilon=asked.epsilon / shares,
                certificate_epsilon=None if part is None else part / shares,
                certificate_failure=failure,
            )
            for record in self.records
        )

    @property
    def columns(self) -> tuple[str, ...]:
        return self.question.columns

    def price(self, declaration: Declaration) -> Price:
        prices = [one.price(declaration) for one in self.each]
        first = prices[0]
        total = self.question.epsilon  # each question spends its part exactly
        guarantee: OutputConstrainedDP | PureDP
        unit = first.guarantee.unit
        # Concentrated losses add up too, and their sum is less than that of one selection with all of epsilon.
        rho = sum((_rho(price.guarantee) for price in prices), Fraction(0))
        if self.question.guarantee == "full":
            guarantee = PureDP(epsilon=total, rho=rho, neighbours=declaration.neighbours, unit=unit, protects=BUT_ASKED)
        else:
            conditions = ", and ".join(price.guarantee.holds_when for price in prices)
            guarantee = OutputConstrainedDP(
                epsilon=total, rho=rho, neighbours=declaration.neighbours, unit=unit, holds_when=conditions
            )
        together = f"{len(self.records)} records share epsilon, and the promises of their answers add up. None of these records is protected."
        return Price(
            guarantee=guarantee,
            mechanism={**first.mechanism, "records": str(len(self.records))},
            settings={**first.settings, "record": ", ".join(self.records)},
            expected=first.expected,
            notes=(together, *first.notes),
        )

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        self.each[0].prepare(rows, entropy)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any] | None:
        found = {one.record: one.run(rows, entropy) for one in self.each}
        if not any(found.values()):
            return None
        return {"records": [{"record": record, "answer": answer} for record, answer in found.items()]}

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        def one(found: Mapping[str, Any]) -> str:
            return "no answer" if found["answer"] is None else Context.told(found["answer"])

        return "; ".join(f"{found['record']}: {one(found)}" for found in answer["records"])

    def trial(self) -> TogetherTrial:
        """How it is rehearsed."""
        options = dict(self.question.trial().options)
        return TogetherTrial(query=self, measured=MEASURED, useful=USEFUL, on=self._staged, options=options)

    def _staged(self, rows: Rows) -> Stage:
        stages = {one.record: one.staged(rows) for one in self.each}
        return together(stages, lambda entropy: self.run(rows, entropy))

    def inspect(self, rows: Rows) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for one in self.each:
            facts |= {f"{one.record}: {name}": fact for name, fact in one.inspect(rows)["facts"].items()}
        return {"facts": facts, "figures": {}}


def _rho(promise: Any) -> Fraction:
    """The concentrated loss of one record's answer: ε²/2 where no less is proved."""
    return Fraction(promise.epsilon**2 / 2 if promise.rho is None else promise.rho)
