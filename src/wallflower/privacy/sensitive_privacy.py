"""Sensitive privacy on a declared anomaly model (Asif et al.): rows that are normal, or nearly, are protected."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.errors import DeclarationError
from wallflower.privacy.account import Account, Amounts, Kind, among_such
from wallflower.privacy.guarantee import CHANGES, Guarantee, at_least_zero, between_tables, factor, losses, worded
from wallflower.schema.exact import shown

SENSITIVE_ROWS = (
    "every row whose value is normal under the model, or would be after at most k rows were added or removed"
)


SENSITIVE = Kind(
    code="sensitive-privacy",
    budget="identify",
    words="sensitive-privacy",
    everyday_name="sensitive privacy",
    bounds=lambda times, unit, change: (
        f"All dp answers and those of this model cannot together {times} any one {unit} that this model protects "
        f"and that was never explained {among_such(unit, change)}."
    ),
    order=4,
)


@dataclass(frozen=True, kw_only=True)
class SensitivePrivacy(Guarantee):
    """(ε, k)-sensitive privacy on a fixed anomaly model (Asif et al.)."""

    family: ClassVar[str] = "sensitive-privacy"
    title: ClassVar[str] = "Sensitive privacy"
    not_promised: ClassVar[tuple[str, ...]] = (
        "A row that is far from normal is protected less, the further the less.",
        "The promise holds for the declared model; another model is another account.",
    )
    not_of_several_rows: ClassVar[str] = (
        "as the rows of a person leave one by one, a row that was protected ceases to be so, and the loss has no bound; "
        "one person with many rows could also make a value normal"
    )

    epsilon: Fraction
    k: int
    model: str
    """Name of the declared model; each model is an account of its own."""
    protects: str = SENSITIVE_ROWS

    def __post_init__(self) -> None:
        at_least_zero(self, epsilon=self.epsilon)
        between_tables(self)
        if self.k < 1:
            raise DeclarationError.of(self, "k", "at least 1", self.k)
        if not self.model:
            raise DeclarationError.of(self, "model", "the name of a declared model", self.model)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon), "k": str(self.k), "model": self.model}

    @property
    def sentence(self) -> str:
        such = " such row" if self.neighbours == "replace-one" else ""
        sentence = (
            f"No answer is more than {factor(self.epsilon)} times as likely as it would be if any one protected row were "
            f"{CHANGES[self.neighbours]}{such}. Protected is {self.protects} (model '{self.model}', k = {self.k}). "
            "Other rows are protected less, the further they are from normal, and some not at all."
        )
        return self._when(worded(sentence, self.unit))

    @property
    def account(self) -> Account:
        return Account(self.family, self.model)

    @property
    def amounts(self) -> Amounts:
        return losses(self.epsilon)
