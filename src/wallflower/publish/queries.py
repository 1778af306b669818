"""Publish the rows of a table in groups in which outliers blend in; the level says against whom."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wallflower.engines.base import Rows
from wallflower.engines.plan import plan_publication
from wallflower.errors import UsageError
from wallflower.noise.entropy import Entropy
from wallflower.privacy.file_answer import FileAnswer
from wallflower.privacy.guarantees import PlainKAnonymity
from wallflower.privacy.price import Price
from wallflower.privacy.trial import FieldTrial, Stage, multiples, wholes
from wallflower.publish.cells import ends
from wallflower.publish.diversity import Demands
from wallflower.publish.levels import BOTH, LEVELS, MATCHING, NOT_PROMISED, counts_possible_values, meaning, method_of
from wallflower.publish.space import Space, space_of
from wallflower.schema.canonical import PLACE
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown
from wallflower.schema.fields import Exact, MaybeExact, MaybeWhole, Names, Weights, Whole

if TYPE_CHECKING:
    from wallflower.publish.publication import Publication

FORMATS = (".csv", ".parquet")
GROUP = "group"
"""The name of the column that numbers groups."""
RANGES = ("text", "columns")
EMPTY = (
    "The publication is empty: no group of these rows passes the tests of its level. It has been charged like any other; "
    "fewer columns, coarser steps or a smaller k let more rows out."
)
REGIONS = (
    "Made in regions, each grouped by itself: the promise is the same, for flags, values and whoever matches are those of the whole "
    "table; somewhat more may be left out or lost. Another number of regions is another publication."
)
MOST_REGIONS = 10_000
LEAST_DISTANCE = Fraction(1, 10**12)
"""Distances are ratios of doubles in the kernels; none in use comes near this."""


@dataclass(frozen=True, kw_only=True)
class PlainTable:
    """A file in which quasi-identifiers are generalised, sensitive values are kept, and outliers blend in.

    >>> PlainTable(columns=("age", "income"), out="table.csv", k=5, p="0.9", d="0.5").level
    'matching'
    """

    name: ClassVar[str] = "publish"

    columns: Names = Names()
    """What the file will hold: quasi-identifiers and sensitive columns. `of` takes all that are declared."""
    out: str = field(metadata=PLACE)
    """The file to write, .csv or .parquet; one that is there is replaced."""
    k: Whole = Whole(least=1)
    """Every group holds at least this many different values of every sensitive column."""
    p: Exact = Exact(above=0, most=1)
    """An outlier has at least this share of all rows …"""
    d: Exact = Exact(least=LEAST_DISTANCE, most=1 / LEAST_DISTANCE)
    """… farther away than this, in declared ranges."""
    level: str = "matching"
    """What a group must withstand: one of `levels.LEVELS`."""
    possible_values: MaybeWhole = MaybeWhole(least=1)
    """At the levels `matching` and `matching+candidate`: the possible values everyone has in every sensitive column; k where not given."""
    method: str | None = None
    """How groups are formed; by the level where not given."""
    entropy_diversity: MaybeExact = MaybeExact(least=1, most=10**6)
    """Ask entropy l-diversity of every group too."""
    recursive_c: MaybeExact = MaybeExact(least=LEAST_DISTANCE, most=1 / LEAST_DISTANCE)
    recursive_l: MaybeWhole = MaybeWhole(least=2)
    """Ask recursive (c, l)-diversity too; both or neither."""
    closeness: MaybeExact = MaybeExact(least=0, most=1)
    """Ask t-closeness too."""
    weights: Weights = Weights()
    """Distance weights; columns not named here then count nothing. Empty: the declared weights, 1 without."""
    unchanged: Names = Names(default=())
    """Insensitive columns to publish as they are. They can identify people: nothing here protects them."""
    population: MaybeWhole = MaybeWhole(least=1, most=10**11)
    """How many people the rows are a random sample of, for the journalist risk of the owner's report; changes no file."""
    groups: bool = False
    """Whether the file numbers its groups."""
    ranges: str = "text"
    """How generalised numbers and dates are written: as text ("[20, 40]"), or as two columns, `low NAME` and `high NAME`."""
    format: str = ""
    """"csv" or "parquet": what `out` ends in."""
    regions: Whole = Whole(1, least=1, most=MOST_REGIONS)
    """Into how many parts the table is cut before it is grouped. The file depends on it, and so it is asked, wherever the rows are; 1 loses least."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "out", str(self.out))
        object.__setattr__(self, "format", self.format or Path(self.out).suffix.removeprefix("."))
        if self.level not in LEVELS:
            raise UsageError(f"'level' must be one of {', '.join(LEVELS)}, got '{self.level}'.")
        object.__setattr__(self, "method", method_of(self.level, self.method))
        if self.ranges not in RANGES:
            raise UsageError(f"'ranges' must be one of {', '.join(RANGES)}, got '{self.ranges}'.")
        self._check_possible_values()
        if self.possible_values is None and counts_possible_values(self.level):
            object.__setattr__(self, "possible_values", self.k)
        self._check_demands()
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise UsageError("'columns' must name the columns to publish, each once.")
        if Path(self.out).suffix not in FORMATS or f".{self.format}" != Path(self.out).suffix:
            raise UsageError(f"a publication ends in {' or '.join(FORMATS)}, got '{Path(self.out).name}'.")

    def _check_possible_values(self) -> None:
        wanted = self.possible_values
        if not counts_possible_values(self.level):
            if wanted is not None:
                raise UsageError(
                    f"level '{self.level}' promises no number of possible values.",
                    hint=f"Leave it out, or use level '{MATCHING}' or '{BOTH}'.",
                )
            return
        if wanted is not None and wanted > self.k:
            raise UsageError(f"'possible_values' must be from 1 to k ({self.k}), got {wanted}.")

    def _check_demands(self) -> None:
        if (self.recursive_c is None) != (self.recursive_l is None):
            raise UsageError("recursive diversity needs both 'recursive_c' and 'recursive_l'.")

    @property
    def demands(self) -> Demands:
        c, least = self.recursive_c, self.recursive_l
        recursive = None if c is None or least is None else (c, least)
        return Demands(entropy=self.entropy_diversity, recursive=recursive, closeness=self.closeness)

    @classmethod
    def of(cls, declaration: Declaration, **choices: Any) -> PlainTable:
        """With every declared quasi-identifier and sensitive column, and the `unchanged` ones."""
        roles = {"quasi-identifier", "sensitive"}
        named = [column.name for column in declaration.columns.values() if column.role in roles]
        return cls(columns=(*named, *choices.get("unchanged", ())), **choices)

    def space(self, declaration: Declaration) -> Space:
        """The public geometry; refuses columns that cannot be published."""
        for name in self.columns:
            column = declaration.column(name)
            if column.role == "identifier":
                raise UsageError(f"column '{name}' is an identifier, and identifiers are never published.")
            if column.role == "insensitive" and name not in self.unchanged:
                raise UsageError(
                    f"column '{name}' is insensitive: it would be published as it is, and could identify people.",
                    hint=f"Leave it out, declare it a quasi-identifier, or name it in unchanged=('{name}',) (--unchanged {name}).",
                )
        self._check_names(declaration)
        return space_of(
            declaration,
            p=self.p,
            d=self.d,
            weights=self.weights,
            columns=self.columns,
        )

    def _check_names(self, declaration: Declaration) -> None:
        for name in self.unchanged:
            if name not in self.columns or declaration.column(name).role != "insensitive":
                raise UsageError(
                    f"'{name}' is to be published unchanged, but is not an insensitive column of this publication."
                )
        if self.groups and GROUP in self.columns:
            raise UsageError(f"a column is called '{GROUP}' already, so groups cannot be numbered.")
        if self.ranges == "columns":
            for name in self.columns:
                for end in ends(name):
                    if end in self.columns:
                        raise UsageError(f"a column is called '{end}' already, so ranges cannot be written as columns.")

    def price(self, declaration: Declaration) -> Price:
        if declaration.rows_per_person is not None:
            raise UsageError(
                "with rows_per_person a group of k different values may be fewer than k people, so nothing is published.",
                hint="Say per_person for every column instead: then one row is one person.",
            )
        space = self.space(declaration)
        plan = plan_publication(declaration, len(space.axes), self.regions)
        place = Path(self.out)
        if place.is_dir() or declaration.is_own_file(place):
            what = "a folder" if place.is_dir() else "a file of this table, or would become one"
            raise UsageError(f"'{place}' is {what}, and no publication is put there.", hint="Name another file.")
        folder = place.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise UsageError(f"the folder '{folder}' cannot be written to.", hint="Name an existing folder of yours.")
        weights = ", ".join(f"{axis.name}: {shown(axis.weight)}" for axis in space.axes)
        notes: tuple[str, ...] = (
            f"Level '{self.level}': {meaning(self.level, least=self.possible_values or 0)}.",
            (
                "Groups are formed from all rows and some rows are left out: someone who knows how, or who knows that a person "
                "is in the table, learns more than the file says. Two publications of the same rows can be intersected."
            ),
        )
        if counts_possible_values(self.level):
            notes += (NOT_PROMISED,)
        if self.regions > 1:
            notes += (REGIONS,)
        if self.demands.any:
            notes += (f"Asked of every group too, in every sensitive column: {', '.join(self.demands.sentences)}.",)
        if self.unchanged:
            notes += (f"Published as they are, without protection: {', '.join(self.unchanged)}.",)
        return Price(
            guarantee=PlainKAnonymity(
                k=self.k, p=self.p, d=self.d, level=self.level, possible_values=self.possible_values
            ),
            mechanism={"name": str(self.method), "order": "uniformly random"},
            settings={
                "k": str(self.k),
                "p": shown(self.p),
                "d": shown(self.d),
                "level": self.level,
                "method": str(self.method),
                **({} if self.possible_values is None else {"possible values": str(self.possible_values)}),
                "plan": str(plan),
                "quasi-identifiers": ", ".join(axis.name for axis in space.quasi),
                "sensitive": ", ".join(axis.name for axis in space.sensitive),
                "weights": weights,
                "file": Path(self.out).name,
            },
            notes=notes,
        )

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        from wallflower.publish.kernel_trial import call_every_loop

        publication = self._publication(rows)
        self._file(publication, entropy)
        call_every_loop(publication.checker, publication.terms)

    def run(self, rows: Rows, entropy: Entropy) -> FileAnswer:
        """The file as bytes; whoever asked puts it at `out`, after it has been recorded."""
        return self._file(self._publication(rows), entropy)

    def _file(self, publication: Publication, entropy: Entropy) -> FileAnswer:
        from wallflower.publish.sheet import rendered, sheet

        written = sheet(
            publication, number=GROUP if self.groups else None, in_columns=self.ranges == "columns", entropy=entropy
        )
        value = {"file": Path(self.out).name, "rows": written.rows, "groups": len(publication.grouping.groups)}
        return FileAnswer(
            value=value if written.rows else {**value, "text": EMPTY},
            content=rendered(written, Path(self.out).suffix),
            place=Path(self.out),
            warning="" if written.rows else EMPTY,
        )

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        return f"{answer['rows']} rows in {answer['groups']} groups, in {answer['file']}"

    def trial(self) -> FieldTrial:
        """How it is rehearsed: it draws nothing but the order of rows, so that one file is all of them."""
        return FieldTrial(
            query=self,
            measured="share of the rows that are published",
            useful="nine rows of ten are published",
            on=self._staged,
            options={
                "k": wholes(self.k),
                "p": sorted({Fraction(4, 5), Fraction(9, 10), Fraction(19, 20), Fraction(99, 100), self.p}),
                "d": multiples(self.d, ("1/2", "1", "2")),
            },
            is_random=False,
            along={"k": {"possible_values": None}} if self.possible_values == self.k else {},
        )

    def _staged(self, rows: Rows) -> Stage:
        size = len(rows.fetch(numbers=self.columns[:1]).numbers)

        def score(answer: Mapping[str, Any] | None) -> tuple[float, bool]:
            part = 0.0 if answer is None or not size else answer["rows"] / size
            return part, part >= 9 / 10

        return Stage(truth=None, number=1.0, draw=lambda entropy: self.run(rows, entropy).value, score=score)

    def inspect(self, rows: Rows) -> dict[str, Any]:
        from wallflower.publish.inspection import inspected

        return inspected(self._publication(rows))

    def _publication(self, rows: Rows) -> Publication:
        from wallflower.publish.publication import Terms, publication_of

        terms = Terms(
            k=self.k,
            level=self.level,
            method=str(self.method),
            least=self.possible_values or 0,
            demands=self.demands,
            regions=self.regions,
            population=self.population,
        )
        return publication_of(rows, self.space(rows.declaration), unchanged=self.unchanged, terms=terms)
