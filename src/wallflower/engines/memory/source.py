"""Rows that are already in memory: a pandas or polars frame, or an Arrow table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.engines.base import Rows
from wallflower.engines.memory.dialect import kind_of
from wallflower.engines.memory.frames import arrow_column, column_names, without_rows
from wallflower.engines.memory.people import identities, moments
from wallflower.engines.memory.rows import MemoryRows, read_column, read_unclipped
from wallflower.engines.profile import MOST_TEXTS, Tally
from wallflower.engines.reading_rule import State, cell_text, id_text, key_rule
from wallflower.engines.redaction import broken, quietly
from wallflower.engines.suggestions import Counted
from wallflower.engines.view import View, find_columns, view_of, wanted_columns, with_key
from wallflower.schema.declaration import Declaration


@dataclass(frozen=True)
class MemorySource:
    """A frame with its declaration; nothing is converted before a view opens."""

    frame: Any = field(repr=False)
    declaration: Declaration

    @contextmanager
    def rows(self, columns: Sequence[str], /) -> Iterator[Rows]:
        yield self.open(columns)

    def verify(self, columns: Sequence[str], /) -> None:
        self._view(without_rows(self.frame), columns)

    def open(self, columns: Sequence[str]) -> MemoryRows:
        view, cells = self._view(self.frame, columns)
        return quietly(lambda: MemoryRows.read(view, cells, len(self.frame)), broken)

    def tally(self, columns: Sequence[str]) -> Tally:
        """For the owner alone (`profile.examine`)."""
        view, cells = self._view(self.frame, columns)
        return quietly(lambda: _tally(view, cells, len(self.frame)), broken)

    def _text(self, name: str) -> Callable[[object], str | None]:
        return id_text if name == self.declaration.person else cell_text

    def _view(self, frame: Any, columns: Sequence[str]) -> tuple[View, Mapping[str, Any]]:
        wanted = wanted_columns(self.declaration, columns)
        needed = with_key(self.declaration, wanted)
        find_columns(needed, column_names(frame))
        cells = quietly(lambda: {name: arrow_column(frame, name, self._text(name)) for name in needed}, broken)
        kinds = {name: kind_of(name, cells[name].type) for name in needed}
        return view_of(self.declaration, wanted, kinds), cells


def _tally(view: View, cells: Mapping[str, Any], rows: int) -> Tally:
    states, spoilt, strays = {}, {}, {}
    for name in view.columns:
        if name not in cells:  # a count of a person's rows has no cells
            continue
        seen = read_column(cells[name], view.rules[name]).states
        found, counts = np.unique(seen, return_counts=True)
        states[name] = {State(state): int(count) for state, count in zip(found, counts, strict=True)}
        spoilt[name] = _commonest(cells[name], seen == State.UNREADABLE)
        strays[name] = _commonest(cells[name], (seen == State.BELOW) | (seen == State.ABOVE))
    counted: dict[str, Any] = {"rows": rows, "states": states, "spoilt": spoilt, "strays": strays}
    whole = MemoryRows.read(view, cells, rows)
    kept = int(np.count_nonzero(whole.stays))
    if whole.joined is not None and view.people is not None:
        whose, ids = identities(cells[view.people.person], view.people)
        with_id = int(np.count_nonzero(whose >= 0))
        left = len(whole.joined.whose)
        _, timed = moments(view.people, cells, read_unclipped)
        return Tally(
            **counted,
            leaving=left - kept,
            repeated_keys=0,
            rows_without_key=rows - with_id,
            people=len(ids),
            beyond=with_id - left if view.people.rows is not None else 0,
            untimed=None if view.people.time is None else int(np.count_nonzero(~timed & (whose >= 0))),
        )
    repeated, without = 0, 0
    if view.declaration.key is not None and view.key_kind is not None:
        rule = key_rule(view.declaration.key, view.key_kind, "any")
        key = cells[view.declaration.key]
        named = np.isin(read_column(key, rule).states, [State.INSIDE, State.ABOVE])
        _, counts = np.unique(np.array(key.to_pylist(), dtype=object)[named].astype(str), return_counts=True)
        repeated, without = int(np.count_nonzero(counts > 1)), int(np.count_nonzero(~named))
    return Tally(**counted, leaving=rows - kept, repeated_keys=repeated, rows_without_key=without)


def _commonest(cells: Any, here: NDArray[np.bool_]) -> Counted:
    import pyarrow as pa

    if not here.any():
        return ()
    texts = Counter(str(value) for value in cells.filter(pa.array(here)).to_pylist())
    return tuple(sorted(texts.items(), key=lambda each: (-each[1], each[0]))[:MOST_TEXTS])
