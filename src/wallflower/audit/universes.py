"""Every table over a few values, and every pair of neighbours among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import TypeVar

Value = TypeVar("Value")


def tables(values: Sequence[Value], most_rows: int) -> Iterator[tuple[Value, ...]]:
    """Every multiset of at most `most_rows` rows, the empty one first.

    >>> list(tables("ab", 1))
    [(), ('a',), ('b',)]
    """
    for rows in range(most_rows + 1):
        yield from combinations_with_replacement(values, rows)


def add_remove_pairs(values: Sequence[Value], most_rows: int) -> Iterator[tuple[tuple[Value, ...], tuple[Value, ...]]]:
    """(table, table with one row more), the larger of at most `most_rows` rows. Audits look at a pair both ways.

    >>> list(add_remove_pairs("ab", 1))
    [((), ('a',)), ((), ('b',))]
    """
    place = {value: index for index, value in enumerate(values)}
    for table in tables(values, most_rows - 1):
        for value in values:
            yield table, tuple(sorted((*table, value), key=place.__getitem__))


def replace_one_pairs(values: Sequence[Value], rows: int) -> Iterator[tuple[tuple[Value, ...], tuple[Value, ...]]]:
    """(table, table with one row replaced), all of exactly `rows` rows, each pair once.

    >>> list(replace_one_pairs("ab", 1))
    [(('a',), ('b',))]
    """
    place = {value: index for index, value in enumerate(values)}
    for rest in combinations_with_replacement(values, rows - 1):
        for index, one in enumerate(values):
            for other in values[index + 1 :]:
                yield (
                    tuple(sorted((*rest, one), key=place.__getitem__)),
                    tuple(sorted((*rest, other), key=place.__getitem__)),
                )
