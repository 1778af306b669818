"""The rule of `engines.people` over Arrow arrays and numpy: one lexicographic sort per column, and the first of every group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.arrow_cells import as_numpy, filled, mask, readable_texts, texts, unfolded, whole
from wallflower.engines.memory.dialect import Cellwise, text_moments, text_states
from wallflower.engines.people import ABOVE, BELOW, INSIDE, OUTSIDE, SATURATION, SPLIT, People, asked_id
from wallflower.engines.reading_rule import CategoryRule, Kind, Rule, State, plain_decimal
from wallflower.schema.declaration import Reducer

Ints = NDArray[np.int64]
NOTHING = 2**62
"""A missing or unreadable cell; above OUTSIDE."""


@dataclass(frozen=True)
class Joined:
    """What is left of a table: for each kept row whose it is (a place in `ids`) and its settled integers."""

    ids: Any
    """One id per person, as an Arrow array."""
    whose: Ints
    """A person's rows lie one after the other, in the order in which they are kept."""
    settled: Mapping[str, Ints]
    stays: NDArray[np.bool_]

    def rows_of(self, people: People, key: str) -> Ints:
        """The rows of the person with this id, in their order."""
        wanted = asked_id(people, key)
        if wanted is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.isin(self.whose, np.flatnonzero(_same(self.ids, wanted, people))))


def joined(
    people: People,
    cells: Mapping[str, Any],
    rules: Mapping[str, Rule],
    read: Callable[[Any, Rule], Cellwise],
) -> Joined:
    """`read` reads a whole column; `rules` are those of the view."""
    whose, ids = identities(cells[people.person], people)
    has_id = whose >= 0
    group = whose[has_id]
    t, timed = moments(people, cells, read)
    carried = {
        name: carry(
            read(cells[name], people.order_rules.get(name) or rules[name]), people.order_rules.get(name) or rules[name]
        )[has_id]
        for name in people.carried
    }
    when = (t[has_id], timed[has_id])
    if people.rows is not None:
        keep = _first(group, when, [carried[name] for name in people.order], people.rows)
        w = {name: carried[name][keep] for name in rules}
        whose = group[keep]
    else:
        w = {
            name: reduced(people.reducers[name], group, carried.get(name), when, people=len(ids), rule=rules[name])
            for name in rules
        }
        whose = np.arange(len(ids), dtype=np.int64)
    settled, stays = {}, np.ones(len(whose), np.bool_)
    for name, rule in rules.items():
        settled[name], stay = settle(w[name], rule)
        stays &= stay
    return Joined(ids, whose, settled, stays)


