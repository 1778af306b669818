"""Plain k-anonymity: a property of one published table, counted and never added up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wallflower.errors import DeclarationError
from wallflower.privacy.account import Amounts, Kind
from wallflower.privacy.guarantee import Guarantee, at_least_zero
from wallflower.schema.exact import shown

PLAIN = Kind(
    code="plain-k-anonymity",
    budget="plain-k-anonymity",
    words="plain-k-anonymity",
    everyday_name="publications",
    adds=("publications",),
    bounds=lambda _times, _unit, _change: (
        "Tables published; this number bounds no inference, and several of them can undo each other."
    ),
    between_tables=False,
    conditional=True,
    recomputed=True,
    no_sum="a table was published under plain-k-anonymity, which bounds no inference",
    order=5,
)


@dataclass(frozen=True, kw_only=True)
class PlainKAnonymity(Guarantee):
    """A syntactic property of one published table; it does not compose and bounds no inference."""

    family: ClassVar[str] = "plain-k-anonymity"
    title: ClassVar[str] = "Plain k-anonymity"
    not_promised: ClassVar[tuple[str, ...]] = (
        "It is a property of the one published table and bounds no inference.",
        "Two tables published from the same rows can be intersected: their promises do not add up.",
        "A person known to be in the rows but missing from the table is known to have been left out.",
        "Possible values are judged by the table as it is: whoever works flags out anew for every way to hand values out may exclude some.",
    )
    not_of_several_rows: ClassVar[str] = "a group of k rows could be one person's"

    k: int
    p: Fraction
    d: Fraction
    level: str
    possible_values: int | None = None
    """Values that every published person may hold as far as an adversary of level `matching` can say; None at other levels."""
    neighbours: str = "none: this is a property of the published table"
    protects: str = "every published row against being told from the rest of its group by the tests of this level"

    def __post_init__(self) -> None:
        at_least_zero(self, p=self.p, d=self.d)
        if self.k < 1:
            raise DeclarationError.of(self, "k", "at least 1", self.k)

    @property
    def parameters(self) -> dict[str, str]:
        possible = {} if self.possible_values is None else {"possible_values": str(self.possible_values)}
        return {
            "k": str(self.k),
            "p": shown(self.p),
            "d": shown(self.d),
            "level": self.level,
            **possible,
            "publications": "1",
        }

    @property
    def sentence(self) -> str:
        return (
            f"Every group of the published table holds at least {self.k} different sensitive values and passes the "
            f"'{self.level}' plainness test for (p, d) = ({shown(self.p)}, {shown(self.d)}).{self._possible()} This is not differential "
            "privacy: it does not add up over several publications, promises nothing against someone who knows how the "
            "groups were formed, and a person known to be in the table but missing from the publication is known to "
            "have been left out."
        )

    def _possible(self) -> str:
        if self.possible_values is None:
            return ""
        return (
            f" Whoever knows all quasi-identifiers, who is an outlier and who is in which group, and judges by the table as it is who would be an "
            f"outlier with which value, is left with at least {self.possible_values} possible values of every sensitive column for every published "
            "person; some may be far likelier than others, and whoever works out anew, for every way to hand the values out, who would be an outlier "
            "may be left with fewer."
        )

    @property
    def amounts(self) -> Amounts:
        return {"publications": Fraction(1)}
