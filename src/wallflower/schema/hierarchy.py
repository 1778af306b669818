"""Taxonomies: how a category is generalised, read from an ARX hierarchy file or from nested TOML.

A taxonomy puts the declared values (its leaves) in an order in which every node is an interval (Definition 3.4 of the
plain k-anonymity paper): children stand in the order of the file, leaves in the order a walk down the tree meets them.
A set of values is generalised to the smallest node that covers it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.hierarchy_builders import built, is_built

ROOT = "*"
ORDERED = "ordered"
"""`hierarchy = "ordered"`: every run of the declared order is a node, as for numbers."""

Tree = Mapping[str, "Tree | None"]
"""A node's children by label, in order; None is a leaf."""


@dataclass(frozen=True)
class Taxonomy:
    """Nodes as intervals of leaf order. Nodes 0 … size − 1 are the leaves; the root is the last node and its own parent.

    >>> tree = nested({"America": ["USA", "Canada"], "Asia": ["Japan"]}, ["USA", "Canada", "Japan"], column="country")
    >>> tree.leaves, tree.text(0, 1), tree.text(1, 2), tree.text(2, 2)
    (('USA', 'Canada', 'Japan'), 'America', '*', 'Japan')
    """

    leaves: tuple[str, ...]
    labels: tuple[str, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    parent: tuple[int, ...]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {label: node for node, label in enumerate(self.labels)}

    @property
    def size(self) -> int:
        return len(self.leaves)

    def position(self, value: str) -> int:
        """The place of a leaf in leaf order."""
        return self._places[value]

    def node(self, label: str) -> int | None:
        return self._places.get(label)

    def cover(self, low: int, high: int) -> int:
        """The smallest node that covers the leaves from `low` to `high`."""
        node = low
        while self.high[node] < high or self.low[node] > low:
            node = self.parent[node]
        return node

    def text(self, low: int, high: int) -> str:
        return self.labels[self.cover(low, high)]

    def starts(self, node: int) -> tuple[int, ...]:
        """Where the children of `node` begin, in leaf order."""
        return tuple(
            sorted(self.low[child] for child in range(len(self.parent)) if self.parent[child] == node != child)
        )


def taxonomy(hierarchy: object, values: Sequence[str], *, column: str, folder: Path | None) -> Taxonomy | None:
    """The taxonomy a declaration asks for; None when it asks for the declared order (`"ordered"`).

    Without a hierarchy all values stand under one root, as the paper does for values without semantic relations.
    """
    if hierarchy is None:
        return nested(list(values), values, column=column)
    if isinstance(hierarchy, Mapping) and is_built(hierarchy):
        return arx(built(hierarchy, values, column=column), values, column=column)
    if isinstance(hierarchy, str):
        if hierarchy == ORDERED:
            return None
        return arx(_read(Path(hierarchy) if folder is None else folder / hierarchy, column), values, column=column)
    return nested(hierarchy, values, column=column)


def nested(hierarchy: object, values: Sequence[str], *, column: str) -> Taxonomy:
    """From nested TOML: tables are inner nodes, lists hold leaves."""
    return _numbered(_from_toml(hierarchy, column), values, column)


def arx(lines: Iterable[Sequence[str]], values: Sequence[str], *, column: str) -> Taxonomy:
    """From the lines of an ARX hierarchy file: value, level 1, level 2, …; every line as long as the first."""
    rows = [tuple(line) for line in lines if line]
    if not rows:
        raise DeclarationError(f"the hierarchy of column '{column}' is empty.")
    depth = len(rows[0])
    above: list[dict[str, str]] = [{} for _ in range(depth)]
    seen: set[str] = set()
    for row in rows:
        if len(row) != depth:
            raise DeclarationError(
                f"the hierarchy of column '{column}' has {len(row)} levels for '{row[0]}' and {depth} before it."
            )
        if row[0] in seen:
            raise DeclarationError(f"the hierarchy of column '{column}' lists '{row[0]}' twice.")
        seen.add(row[0])
        for level, (label, parent) in enumerate(pairwise(row)):
            if above[level].setdefault(label, parent) != parent:
                raise DeclarationError(
                    f"the hierarchy of column '{column}' is not nested: '{label}' at level {level} lies under both "
                    f"'{above[level][label]}' and '{parent}'."
                )
    tree: dict[str, Tree | None] = {}
    for row in rows:
        branch = tree
        for label in reversed(row[1:]):
            branch = branch.setdefault(label, {})  # type: ignore[assignment]  # levels above 0 are never leaves
        branch[row[0]] = None
    return _numbered(tree, values, column)


def _read(path: Path, column: str) -> list[list[str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise DeclarationError(
            f"the hierarchy of column '{column}' cannot be read from '{path.name}'.",
            hint="Give a UTF-8 file in ARX form (value;level1;...;*), relative to the declaration.",
        ) from problem
    first = text.split("\n", 1)[0]
    return list(csv.reader(text.splitlines(), delimiter=";" if ";" in first else ","))


def column_of_file(path: Path, names: Sequence[str]) -> str:
    """The column that a hierarchy file is named like; of two that fit, the longer name.

    >>> column_of_file(Path("staff_hierarchy_job_title.csv"), ["title", "job_title"])
    'job_title'
    """
    stem = path.stem.casefold().replace("hierarchy", "").strip("_- ")
    for name in sorted(names, key=len, reverse=True):
        if stem == name.casefold() or stem.endswith(f"_{name.casefold()}"):
            return name
    raise UsageError(
        f"'{path.name}' is not named like a column of the data.",
        hint=f"Name it like its column, such as {names[0]}.csv.",
    )


def leaves_of_file(path: Path) -> tuple[str, ...]:
    """The values of an ARX hierarchy file in its order, each once: a public list that came with the data's definition."""
    return tuple(dict.fromkeys(line[0] for line in _read(path, path.stem) if line and line[0]))


@dataclass(frozen=True)
class Difference:
    """Where the leaves of a hierarchy are not the declared values; both empty where they are."""

    uncovered: tuple[str, ...]
    """Declared values that are no leaf."""
    undeclared: tuple[str, ...]
    """Leaves that are no declared value."""


def difference(hierarchy: object, values: Sequence[str], *, column: str, folder: Path | None) -> Difference:
    """Every leaf that differs, for the owner; a taxonomy is refused at the first."""
    if hierarchy is None or hierarchy == ORDERED or (isinstance(hierarchy, Mapping) and is_built(hierarchy)):
        return Difference((), ())  # made from the values themselves
    if isinstance(hierarchy, str):
        lines = _read(Path(hierarchy) if folder is None else folder / hierarchy, column)
        leaves = list(dict.fromkeys(line[0] for line in lines if line))
    else:
        leaves = list(_leaves(_from_toml(hierarchy, column)))
    return Difference(
        tuple(value for value in values if value not in set(leaves)),
        tuple(leaf for leaf in leaves if leaf not in set(values)),
    )


def _leaves(tree: Tree) -> Iterator[str]:
    for label, children in tree.items():
        if children is None:
            yield label
        else:
            yield from _leaves(children)


def _from_toml(hierarchy: object, column: str) -> Tree:
    if isinstance(hierarchy, Mapping) and hierarchy:
        return {str(label): _from_toml(children, column) for label, children in hierarchy.items()}
    if isinstance(hierarchy, Sequence) and not isinstance(hierarchy, str) and hierarchy:
        leaves = [leaf if isinstance(leaf, str) else None for leaf in hierarchy]
        if all(leaf is not None for leaf in leaves) and len(set(leaves)) == len(leaves):
            return {str(leaf): None for leaf in leaves}
    raise DeclarationError(
        f"the hierarchy of column '{column}' must be nested tables that end in lists of different values, got {hierarchy!r}.",
        hint='For example hierarchy = {America = ["USA", "Canada"], Asia = ["Japan"]}.',
    )


def _numbered(tree: Tree, values: Sequence[str], column: str) -> Taxonomy:
    """Number leaves in walking order, then inner nodes; a node with one child is that child."""
    if len(tree) == 1:
        ((label, only),) = tree.items()
        if only is not None:
            return _numbered(only, values, column) if len(only) == 1 else _build(label, only, values, column)
    return _build(ROOT, tree, values, column)


def _build(root: str, tree: Tree, values: Sequence[str], column: str) -> Taxonomy:
    leaves: list[str] = []
    inner: list[tuple[str, int, int]] = []

    def walk(label: str, children: Tree | None) -> None:
        if children is None:
            leaves.append(label)
            return
        first = len(leaves)
        for name, below in children.items():
            walk(name, below)
        if len(children) > 1:
            inner.append((label, first, len(leaves) - 1))

    walk(root, tree)
    _covered(leaves, values, column)
    nodes = [(leaf, place, place) for place, leaf in enumerate(leaves)] + inner
    labels = [label for label, _, _ in nodes]
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise DeclarationError(
            f"the hierarchy of column '{column}' uses '{repeated[0]}' for two different sets of values.",
            hint="A published label must mean one set: rename one of them.",
        )
    # Walking order lists children before parents, so the first wider node that follows is the parent.
    parent = [_parent(nodes, node) for node in range(len(nodes))]
    return Taxonomy(tuple(leaves), tuple(labels), tuple(n[1] for n in nodes), tuple(n[2] for n in nodes), tuple(parent))


def _parent(nodes: Sequence[tuple[str, int, int]], node: int) -> int:
    _, low, high = nodes[node]
    first = max(node + 1, next((i for i, (_, a, b) in enumerate(nodes) if a < b), len(nodes)))
    for other in range(first, len(nodes)):
        if nodes[other][1] <= low and high <= nodes[other][2]:
            return other
    return node


def _covered(leaves: Sequence[str], values: Sequence[str], column: str) -> None:
    if len(set(leaves)) != len(leaves):
        twice = next(leaf for leaf in leaves if leaves.count(leaf) > 1)
        raise DeclarationError(f"the hierarchy of column '{column}' lists '{twice}' twice.")
    for missing in [value for value in values if value not in set(leaves)][:1]:
        raise DeclarationError(
            f"the hierarchy of column '{column}' does not cover the declared value '{missing}'.",
            hint="Every declared value must be a leaf, seen in the rows or not.",
        )
    for extra in [leaf for leaf in leaves if leaf not in set(values)][:1]:
        raise DeclarationError(
            f"the hierarchy of column '{column}' holds '{extra}', which is not a declared value.",
            hint=f"Add it to [columns.{column}] values, or take it out of the hierarchy.",
        )
