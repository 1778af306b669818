"""A cluster without a JVM: rows in partitions of any size, parts that begin anywhere, tasks and their answers pickled, in any order."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np

from wallflower.engines.partition import Cut, together


def sent(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


@dataclass
class Shuffling:
    """`executors.Spread` that does anyhow whatever may be done anyhow."""

    rows: Any
    random: Any
    seen: list[int]
    """How many rows each part had."""

    def __len__(self) -> int:
        return len(self.rows)

    def cut(self, column, *, below, above, most, copies=None):
        """Where parts begin is nobody's business: at values of rows, between them, outside of all of them."""
        values = self.rows[:, column] if len(self.rows) else np.zeros(1, dtype=np.int64)
        low, high = int(values.min()) - 3, int(values.max()) + 4
        many = int(self.random.integers(0, max(2, min(12, 2 * len(self.rows) // max(1, most) + 2))))
        starts = (
            self.random.integers(low, high, many) if self.random.random() < 0.5 else self.random.choice(values, many)
        )
        return Cut(column, below, above, tuple(sorted(set(starts.tolist()))), copies)

    def each(self, task, cut):
        arrived: dict[int, list[Any]] = {}
        for partition in self._partitions():
            merged = together(partition, np.ones(len(partition), dtype=np.int64))
            which, parts = cut.travel(merged.numbers)
            for part in np.unique(parts).tolist():
                chosen = which[parts == part]
                arrived.setdefault(part, []).append((merged.numbers[chosen], merged.times[chosen]))
        order = self.random.permutation(np.array(sorted(arrived), dtype=np.int64)).tolist()
        return [self._done(task, cut, part, arrived[part]) for part in order]

    def _done(self, task, cut, part, entries):
        entries = [entries[at] for at in self.random.permutation(len(entries))]
        strip = cut.strip(part, *(np.concatenate([one[side] for one in entries]) for side in (0, 1)))
        self.seen.append(len(strip.rows))
        return sent(sent(task)(strip))

    def _partitions(self):
        rows = self.random.permutation(self.rows)
        ends = np.sort(self.random.integers(0, len(rows) + 1, int(self.random.integers(0, 4))))
        return np.split(rows, ends)  # some of them empty

    def kept(self, task, cut, *, width):
        found = self.each(task, cut)
        rows = np.concatenate([np.empty((0, width), dtype=np.int64), *(rows for rows, _ in found)])
        return Shuffling(rows, self.random, self.seen), [told for _, told in found]

    def over(self, task):
        return [sent(task)(at, iter(np.array_split(rows, 2))) for at, rows in enumerate(self._partitions())]

    def having(self, value):
        return Shuffling(self.rows[self.rows[:, -1] == value, :-1], self.random, self.seen)

    def ascending(self, by):
        return Sorted(self.rows[np.lexsort([self.rows[:, at] for at in reversed(by)])], self.random, self.seen)

    def whole(self):
        return self.random.permutation(self.rows)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Sorted(Shuffling):
    """Its partitions stay as they are."""

    def _partitions(self):
        return np.split(self.rows, [len(self.rows) // 3, len(self.rows) // 3, len(self.rows) // 2])


class OnCluster:
    """The rows of any engine, as if they lay on this cluster."""

    def __init__(self, rows, seed=0) -> None:
        self._rows, self.random, self.seen = rows, np.random.default_rng(seed), []

    def __getattr__(self, name):
        return getattr(self._rows, name)

    @property
    def executors(self):
        return self

    def run(self, task, payloads):
        return [sent(sent(task)(sent(each))) for each in payloads]

    def spread(self, columns):
        return Shuffling(self._rows.fetch(numbers=columns).numbers, self.random, self.seen)
