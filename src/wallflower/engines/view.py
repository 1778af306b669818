"""What every engine checks before it answers: which columns, with which rules, over which cells."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wallflower.engines.base import Record
from wallflower.engines.people import People, people_of, read_columns
from wallflower.engines.reading_rule import Kind, Rule, rule_for
from wallflower.errors import DeclarationError, UsageError, nearest_name
from wallflower.schema.declaration import Column, Declaration
from wallflower.schema.domains import Bins, Categories
from wallflower.schema.formats import CellFormat

NOWHERE = Column(name="", role="identifier", domain=None)
POSITION = re.compile("row:(0|[1-9][0-9]{0,17})")


@dataclass(frozen=True)
class View:
    """The public side of an open view."""

    declaration: Declaration
    columns: tuple[str, ...]
    rules: Mapping[str, Rule]
    key_kind: Kind | None
    people: People | None = None
    """How the rows of a person are joined; None where the unit is a row."""

    def check(self, columns: Sequence[str]) -> None:
        for name in columns:
            if name not in self.rules:
                raise UsageError(f"column '{name}' is not part of this view.", hint=nearest_name(name, self.columns))

    def bins(self, name: str) -> Bins | None:
        """The bins that `codes` uses for this column; None for categories, an error when it has neither."""
        groups = self.declaration.column(name).groups
        return groups if isinstance(groups, Bins) else None

    def refuse_size(self) -> None:
        if self.declaration.neighbours != "replace-one":
            raise DeclarationError(
                "the number of rows is private when neighbours add or remove a row.",
                hint='It is public only under neighbours = "replace-one".',
            )


def wanted_columns(declaration: Declaration, columns: Sequence[str]) -> tuple[str, ...]:
    """The distinct columns of a view, each of them declared."""
    distinct = tuple(dict.fromkeys(columns))
    for name in distinct:
        declaration.column(name)
    return distinct


def find_columns(wanted: Sequence[str], physical: Sequence[str]) -> None:
    """Refuse a declared column that the data do not have, or have twice.

    What the data do have is not said, but for another spelling of the same name: the first line of a file without a
    header is a row, and askers read this.
    """
    error = next(filter(None, (_not_once(name, physical) for name in wanted)), None)
    physical = ()  # whoever prints the frames of this error must not find the names of a text file, which may be rows
    if error is not None:
        raise error


def _not_once(name: str, physical: Sequence[str]) -> DeclarationError | None:
    if name not in physical:
        alike = [other for other in physical if _letters(other) == _letters(name)]
        said = f"Did you mean '{alike[0]}'?" if alike else "`wallflower declare` on the data drafts all that it has."
        return DeclarationError(
            f"the data have no column '{name}'.", hint=f"{said} A text file begins with a line of names."
        )
    if list(physical).count(name) > 1:
        return DeclarationError(f"the data have several columns named '{name}'.", hint="Rename all but one.")
    return None


def find_table(table: str, tables: Sequence[str]) -> None:
    """Refuse a table that the source does not have."""
    if table not in tables:
        raise DeclarationError(f"the source has no table '{table}'.", hint=nearest_name(table, tables))


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def view_of(
    declaration: Declaration, columns: tuple[str, ...], kinds: Mapping[str, Kind], *, decimal: str = "."
) -> View:
    """Rules for the columns, given what the data's schema says they hold."""
    read = [name for name in read_columns(declaration, columns) if declaration.columns.get(name, NOWHERE).domain]
    rules = {
        # A count of a person's rows reads no cell.
        name: rule_for(declaration.column(name), kinds.get(name, Kind.NOTHING), format_for(declaration, name, decimal))
        for name in dict.fromkeys((*columns, *read))
    }
    people = people_of(declaration, columns, kinds, rules, decimal)
    key_kind = None
    if declaration.key is not None:
        key_kind = kinds[declaration.key]
        if key_kind is Kind.TIMESTAMP:
            raise DeclarationError(
                f"the key column '{declaration.key}' holds timestamps, which have no one text.",
                hint="Choose another key, or make it a date or a text.",
            )
    return View(declaration, columns, {name: rules[name] for name in columns}, key_kind, people)


def format_for(declaration: Declaration, name: str, decimal: str) -> CellFormat:
    """The declared format, with the decimal mark of this source; a point does not also part thousands."""
    declared = declaration.format_of(name)
    thousands = "" if declared.thousands == decimal else declared.thousands
    return replace(declared, decimal=decimal, thousands=thousands)


def with_key(declaration: Declaration, columns: Sequence[str]) -> tuple[str, ...]:
    """The physical columns a view needs."""
    keyed = () if declaration.key is None else (declaration.key,)
    return tuple(dict.fromkeys((*read_columns(declaration, columns), *keyed)))


def position(key: str) -> int | None:
    """The place that a key like "row:12" names in a table without a key."""
    found = POSITION.fullmatch(key)
    return int(found[1]) if found else None


def recorded(view: View, numbers: Mapping[str, int]) -> Record:
    """A record from its integers: categories keep their code, binned columns get the bin."""
    codes = {}
    for name, number in numbers.items():
        column = view.declaration.column(name)
        if isinstance(column.domain, Categories):
            codes[name] = number
        elif column.bins is not None:
            codes[name] = bisect_right(column.bins.edges, number) - 1
    return Record(numbers=numbers, codes=codes)
