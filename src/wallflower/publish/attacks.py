"""What an adversary concludes from a published table: the paper's two attacks, and one who knows real quasi-identifiers.

All of them know every row's quasi-identifiers and who is an outlier, as the paper assumes. Who would be one with which value they judge
by the table as it is: whoever works flags out anew for every way to hand the values out may find more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.progress import report
from wallflower.publish.exposure import exposed
from wallflower.publish.matching_attack import Absence, Guesses, absence, guesses
from wallflower.publish.membership import members_of
from wallflower.publish.people_kernels import everyone, someone
from wallflower.publish.population import Population
from wallflower.publish.published_file import PublishedGroup

Whole = NDArray[np.int64]
OTHERS = "other attacks may exist: flags worked out anew for every way to hand the values out are not tried"


@dataclass(frozen=True)
class Leak:
    """One outlier that a group gives away (Definition 4.1)."""

    row: int
    group: int
    presence: float
    """1/h, h the number of outliers whose quasi-identifiers match the group."""
    association: float
    """1/l, l the number of published values that make this outlier's quasi-identifiers an outlier."""


@dataclass(frozen=True)
class Findings:
    """What the attacks found in a published table. Owner only: it names rows."""

    rows: int
    groups: int
    smallest: int
    """Rows in the smallest group: the k of k-anonymity."""
    least_distinct: int
    """Different sensitive values in the poorest group: the l of distinct l-diversity, the k of plain k-anonymity."""
    outliers: int
    """(p, d)-outliers of the table, published or not."""
    leaks: tuple[Leak, ...]
    """Theorems 4.1 and 4.2."""
    abnormal_values: int
    """Published values that are normal for nobody who matches their group: whoever holds one is an outlier, for certain."""
    abnormal_people: int
    """Pairs of a group and someone who matches it but is an outlier with every value of it."""
    guesses: Guesses
    """The matching adversary, who knows who is in which group."""
    absence: Absence
    unexplained: int
    """Published lines that no row of the table can stand behind: the file is not from these rows."""

    @property
    def presence(self) -> float:
        """The adversary's best presence probability; 0 when no outlier can be inferred."""
        return max((leak.presence for leak in self.leaks), default=0.0)

    @property
    def association(self) -> float:
        return max((leak.association for leak in self.leaks), default=0.0)

    @property
    def succeeded(self) -> bool:
        return bool(self.leaks or self.abnormal_values or self.abnormal_people or len(self.guesses.pinned))

    def lines(self) -> list[tuple[str, str]]:
        """Label and text, in reading order."""
        return [
            ("published", f"{self.rows} rows in {self.groups} groups; the table has {self.outliers} (p, d)-outliers"),
            ("k-anonymity", f"k = {self.smallest}"),
            ("distinct values", f"at least {self.least_distinct} different sensitive values in every group"),
            ("Theorems 4.1, 4.2", f"{len(self.leaks)} outliers given away"),
            ("best inference", f"presence {self.presence:.2f}, association {self.association:.2f}"),
            (
                "candidate adversary",
                f"{self.abnormal_values} values normal for nobody, {self.abnormal_people} people normal with no value",
            ),
            *self._matching(),
            ("verdict", self.verdict),
        ]

    @property
    def verdict(self) -> str:
        if self.succeeded:
            return "the attacks succeeded"
        absent = len(np.union1d(self.absence.outside, self.absence.unfitting))
        known = f"; absence tells of {absent} that they were left out" if absent else ""
        return f"none of these attacks found anybody in the file{known}; {OTHERS}"

    def _matching(self) -> list[tuple[str, str]]:
        found, gone = self.guesses, self.absence
        fewest, surest = f"{found.fewest(outlying=False)} each", f"{found.surest(outlying=False):.2f}"
        if found.outlying.any():
            fewest += f", of outliers {found.fewest(outlying=True)}"
            surest += f", of outliers {found.surest(outlying=True):.2f}"
        else:
            surest += "; no outlier is published"
        lines = [
            ("matching adversary", f"{len(found.pinned)} of {len(found.rows)} people pinned to one value"),
            ("possible values", f"at least {fewest}, by the table as it is; likeliest value at most {surest}"),
            (
                "known by absence",
                f"{len(gone.outside)} rows in no group's box, {len(gone.unfitting)} that no value of the groups they match fits",
            ),
        ]
        if self.unexplained:
            lines.append(("not from these rows", f"{self.unexplained} published lines fit no row of the table"))
        return lines

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "groups": self.groups,
            "k_anonymity": self.smallest,
            "distinct_values": self.least_distinct,
            "outliers": self.outliers,
            "given_away": len(self.leaks),
            "presence": self.presence,
            "association": self.association,
            "abnormal_values": self.abnormal_values,
            "abnormal_people": self.abnormal_people,
            "pinned": len(self.guesses.pinned),
            "possible_values": self.guesses.fewest(outlying=False),
            "possible_values_of_outliers": self.guesses.fewest(outlying=True),
            "likeliest": round(self.guesses.surest(outlying=False), 4),
            "likeliest_of_outliers": round(self.guesses.surest(outlying=True), 4),
            "in_no_box": len(self.absence.outside),
            "fit_no_value": len(self.absence.unfitting),
            "unexplained_lines": self.unexplained,
            "succeeded": self.succeeded,
        }


