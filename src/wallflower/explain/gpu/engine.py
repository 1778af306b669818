"""Every context of a problem decided by a device: flags, counts of scores, and the contexts of a drawn score.

Only counts leave the device after the first pass, one for every score that a valid context has; the second finds the contexts of the scores drawn, in order of
their indices, so that ranks mean what they mean on the processor (`streaming`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.contexts import Side
from wallflower.explain.gpu.problems import Problem
from wallflower.explain.gpu.slices import Slices, sliced
from wallflower.progress import report

WARPS = 4
MOST_RUN = {"grubbs": 1024, "histogram": 32 * WARPS, "lof": 128}
"""Contexts of a slice."""
TOGETHER = 2**27
"""Contexts of one launch, at most: fractions of a second."""
FLAGGED = 2**26
"""Contexts whose flags are held at once."""
SCORES_AT_ONCE = 250
"""Wanted scores of one pass: a flag is a byte."""
NONE = np.uint64(0)


class Runner(Protocol):
    """A device, or something that does as one does."""

    @property
    def shared_bytes(self) -> int:
        """Fast memory of a block."""
        ...

    def put(self, array: NDArray[Any], /) -> Any:
        """A copy on the device."""
        ...

    def zeros(self, size: int, kind: type, /) -> Any: ...

    def get(self, array: Any, /) -> NDArray[Any]: ...

    def run(self, kernel: str, blocks: int, shared: int, room: int, arguments: Sequence[Any], /) -> None:
        """Start a kernel; `shared` bytes of fast memory a block, or `room` of slow memory where that is too small."""
        ...

    def wait(self) -> None: ...


class Engine:
    """One problem on one device."""

    def __init__(self, problem: Problem, runner: Runner, score: NDArray[np.int64] | None = None) -> None:
        """`score`: of each cell of the problem; rows, where it is not given."""
        self._problem, self._runner = problem, runner
        self._score = problem.rows if score is None else score

    @cached_property
    def slices(self) -> Slices:
        problem = self._problem
        fits = lambda kinds: problem.kernel != "lof" or self._lof_bytes(kinds) <= self._runner.shared_bytes  # noqa: E731 - one use
        return sliced(problem.levels, problem.words, most_run=MOST_RUN[problem.kernel], fits=fits)

    # Arguments, in the order of kernels.cu.

    @cached_property
    def _layout(self) -> list[Any]:
        slices, put = self.slices, self._runner.put
        stats = np.insert(self._problem.stats, 1, self._score, axis=0)[:, slices.order]
        sizes, strides, bits = slices.digits
        return [
            put(sizes), put(strides), put(bits), np.int64(len(sizes)),
            put(slices.members), np.int64(slices.run),
            put(slices.starts), np.int64(len(slices.kinds)),
            put(slices.high_part(slices.words)[slices.order]), np.int64(len(slices.words)),
            put(np.ascontiguousarray(stats)),
        ]  # fmt: skip

    @cached_property
    def _wide(self) -> bool:
        """Whether distances and sums of reaches need 64 bits."""
        if self._problem.kernel != "lof":
            return True
        furthest = max(int(side.gaps.max(initial=0)) for side in (self._problem.below, self._problem.above))
        rows = sum(self._room)
        return 2 * (furthest + 1) * (rows + 2) >= 2**31 or int(self._problem.rows.sum()) >= 2**26

    @property
    def _room(self) -> tuple[int, int, int]:
        """For LOF: rows a side that are taken one by one, twice, and copies of the record's own."""
        k = int(self._problem.settings[0])
        side = 2 * k + k // 4 + 32  # what a side needs, ties, and the rest of the last 32 entries looked at
        return side, side, k // 2 + 2 + k % 2

    def _list_room(self, kinds: int) -> int:
        """Entries of a slice's list on one side, at most."""
        longest = max(len(self._problem.below.gaps), len(self._problem.above.gaps))
        return min(kinds * 2 * int(self._problem.settings[0]), longest) + 1

    def _lof_bytes(self, kinds: int) -> int:
        number = 8 if self._wide else 4
        return 4 * self._list_room(kinds) * number + WARPS * sum(self._room) * (3 * number + 4)

    def _values(self, side: Side) -> list[Any]:
        kind = np.int64 if self._wide else np.int32
        tags = (side.copies << 5) | self.slices.kinds_of(side.words)
        put = self._runner.put
        return [
            put(side.gaps.astype(kind)), put(self.slices.high_part(side.words)), put(tags.astype(kind)), np.int64(len(tags)),
        ]  # fmt: skip

    @cached_property
    def _own(self) -> list[Any]:
        """What only this detector's kernel takes."""
        problem = self._problem
        if problem.kernel == "grubbs":
            return [*(self._runner.put(one) for one in problem.tables), *map(np.int64, problem.settings)]
        values = [*self._values(problem.below), *self._values(problem.above)]
        if problem.kernel == "histogram":
            return [*values, *map(np.int64, problem.settings)]
        k, limit = problem.settings
        side, _, copies = self._room
        lists = self._list_room(len(self.slices.kinds))
        return [*values, np.int64(k), np.float64(limit), np.int64(lists), np.int64(side), np.int64(copies)]

    def _launch(
        self,
        first: int,
        slices: int,
        *,
        levels: Any = NONE,
        wanted: Any = NONE,
        wants: int = 0,
        seen: Any = NONE,
        out: Any = NONE,
    ) -> None:
        kernel, shared = self._problem.kernel, 0
        if kernel == "lof":
            kernel = "lof_wide" if self._wide else "lof_narrow"
            shared = self._lof_bytes(len(self.slices.kinds))
        common = [
            np.int64(first),
            np.int64(slices),
            np.int64(self._problem.least),
            levels,
            wanted,
            np.int64(wants),
            seen,
            out,
        ]
        self._runner.run(kernel, slices, shared, shared, [*self._layout, *common, *self._own])

    def _pieces(self, most: int) -> Iterator[tuple[int, int]]:
        """First slice and number of slices of each launch."""
        together = max(1, most // self.slices.run)
        for first in range(0, self.slices.count, together):
            yield first, min(together, self.slices.count - first)

    def _told(self, label: str, done: int) -> None:
        report(label, done * self.slices.run, self.slices.count * self.slices.run)

    # Answers.

    def flags(self) -> NDArray[np.bool_]:
        """Whether each context is valid."""
        found = []
        for first, slices in self._pieces(FLAGGED):
            found.append(self.flags_of(first, slices))
            self._told("contexts", first + slices)
        return np.concatenate(found)

    def flags_of(self, first: int, slices: int) -> NDArray[np.bool_]:
        """Whether each context of these slices is valid."""
        out = self._runner.zeros(slices * self.slices.run, np.uint8)
        self._launch(first, slices, out=out)
        found: NDArray[np.bool_] = self._runner.get(out) != 0
        return found

    def histogram(self) -> NDArray[np.uint64]:
        """How many valid contexts have each score from 0 on, counted on the device."""
        levels = self._runner.zeros(int(self._score.sum()) + 1, np.uint64)
        for first, slices in self._pieces(TOGETHER):
            self._launch(first, slices, levels=levels)
            self._runner.wait()
            self._told("contexts, first pass", first + slices)
        return self._runner.get(levels)

    def counted(self) -> Counter[int]:
        """The scores that a valid context has, and how many have each."""
        counts = self.histogram()
        held = np.flatnonzero(counts)
        return Counter(dict(zip(held.tolist(), counts[held].tolist(), strict=True)))

    def found(self, wanted: Mapping[int, Sequence[int]]) -> tuple[dict[tuple[int, int], int], Counter[int]]:
        """The index of each (score, rank), and how many contexts of each of these scores there are."""
        places: dict[tuple[int, int], int] = {}
        totals: Counter[int] = Counter()
        scores = sorted(wanted)
        for begin in range(0, len(scores), SCORES_AT_ONCE):
            self._find(scores[begin : begin + SCORES_AT_ONCE], wanted, places, totals)
        return places, totals

    def _find(
        self,
        scores: list[int],
        wanted: Mapping[int, Sequence[int]],
        places: dict[tuple[int, int], int],
        totals: Counter[int],
    ) -> None:
        asked = self._runner.put(np.array(scores, dtype=np.int64))
        for first, slices in self._pieces(FLAGGED):
            seen = self._runner.zeros(len(scores), np.uint64)
            out = self._runner.zeros(slices * self.slices.run, np.uint8)
            self._launch(first, slices, wanted=asked, wants=len(scores), seen=seen, out=out)
            here = dict(zip(scores, self._runner.get(seen).tolist(), strict=True))
            inside = [
                (score, rank) for score in scores for rank in wanted[score] if 0 <= rank - totals[score] < here[score]
            ]
            flags = self._runner.get(out) if inside else None
            for score, rank in inside:
                of_score = np.flatnonzero(flags == scores.index(score) + 1)
                places[score, rank] = first * self.slices.run + int(of_score[rank - totals[score]])
            totals.update(here)
            self._told("contexts, second pass", first + slices)
