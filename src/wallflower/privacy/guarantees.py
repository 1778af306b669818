"""Promises as frozen values: what is promised, to whom, between which neighbours, and in a sentence for people.

These are data. Which account a promise is booked in, and how promises add up, is in `privacy.accounts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.errors import DeclarationError
from wallflower.schema.exact import shown

EVERY_ROW = "every row"
BUT_ASKED = "every row but the asked-for one"

_CHANGES = {
    "add-remove": "one row were added or removed",
    "replace-one": "one row were replaced by another",
}


def _change(neighbours: str) -> str:
    return _CHANGES.get(neighbours, neighbours)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What every promise says. Subclasses add their numbers and their sentence."""

    family: ClassVar[str]

    neighbours: str
    """"add-remove" or "replace-one": which tables count as differing by one `unit`."""
    unit: str = "row"
    protects: str = EVERY_ROW
    holds_when: str = "always"
    """The condition on the rows under which the promise holds; "always" when there is none."""

    @property
    def parameters(self) -> dict[str, str]:
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        raise NotImplementedError

    def to_json(self) -> dict[str, object]:
        return {
            "family": self.family,
            "parameters": self.parameters,
            "neighbours": self.neighbours,
            "unit": self.unit,
            "protects": self.protects,
            "holds_when": self.holds_when,
            "sentence": self.sentence,
        }


def _at_least_zero(owner: object, **numbers: Fraction) -> None:
    for name, value in numbers.items():
        if not isinstance(value, Fraction):
            raise DeclarationError.of(owner, name, "an exact Fraction", value)
        if value < 0:
            raise DeclarationError.of(owner, name, "at least 0", shown(value))


@dataclass(frozen=True, kw_only=True)
class PureDP(Guarantee):
    """ε-differential privacy.

    >>> PureDP(epsilon=Fraction(1, 2), neighbours="add-remove").parameters
    {'epsilon': '0.5'}
    """

    family: ClassVar[str] = "dp"
    epsilon: Fraction

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            f"Whatever anyone already knows, no answer is more than e^{shown(self.epsilon)} times as likely as it would be "
            f"if {_change(self.neighbours)}; this protects {self.protects}."
        )


@dataclass(frozen=True, kw_only=True)
class ApproxDP(Guarantee):
    """(ε, δ)-differential privacy."""

    family: ClassVar[str] = "dp"
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon, delta=self.delta)
        if self.delta >= 1:
            raise DeclarationError.of(self, "delta", "below 1", shown(self.delta))

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon), "delta": shown(self.delta)}

    @property
    def sentence(self) -> str:
        return (
            f"Up to a probability of {shown(self.delta)}, no answer is more than e^{shown(self.epsilon)} times as likely as "
            f"it would be if {_change(self.neighbours)}; this protects {self.protects}."
        )


@dataclass(frozen=True, kw_only=True)
class ZCDP(Guarantee):
    """ρ-zero-concentrated differential privacy; composes inside one query and is charged as a converted `ApproxDP`."""

    family: ClassVar[str] = "zcdp"
    rho: Fraction

    def __post_init__(self) -> None:
        _at_least_zero(self, rho=self.rho)

    @property
    def parameters(self) -> dict[str, str]:
        return {"rho": shown(self.rho)}

    @property
    def sentence(self) -> str:
        return (
            f"The answers have a concentrated privacy loss of rho = {shown(self.rho)} between tables where "
            f"{_change(self.neighbours)}; this protects {self.protects}."
        )


@dataclass(frozen=True, kw_only=True)
class OutputConstrainedDP(Guarantee):
    """ε-DP between neighbours whose set of possible outputs is the same (PCOR, SIGMOD 2021)."""

    family: ClassVar[str] = "output-constrained-dp"
    epsilon: Fraction
    protects: str = BUT_ASKED
    holds_when: str = "the change of one row leaves the set of valid contexts as it is"

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            f"When {self.holds_when}, no answer is more than e^{shown(self.epsilon)} times as likely as it would be if "
            f"{_change(self.neighbours)}; this protects {self.protects}. A row whose change makes an answer possible or "
            "impossible is not protected, and the answer itself shows that the asked-for row stands out there."
        )


@dataclass(frozen=True, kw_only=True)
class SensitivePrivacy(Guarantee):
    """(ε, k)-sensitive privacy on a fixed anomaly model (Asif et al.)."""

    family: ClassVar[str] = "sensitive-privacy"
    epsilon: Fraction
    k: int
    model: str
    """Name of the declared model; each model is an account of its own."""
    protects: str = "every row that is, or is within k rows of being, normal under the model"

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon)
        if self.k < 1:
            raise DeclarationError.of(self, "k", "at least 1", self.k)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon), "k": str(self.k), "model": self.model}

    @property
    def sentence(self) -> str:
        return (
            f"For {self.protects} ('{self.model}', k = {self.k}), no answer is more than e^{shown(self.epsilon)} times as "
            f"likely as it would be if {_change(self.neighbours)}. Rows further from normal are protected less, the "
            "further the less."
        )


@dataclass(frozen=True, kw_only=True)
class LocalDP(Guarantee):
    """ε-local differential privacy of one message, against everyone who sees it."""

    family: ClassVar[str] = "local-dp"
    epsilon: Fraction
    neighbours: str = "any other reading in the same place"
    unit: str = "reading"
    protects: str = "every reading"

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            f"What leaves the sensor is at most e^{shown(self.epsilon)} times as likely as it would be for any other {self.unit}; "
            f"this protects {self.protects} against everyone, all parties together included."
        )


@dataclass(frozen=True, kw_only=True)
class MetricPrivacy(Guarantee):
    """Privacy loss in proportion to distance (Chatzikokolakis et al. 2013): ε across the declared core range."""

    family: ClassVar[str] = "metric-privacy"
    epsilon: Fraction
    """Loss between two readings that are one core range apart in every column."""
    neighbours: str = "any other reading, by how far away it is"
    unit: str = "reading"
    protects: str = "every reading, the less the further apart the two compared are"

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            f"Two readings inside the declared core range look alike up to a factor e^{shown(self.epsilon)}; readings D core "
            f"ranges apart only up to e^({shown(self.epsilon)}·D), so a far outlier is recognisable as one."
        )


@dataclass(frozen=True, kw_only=True)
class PlainKAnonymity(Guarantee):
    """A syntactic property of one published table; it does not compose and bounds no inference."""

    family: ClassVar[str] = "plain-k-anonymity"
    k: int
    p: Fraction
    d: Fraction
    level: str
    neighbours: str = "none: this is a property of the published table"
    protects: str = "every published row against being told from the rest of its group by the tests of this level"

    @property
    def parameters(self) -> dict[str, str]:
        return {"k": str(self.k), "p": shown(self.p), "d": shown(self.d), "level": self.level, "publications": "1"}

    @property
    def sentence(self) -> str:
        return (
            f"Every group of the published table holds at least {self.k} different sensitive values and passes the "
            f"'{self.level}' plainness test for (p, d) = ({shown(self.p)}, {shown(self.d)}). This is not differential privacy: it does not add "
            "up over several publications, says nothing to someone who knows how groups were formed, and a "
            "person known to be in the table but missing from the publication is known to have been left out."
        )
