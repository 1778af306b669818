"""Which sets of a column's values a context may hold: four languages, all made of axes.

An axis is a list of steps; each step adds values to those that the steps before it hold, so that a level of the axis is one set. `sets` has
an axis of one step for every value but the record's own: any set that holds it. `own` has one axis of one step: the value itself, or any.
`range` has two axes: how far the run of neighbouring values goes down, and how far up. `tree` has one axis: the ancestors of the value in
the declared hierarchy. The contexts of several columns are all combinations, each once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from wallflower.errors import UsageError, nearest_name
from wallflower.schema.declaration import Column, Declaration
from wallflower.schema.domains import Bins, Categories
from wallflower.schema.hierarchy import ORDERED, Taxonomy, taxonomy

LANGUAGES = ("sets", "own", "range", "tree")
ENOUGH = 2**24
"""By default every column uses `sets` while that makes at most so many contexts."""
MOST_STEPS = 62
"""The word of a context has a bit for every step of every axis."""
MOST_CELLS = 2**20
"""Cells of the cube of all columns; each holds its own statistics."""
FEW = 8
"""Columns with at most so many values keep `sets` beyond that, before those with the most values give it up."""

Axis = tuple[tuple[int, ...], ...]
"""The codes that each step adds."""


@dataclass(frozen=True)
class Vocabulary:
    """One column's values and the language its contexts are written in. Everything here is public."""

    column: str
    domain: Categories | Bins
    language: str
    tree: Taxonomy | None = None

    def axes(self, own: int) -> tuple[Axis, ...]:
        """The axes around a record with the code `own`; those without a step are left out."""
        size = self.domain.size
        others = tuple(code for code in range(size) if code != own)
        if self.language == "sets":
            return tuple(((code,),) for code in others)
        if self.language == "own":
            return ((others,),) if others else ()
        if self.language == "range":
            down, up = tuple((code,) for code in reversed(range(own))), tuple((code,) for code in range(own + 1, size))
            return tuple(axis for axis in (down, up) if axis)
        steps = self._ancestors(own)
        return (steps,) if steps else ()

    def _ancestors(self, own: int) -> Axis:
        tree, values = self._tree, self.domain.values  # type: ignore[union-attr]  # a tree is over categories
        node, held, steps = tree.position(values[own]), {own}, []
        while tree.parent[node] != node:
            node = tree.parent[node]
            codes = {values.index(leaf) for leaf in tree.leaves[tree.low[node] : tree.high[node] + 1]}
            steps.append(tuple(sorted(codes - held)))
            held |= codes
        return tuple(steps)

    @property
    def _tree(self) -> Taxonomy:
        if self.tree is None:
            raise UsageError(f"'{self.column}' has no hierarchy for language 'tree'.")
        return self.tree

    @property
    def most(self) -> int:
        """The number of sets around the value that has the most: a price may not depend on the record's own."""
        size = self.domain.size
        if self.language == "sets":
            return 1 << (size - 1)
        if self.language == "range":
            return (size + 1) ** 2 // 4
        return self.most_steps + 1

    @property
    def most_steps(self) -> int:
        """Steps of all axes, for the value that has the most; the column's cells are one more."""
        size = self.domain.size
        if self.language in ("sets", "range"):
            return size - 1
        if self.language == "own":
            return min(size - 1, 1)
        return max(len(self._ancestors(code)) for code in range(size))


