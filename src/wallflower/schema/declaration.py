"""What an owner declares about one table; everything a guarantee depends on is here and nothing is read from rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

from wallflower.errors import DeclarationError, cut, nearest_name
from wallflower.schema.domains import Bins, Categories, Dates, Domain, Numbers
from wallflower.schema.exact import quoted
from wallflower.schema.formats import ISO, MOMENTS, CellFormat, DateFormat

Role = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]
Neighbours = Literal["add-remove", "replace-one"]
Unit = Literal["row", "person"]
Reducer = Literal["sum", "mean", "min", "max", "rows", "most-common", "latest", "earliest"]
MEMORY = 4 * 2**30
"""What is declared by saying nothing."""
BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite adds to a ledger's name for the files that it keeps beside it: part of the ledger, as long as they are there."""
BY_TIME: tuple[Reducer, ...] = ("latest", "earliest")


@dataclass(frozen=True)
class Drop:
    """The row leaves, for every query that reads this column."""


@dataclass(frozen=True)
class Clip:
    """A number outside the bounds becomes the nearer bound."""


@dataclass(frozen=True)
class Becomes:
    """The value is taken to be this declared one: a code of a category, or a number of steps."""

    number: int


@dataclass(frozen=True, kw_only=True)
class Column:
    """One declared column. An identifier has no domain: it never reaches a query."""

    name: str
    role: Role
    domain: Domain | None
    outside: Drop | Clip | Becomes = Drop()
    """What a readable value that is not in the domain becomes."""
    missing: Drop | Becomes = Drop()
    """What an empty, NaN or unreadable cell becomes."""
    bins: Bins | None = None
    centre: Fraction | None = None
    """Public location for distances, in the column's own units."""
    scale: Fraction | None = None
    """Public scale for distances, in the column's own units."""
    weight: Fraction | None = None
    hierarchy: object = None
    """The place of a hierarchy file (text, joined with the declaration's folder), or the nested table as written."""
    per_person: Reducer | None = None
    """How the cells of a person's rows become one; None where rows are not reduced."""
    thousands: str | None = None
    """Its own mark between groups of digits; None: as the table's `read` says. So too the next two."""
    dates: tuple[DateFormat, ...] | None = None
    missing_codes: tuple[str, ...] | None = None

    @property
    def is_numeric(self) -> bool:
        return isinstance(self.domain, Numbers | Dates)

    @property
    def is_grouped(self) -> bool:
        """Whether a context can choose among its values."""
        return isinstance(self.domain, Categories) or self.bins is not None

    @property
    def numeric(self) -> Numbers | Dates:
        """The domain of a column that holds numbers or dates; refused for any other."""
        if isinstance(self.domain, Numbers | Dates):
            return self.domain
        raise DeclarationError(
            f"column '{self.name}' is not numeric, and this question needs numbers.",
            hint=f"Declare lower, upper and step for [columns.{self.name}], or choose another column.",
        )

    @property
    def groups(self) -> Categories | Bins:
        """The values a context chooses among: categories, or the bins of a numeric column."""
        if isinstance(self.domain, Categories):
            return self.domain
        if self.bins is not None:
            return self.bins
        raise DeclarationError(
            f"column '{self.name}' has no declared values to choose among.",
            hint=f"Declare values = [...] or bins = [...] for [columns.{self.name}].",
        )


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a text file is read."""

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str = ""
    dates: tuple[DateFormat, ...] | None = None
    """None: ISO dates, and for `time` with or without a time of day."""
    missing_codes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The most that one family may spend on this table."""

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    publications: int | None = None
    accounting: Literal["sum", "zcdp"] = "sum"
    """Whether many small releases may be added up as zero-concentrated differential privacy."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A declared (β, r)-anomaly model for `identify`, with a budget of its own."""

    name: str
    columns: tuple[str, ...]
    beta: int
    radius: Fraction
    k: int
    epsilon: Fraction
    distance: Literal["euclidean", "hamming", "mixed"] = "euclidean"
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    included: bool = False
    """Whether the asked value counts as present even when no row holds it."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Made-up rows around one place: `centre` in codes and steps, `spread` in the column's own units."""

    name: str
    share: Fraction
    centre: Mapping[str, int] = field(default_factory=dict)
    spread: Mapping[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class World:
    """A picture of the world from public knowledge, and public rows, to try questions on; no promise depends on it."""

    rows: int | None = None
    outliers: Fraction | None = None
    """The share of made-up rows that lie anywhere in the declared domains."""
    public: Path | None = None
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A whole declaration file, checked."""

    id: str
    source: Path | str | None
    """Where the rows are: a file, or the address of a server as text; None when the Python API was handed a frame."""
    source_table: str | None = None
    """The table inside a DuckDB or SQLite file or on a server."""
    key: str | None
    neighbours: Neighbours
    max_rows: int
    """A public bound on the rows that a query sees: rows of the data, or people, or `rows_per_person` times people."""
    reviewed: bool
    test: bool
    ledger: Path | str
    """A file, or the address of a server, which holds no secret."""
    read: Reading = Reading()
    budgets: Mapping[str, Budget]
    columns: Mapping[str, Column]
    models: Mapping[str, Model] = field(default_factory=dict)
    fingerprint: str
    """SHA-256 over the meaning of the file; goes into every ledger entry."""
    unit: Unit = "row"
    """What one promise is about."""
    person: str | None = None
    """The column that says whose row it is; set exactly when the unit is a person."""
    time: str | None = None
    """The column that orders a person's rows."""
    rows_per_person: int | None = None
    """At most so many rows of a person count; None: a person's rows are reduced to one."""
    grows: bool = False
    """Whether rows are only ever added: none is changed or removed. The owner's word, which daily counts rest on."""
    askers: Mapping[str, Mapping[str, Budget]] = field(default_factory=dict)
    """Second limits: what each named asker may spend of a family's budget."""
    rehearsal: World | None = None
    """What questions may be tried on, outside the fingerprint."""
    memory: int = MEMORY
    """Bytes of rows that this process may hold: it decides how rows are read, never what is answered. Outside the fingerprint."""
    executors: bool = False
    """Whether the executors of the cluster that holds the rows run this package's tasks; as `memory`, outside the fingerprint."""
    path: Path | None = None

    @property
    def max_people(self) -> int:
        """The public bound on the number of units, as declared: `max_people`, or `max_rows` where the unit is a row."""
        return self.max_rows // (self.rows_per_person or 1)

    @property
    def reduced(self) -> bool:
        """Whether every person is one row, made from all of that person's."""
        return self.unit == "person" and self.rows_per_person is None

    def is_concentrated(self, family: str) -> bool:
        """Whether a family's budget counts zero-concentrated losses beside epsilons."""
        return family in self.budgets and self.budgets[family].accounting == "zcdp"

    def is_own_file(self, place: Path) -> bool:
        """Whether the declaration, the rows or the ledger of this table, or what is kept beside the ledger, lie at `place`, or
        `place` in the folder of the rows.
        """
        where = place.resolve()
        taken = [each.resolve() for each in (self.path, self.source, self.ledger) if isinstance(each, Path)]
        taken += beside(self.ledger) if isinstance(self.ledger, Path) else []
        return where in taken or (isinstance(self.source, Path) and self.source.resolve() in where.parents)

    def format_of(self, name: str) -> CellFormat:
        """How the texts of a column are read, whether it is declared or not."""
        column, table = self.columns.get(name), self.read
        dates = table.dates if column is None or column.dates is None else column.dates
        thousands = table.thousands if column is None or column.thousands is None else column.thousands
        codes = table.missing_codes if column is None or column.missing_codes is None else column.missing_codes
        return CellFormat(
            decimal=table.decimal,
            thousands=thousands,
            dates=dates or (MOMENTS if name == self.time else (ISO,)),
            missing_codes=codes,
        )

    def column(self, name: str) -> Column:
        """The declared column, or an error that names the closest one."""
        if isinstance(name, str) and name in self.columns:
            return self.columns[name]
        said = f"'{cut(name)}'" if isinstance(name, str) else quoted(name)
        raise DeclarationError(f"column {said} is not declared.", hint=nearest_name(name, self.columns))


def beside(ledger: Path) -> list[Path]:
    """Where SQLite keeps what belongs to a ledger in a file: beside what a link leads to."""
    file = ledger.resolve()
    return [file.with_name(file.name + ending) for ending in BESIDE]
