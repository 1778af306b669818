"""What an owner declares about one table; everything a guarantee depends on is here and nothing is read from rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

from wallflower.errors import DeclarationError, nearest_name
from wallflower.schema.domains import Bins, Categories, Dates, Domain, Numbers

Role = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]
Neighbours = Literal["add-remove", "replace-one"]


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


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The most that one family may spend on this table."""

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    publications: int | None = None
    accounting: Literal["sum", "zcdp"] = "sum"
    """How charges add up: by their ε, or by ε or ρ, whichever fits ("zcdp", which needs a δ)."""
    conversion_delta: Fraction | None = None
    """With "zcdp", the part of δ that turning ρ back into ε may cost; None: half of it."""


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
class Declaration:
    """A whole declaration file, checked."""

    id: str
    source: Path | None
    """Where the rows are; None when the Python API was handed a frame."""
    source_table: str | None = None
    """The table inside a DuckDB or SQLite file."""
    key: str | None
    neighbours: Neighbours
    max_rows: int
    reviewed: bool
    test: bool
    ledger: Path | str
    """A file, or the address of a server, which holds no secret."""
    read: Reading = Reading()
    budgets: Mapping[str, Budget]
    columns: Mapping[str, Column]
    models: Mapping[str, Model] = field(default_factory=dict)
    askers: Mapping[str, Mapping[str, Budget]] = field(default_factory=dict)
    """Second limits by the name of an asker and the code of an account; the table's own limits hold beside them."""
    fingerprint: str
    """SHA-256 over the meaning of the file; goes into every ledger entry."""
    unit: Literal["row"] = "row"
    path: Path | None = None

    def column(self, name: str) -> Column:
        """The declared column, or an error that names the closest one."""
        if name in self.columns:
            return self.columns[name]
        raise DeclarationError(f"column '{name}' is not declared.", hint=nearest_name(name, self.columns))