@dataclass(frozen=True)
class Vocabularies:
    """The languages of all columns of a question."""

    each: tuple[Vocabulary, ...]

    @property
    def most(self) -> int:
        """The largest number of contexts over all values that the record could have."""
        return prod(one.most for one in self.each)

    @property
    def most_log2(self) -> int:
        """Rounded up."""
        return (self.most - 1).bit_length()

    @property
    def text(self) -> str:
        """As the command line writes them."""
        return ",".join(f"{one.column}={one.language}" for one in self.each)

    @property
    def fit(self) -> bool:
        steps, cells = self._size
        return steps <= MOST_STEPS and cells <= MOST_CELLS

    @property
    def _size(self) -> tuple[int, int]:
        return sum(one.most_steps for one in self.each), prod(one.most_steps + 1 for one in self.each)

    def check(self) -> None:
        """Refuse what does not fit a machine word or the cube."""
        if not self.fit:
            steps, cells = self._size
            raise UsageError(
                f"these columns have {steps} choices and {cells} cells; at most {MOST_STEPS} and {MOST_CELLS} fit.",
                hint="Name fewer columns in 'by', declare coarser values or bins, or write the contexts in smaller languages: "
                f'--contexts "{",".join(f"{one.column}=own" for one in self.each)}" has the fewest.',
            )


def parse_languages(text: str) -> dict[str, str]:
    """Languages as the command line writes them: `job=sets,city=own`.

    >>> parse_languages("job=sets, age=range")
    {'job': 'sets', 'age': 'range'}
    """
    found: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        column, equals, language = (piece.strip() for piece in part.partition("="))
        if not equals or column in found:
            raise UsageError(
                f"contexts are written column=language,column=language with each column once, got '{part}'."
            )
        if language not in LANGUAGES:
            raise UsageError(
                f"'{language}' is no language for contexts: {', '.join(LANGUAGES)}.",
                hint=nearest_name(language, LANGUAGES),
            )
        found[column] = language
    return found


def vocabularies(declaration: Declaration, by: Sequence[str], given: Mapping[str, str]) -> Vocabularies:
    """The languages asked for, and for other columns the public default: from the declaration alone.

    `sets` everywhere while that makes at most 2^24 contexts. Beyond, bins and ordered values take `range`, a hierarchy `tree`, few values `sets`,
    others `own`; and while there are still more, the column with the most values gives `sets` up for `own`.
    """
    for column in given:
        if column not in by:
            raise UsageError(f"'contexts' names '{column}', which is not in 'by'.", hint=nearest_name(column, by))
    trees = {name: _tree_of(declaration, name) for name in by}
    chosen = {name: given.get(name, "sets") for name in by}
    if not _enough(_made(declaration, chosen, trees)):
        chosen |= {name: _by_declaration(declaration.column(name)) for name in by if name not in given}
    while not _enough(_made(declaration, chosen, trees)):
        loose = [name for name in by if name not in given and chosen[name] == "sets"]
        if not loose:
            break
        chosen[max(loose, key=lambda name: declaration.column(name).groups.size)] = "own"
    return _made(declaration, chosen, trees)


def _made(declaration: Declaration, chosen: Mapping[str, str], trees: Mapping[str, Taxonomy | None]) -> Vocabularies:
    each = []
    for name, asked in chosen.items():
        language, column = asked, declaration.column(name)
        if language == "tree" and trees[name] is None:
            if column.hierarchy != ORDERED:
                raise UsageError(
                    f"column '{name}' declares no hierarchy, which language 'tree' needs.",
                    hint=f"Declare hierarchy for [columns.{name}], or choose sets, own or range.",
                )
            language = "range"  # a declared order has no tree but its runs
        each.append(Vocabulary(name, column.groups, language, trees[name]))
    return Vocabularies(tuple(each))


def _enough(languages: Vocabularies) -> bool:
    return languages.most <= ENOUGH and languages.fit


def _by_declaration(column: Column) -> str:
    if column.hierarchy is not None and column.hierarchy != ORDERED:
        return "tree"
    if isinstance(column.groups, Bins) or column.hierarchy == ORDERED:
        return "range"
    return "sets" if column.groups.size <= FEW else "own"


def _tree_of(declaration: Declaration, name: str) -> Taxonomy | None:
    column = declaration.column(name)
    groups = column.groups
    if column.hierarchy is None or isinstance(groups, Bins):
        return None
    folder: Path | None = declaration.path.parent if declaration.path is not None else None
    return taxonomy(column.hierarchy, groups.values, column=name, folder=folder)
