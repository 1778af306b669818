"""Which row of the table stands behind which line of a published file, where the file itself must say it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wallflower.publish.population import Population
from wallflower.publish.published_file import PublishedGroup

Whole = NDArray[np.int64]


def members_of(table: Population, published: Sequence[PublishedGroup]) -> tuple[list[Whole], int]:
    """Rows for each group, and how many lines no row is left for.

    A line can stand for any row that lies in its box and holds its value. Where boxes overlap there may be several ways to hand
    rows out; this takes one (each value by itself, augmenting paths in canonical order), which is the truth wherever the file allows only one.
    """
    by_value: dict[tuple[int, ...], dict[int, int]] = {}
    for g, group in enumerate(published):
        for value in map(tuple, group.held.tolist()):
            lines = by_value.setdefault(value, {})
            lines[g] = lines.get(g, 0) + 1
    holders: dict[tuple[int, ...], list[int]] = {}
    for row, value in enumerate(map(tuple, table.places[:, table.quasi :].tolist())):
        if value in by_value:
            holders.setdefault(value, []).append(row)
    found: list[list[int]] = [[] for _ in published]
    missing = 0
    for value, lines in by_value.items():
        handed = _handed(table, published, lines, holders.get(value, []))
        for row, g in handed.items():
            found[g].append(row)
        missing += sum(lines.values()) - len(handed)
    return [np.array(sorted(rows), dtype=np.int64) for rows in found], missing


def _handed(
    table: Population, published: Sequence[PublishedGroup], lines: dict[int, int], rows: list[int]
) -> dict[int, int]:
    """Row → group for as many lines of one value as possible. Rows in few boxes go first, which leaves little to repair."""
    places = table.places[rows, : table.quasi]
    inside: dict[int, list[int]] = {row: [] for row in rows}
    for g in lines:
        matches = ((places >= published[g].low) & (places <= published[g].high)).all(axis=1)
        for i in np.flatnonzero(matches):
            inside[rows[i]].append(g)
    room, given = dict(lines), dict[int, int]()
    for row in sorted(rows, key=lambda r: (len(inside[r]), r)):
        path = _path(row, inside, room, given)
        if path:
            room[path[-1][1]] -= 1
            given.update(path)
    return given


def _path(row: int, inside: dict[int, list[int]], room: dict[int, int], given: dict[int, int]) -> list[tuple[int, int]]:
    """Who moves to which group so that `row` gets a line and nobody loses theirs; nothing when there is no way."""
    having: dict[int, list[int]] = {}
    for other, g in given.items():
        having.setdefault(g, []).append(other)
    came = dict.fromkeys(inside[row], row)
    queue = list(came)
    for g in queue:
        if room[g]:
            path = [(came[g], g)]
            while path[0][0] != row:
                before = given[path[0][0]]
                path.insert(0, (came[before], before))
            return path
        for other in having.get(g, []):
            fresh = [h for h in inside[other] if h not in came]
            came |= dict.fromkeys(fresh, other)
            queue += fresh
    return []
