"""Promises as frozen values: what is promised, to whom, between which neighbours, and in a sentence for people.

These are data. Which account a promise is booked in, and how promises add up, is in `privacy.accounts`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.errors import DeclarationError
from wallflower.schema.exact import shown

EVERY_ROW = "every row"
BUT_ASKED = "every row but the asked-for one"
"""The asked-for row is whichever row carries the key that was asked for: a second row with that key is no other row."""
SENSITIVE_ROWS = (
    "every row whose value is normal under the model, or would be after at most k rows were added or removed"
)

_CHANGES = {"add-remove": "added or removed", "replace-one": "replaced by another"}


def factor(epsilon: Fraction) -> str:
    """e^ε, with its size in plain numbers where that says something.

    >>> factor(Fraction(1, 2)), factor(Fraction(40))
    ('e^0.5 (about 1.65)', 'e^40')
    """
    power = f"e^{shown(epsilon)}" if epsilon.denominator == 1 or "/" not in shown(epsilon) else f"e^({shown(epsilon)})"
    return f"{power} (about {math.exp(epsilon):.3g})" if epsilon <= 6 else power


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

    def _changed(self) -> str:
        """The change of the rows that the promise is about, as the end of a sentence with "if"."""
        whose = f"any one {self.unit}"
        if self.protects == BUT_ASKED:
            whose += " other than the asked-for one"
        return f"{whose} were {_CHANGES[self.neighbours]}"

    def _when(self, sentence: str) -> str:
        """`sentence` under the condition of the promise."""
        return (
            sentence if self.holds_when == "always" else f"When {self.holds_when}: {sentence[0].lower()}{sentence[1:]}"
        )

    def _rest(self) -> str:
        return (
            " The asked-for row itself, which is any row with the key that was asked for, is not protected."
            if self.protects == BUT_ASKED
            else ""
        )


def _at_least_zero(owner: object, **numbers: Fraction) -> None:
    for name, value in numbers.items():
        if not isinstance(value, Fraction):
            raise DeclarationError.of(owner, name, "an exact Fraction", value)
        if value < 0:
            raise DeclarationError.of(owner, name, "at least 0", shown(value))


def _between_tables(owner: Guarantee) -> None:
    if owner.neighbours not in _CHANGES:
        raise DeclarationError.of(owner, "neighbours", " or ".join(_CHANGES), owner.neighbours)


@dataclass(frozen=True, kw_only=True)
class PureDP(Guarantee):
    """ε-differential privacy.

    >>> half = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
    >>> half.parameters
    {'epsilon': '0.5'}
    >>> half.sentence
    'Whatever anyone already knows, no answer is more than e^0.5 (about 1.65) times as likely as it would be if any one row were added or removed.'
    """

    family: ClassVar[str] = "dp"
    epsilon: Fraction

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon)
        _between_tables(self)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            self._when(
                f"Whatever anyone already knows, no answer is more than {factor(self.epsilon)} times as likely as it "
                f"would be if {self._changed()}."
            )
            + self._rest()
        )


@dataclass(frozen=True, kw_only=True)
class ApproxDP(Guarantee):
    """(ε, δ)-differential privacy."""

    family: ClassVar[str] = "dp"
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon, delta=self.delta)
        _between_tables(self)
        if self.delta >= 1:
            raise DeclarationError.of(self, "delta", "below 1", shown(self.delta))

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon), "delta": shown(self.delta)}

    @property
    def sentence(self) -> str:
        return (
            self._when(
                "Whatever anyone already knows, the probability of any answer, and of any set of answers, is at most "
                f"{factor(self.epsilon)} times what it would be if {self._changed()}, plus {shown(self.delta)}."
            )
            + self._rest()
        )


@dataclass(frozen=True, kw_only=True)
class ZCDP(Guarantee):
    """ρ-zero-concentrated differential privacy; composes inside one query and is charged as a converted `ApproxDP`."""

    family: ClassVar[str] = "zcdp"
    rho: Fraction

    def __post_init__(self) -> None:
        _at_least_zero(self, rho=self.rho)
        _between_tables(self)

    @property
    def parameters(self) -> dict[str, str]:
        return {"rho": shown(self.rho)}

    @property
    def sentence(self) -> str:
        return (
            self._when(
                "For every order a above 1, the distribution of the answers has a Rényi divergence of at most "
                f"{shown(self.rho)}·a from what it would be if {self._changed()}."
            )
            + self._rest()
        )


@dataclass(frozen=True, kw_only=True)
class OutputConstrainedDP(Guarantee):
    """ε-DP between neighbours whose set of possible outputs is the same (PCOR, SIGMOD 2021)."""

    family: ClassVar[str] = "output-constrained-dp"
    epsilon: Fraction
    protects: str = BUT_ASKED
    holds_when: str = "the change leaves the set of contexts in which the asked-for row stands out as it is"

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon)
        _between_tables(self)

    @property
    def parameters(self) -> dict[str, str]:
        return {"epsilon": shown(self.epsilon)}

    @property
    def sentence(self) -> str:
        return (
            f"No answer is more than {factor(self.epsilon)} times as likely as it would be if {self._changed()}, provided "
            f"that {self.holds_when}. A row whose change alters that set is not protected by this promise, and neither "
            "is the asked-for row: the answer itself says that it stands out."
        )


@dataclass(frozen=True, kw_only=True)
class SensitivePrivacy(Guarantee):
    """(ε, k)-sensitive privacy on a fixed anomaly model (Asif et al.)."""

    family: ClassVar[str] = "sensitive-privacy"
    epsilon: Fraction
    k: int
    model: str
    """Name of the declared model; each model is an account of its own."""
    protects: str = SENSITIVE_ROWS

    def __post_init__(self) -> None:
        _at_least_zero(self, epsilon=self.epsilon)
        _between_tables(self)
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
        return self._when(
            f"No answer is more than {factor(self.epsilon)} times as likely as it would be if any one protected row were "
            f"{_CHANGES[self.neighbours]}{such}. Protected is {self.protects} (model '{self.model}', k = {self.k}). "
            "Other rows are protected less, the further they are from normal, and some not at all."
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
        return self._when(
            f"What leaves the sensor is at most {factor(self.epsilon)} times as likely as it would be for any other "
            f"{self.unit}, whoever sees it, all parties together included."
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
        return self._when(
            "Whoever sees what leaves the sensor can tell two readings inside the declared core range apart by at most a "
            f"factor {factor(self.epsilon)} in likelihood; readings up to D core ranges apart in a column (D at least 1) only by "
            f"at most e^({shown(self.epsilon)}·D), so a far outlier can be recognised as one."
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

    def __post_init__(self) -> None:
        _at_least_zero(self, p=self.p, d=self.d)
        if self.k < 1:
            raise DeclarationError.of(self, "k", "at least 1", self.k)

    @property
    def parameters(self) -> dict[str, str]:
        return {"k": str(self.k), "p": shown(self.p), "d": shown(self.d), "level": self.level, "publications": "1"}

    @property
    def sentence(self) -> str:
        return (
            f"Every group of the published table holds at least {self.k} different sensitive values and passes the "
            f"'{self.level}' plainness test for (p, d) = ({shown(self.p)}, {shown(self.d)}). This is not differential "
            "privacy: it does not add up over several publications, promises nothing against someone who knows how the "
            "groups were formed, and a person known to be in the table but missing from the publication is known to "
            "have been left out."
        )