def attack(table: Population, published: Sequence[PublishedGroup], members: Sequence[Whole] | None = None) -> Findings:
    """Run every attack on every group. `table` holds the owner's original rows, `members` those of each group where that is known."""
    unexplained = 0
    if members is None:
        members, unexplained = members_of(table, published)
    leaks: list[Leak] = []
    abnormal_values = abnormal_people = 0
    for number, group in enumerate(published):
        values = table.by_closeness(group.held)
        leaks += _leaks(table, number, group, values)
        wrong_values, wrong_people = _abnormal(table, group, values)
        abnormal_values += wrong_values
        abnormal_people += wrong_people
        report("attacking", number + 1, len(published))
    return Findings(
        rows=sum(group.rows for group in published),
        groups=len(published),
        smallest=min((group.rows for group in published), default=0),
        least_distinct=min((group.distinct for group in published), default=0),
        outliers=int(table.outlying.sum()),
        leaks=tuple(leaks),
        abnormal_values=abnormal_values,
        abnormal_people=abnormal_people,
        guesses=guesses(table, [rows for rows in members if len(rows)]),
        absence=absence(table, published),
        unexplained=unexplained,
    )


def _leaks(table: Population, number: int, group: PublishedGroup, values: Whole) -> list[Leak]:
    found = exposed(table, group.low, group.high, values)
    if not found.presence.size:
        return []
    flags = np.flatnonzero(table.outlying)
    known = table.places[flags, : table.quasi]
    matching = int(((known >= group.low) & (known <= group.high)).all(axis=1).sum())
    leaks = []
    for row in found.presence.tolist():
        spot = table.places[row, : table.quasi]
        normal = table.normal(np.column_stack([np.tile(spot, (len(values), 1)), values]))
        leaks.append(Leak(row, number, 1 / matching, 1 / max(1, int((~normal).sum()))))
    return leaks


def _abnormal(table: Population, group: PublishedGroup, values: Whole) -> tuple[int, int]:
    """The candidate adversary: published values normal for nobody, matching people normal with no value."""
    people = table.inside(group.low, group.high)
    known = np.ascontiguousarray(table.places[people, : table.quasi])
    good, bad = np.zeros(len(values), dtype=np.bool_), np.zeros(len(known), dtype=np.bool_)
    everyone(table.blocks, table.guide, known, values, good, bad, False, False)
    someone(table.blocks, table.guide, known, values, good)
    return int((~good).sum()), int(bad.sum())