def identities(cells: Any, people: People) -> tuple[Ints, Any]:
    """For each row the place of its id, −1 without one; and the ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if pa.types.is_dictionary(cells.type):
        cells = unfolded(cells)
    kind = people.person_kind
    none = mask(cells.is_null())
    if kind is Kind.NOTHING:
        return np.full(len(cells), -1, np.int64), texts([])
    if kind is Kind.TEXT:
        cells = _decodable(cells)
        none = none | (text_states(cells, people.person_format.missing_codes) != State.INSIDE)
    elif kind is Kind.DECIMAL:
        cells = cells.cast(pa.string())  # one scale for all: equal numbers are equal texts
    coded = pc.dictionary_encode(cells)
    if kind is not Kind.TEXT:
        codes = [asked_id(people, code) for code in people.person_format.missing_codes]
        spoilt = np.zeros(len(coded.dictionary), np.bool_)
        for code in codes:
            if code is not None:
                spoilt |= _same(coded.dictionary, code, people)
        none = none | np.append(spoilt, False)[as_numpy(filled(coded.indices, len(spoilt)))]
    places = as_numpy(filled(coded.indices, 0)).astype(np.int64)
    used = np.unique(places[~none])
    again = np.full(len(coded.dictionary) + 1, -1, np.int64)
    again[used] = np.arange(len(used))
    return np.where(none, -1, again[places]), coded.dictionary.take(whole(used))


def _decodable(cells: Any) -> Any:
    """Texts; Arrow holds any bytes as such, and those that are none become unreadable ones."""
    import pyarrow as pa

    cells = cells.cast(pa.large_string())
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        return readable_texts(cells)
    return cells


def _same(ids: Any, wanted: object, people: People) -> NDArray[np.bool_]:
    import pyarrow as pa

    if people.person_kind is Kind.DECIMAL:
        return np.array([plain_decimal(text) == wanted for text in ids.to_pylist()], np.bool_)
    if people.person_kind is Kind.BOOLEAN:
        ids = ids.cast(pa.int8())
    if people.person_kind is Kind.DATE:
        ids = ids.cast(pa.date32()).cast(pa.int32())
    return np.array([value == wanted for value in ids.to_pylist()], np.bool_)


def moments(
    people: People, cells: Mapping[str, Any], read: Callable[[Any, Rule], Cellwise]
) -> tuple[Ints, NDArray[np.bool_]]:
    """Something that orders rows, and whether it was readable."""
    import pyarrow as pa

    rows = len(cells[people.person])
    if people.time is None or people.time_kind is Kind.NOTHING:
        return np.zeros(rows, np.int64), np.zeros(rows, np.bool_)
    column = cells[people.time]
    if people.time_rule is not None:
        w = carry(read(column, people.time_rule), people.time_rule)
        return w, w < OUTSIDE
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = unfolded(column)
    if people.time_kind is Kind.TEXT:
        return text_moments(_decodable(column), people.time_format)
    timed = ~mask(column.is_null())
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    elif pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    ticks = as_numpy(filled(column, 0))
    _, order = np.unique(ticks, return_inverse=True)  # their order is all that counts, and no width overflows
    return order.astype(np.int64), timed


def carry(cell: Cellwise, rule: Rule) -> Ints:
    """w of every cell; `cell` holds grid integers that are saturated but not clipped."""
    if isinstance(rule, CategoryRule):
        w = np.where(cell.states == State.ABOVE, OUTSIDE, cell.numbers * 4 + INSIDE)
    else:
        inside = cell.states == State.INSIDE
        number = np.where(inside, np.clip(cell.numbers, rule.first, rule.last), cell.numbers)
        rank = np.where(inside, INSIDE, np.where(cell.states == State.BELOW, BELOW, ABOVE))
        w = number * 4 + rank
    return np.where(cell.states >= State.MISSING, NOTHING, w)


def settle(w: Ints, rule: Rule) -> tuple[Ints, NDArray[np.bool_]]:
    numbers, rank = w >> 2, w & 3
    stays = np.ones(len(w), np.bool_)
    cases = (
        (w == NOTHING, rule.missing),
        (w == OUTSIDE, rule.above),
        ((w < OUTSIDE) & (rank == BELOW), rule.below),
        ((w < OUTSIDE) & (rank == ABOVE), rule.above),
    )
    for here, action in cases:
        if action is None:
            stays &= ~here
        else:
            numbers = np.where(here, action, numbers)
    return numbers, stays


def reduced(
    reducer: Reducer, group: Ints, w: Ints | None, when: tuple[Ints, NDArray[np.bool_]], *, people: int, rule: Rule
) -> Ints:
    """w of every person."""
    if reducer == "rows" or w is None:
        return _ranked(np.bincount(group, minlength=people).astype(np.int64), rule)
    if reducer in {"sum", "mean"}:
        return _added(reducer, group, w, people, rule)
    answer = np.full(people, NOTHING, np.int64)
    answer[group[w == OUTSIDE]] = OUTSIDE
    declared = w < OUTSIDE
    group, w = group[declared], w[declared]
    t, timed = when[0][declared], when[1][declared]
    if reducer == "most-common":
        order = np.lexsort((w, group))
        starts = np.flatnonzero(np.diff(group[order], prepend=-1) | np.diff(w[order], prepend=NOTHING))
        counts = np.diff(starts, append=len(order))
        group, w = group[order][starts], w[order][starts]
        chosen = _first_of(group, (-counts, w))
    else:
        keys = {
            "min": (w,),
            "max": (-w,),
            "latest": (~timed, np.where(timed, -t, 0), w),
            "earliest": (timed, np.where(timed, t, 0), w),
        }[reducer]
        chosen = _first_of(group, keys)
    answer[group[chosen]] = w[chosen]
    return answer


def _first_of(group: Ints, keys: tuple[NDArray[Any], ...]) -> Ints:
    """The place of the smallest of each group, by the keys in order."""
    order = np.lexsort((*reversed(keys), group))
    return order[np.flatnonzero(np.diff(group[order], prepend=-1))]


def _first(group: Ints, when: tuple[Ints, NDArray[np.bool_]], columns: list[Ints], rows: int) -> Ints:
    """The places of the first `rows` rows of each person: person by person, in their order."""
    t, timed = when
    # NOTHING sorts first, as NULL does in a database.
    keys = [timed, np.where(timed, t, 0), *(np.where(w == NOTHING, -NOTHING, w) for w in columns)]
    order = np.lexsort((*reversed(keys), group))
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    rank = np.arange(len(order)) - np.repeat(starts, lengths)
    found: Ints = order[rank < rows]
    return found


def _added(reducer: Reducer, group: Ints, w: Ints, people: int, rule: Rule) -> Ints:
    read = w < OUTSIDE
    group, w = group[read], w[read]
    n = np.bincount(group, minlength=people).astype(np.int64)
    number = w >> 2
    high, low = np.zeros(people, np.int64), np.zeros(people, np.int64)
    np.add.at(high, group, number // SPLIT)
    np.add.at(low, group, number % SPLIT)
    if reducer == "sum":
        top, rest = high + low // SPLIT, low % SPLIT
        most = SATURATION // SPLIT
        total = np.clip(top, -most, most) * SPLIT + np.where((top >= most) | (top < -most), 0, rest)
    else:
        twice = np.maximum(n, 1) * 2
        first, rest = np.divmod(high * 2, twice)
        total = first * SPLIT + (rest * SPLIT + low * 2 + n) // twice
    only = np.full(people, NOTHING, np.int64)
    only[group] = w
    return np.where(n == 0, NOTHING, np.where(n == 1, only, _ranked(total, rule)))


def _ranked(number: Ints, rule: Rule) -> Ints:
    return number * 4 + np.where(number < rule.first, BELOW, np.where(number > rule.last, ABOVE, INSIDE))
