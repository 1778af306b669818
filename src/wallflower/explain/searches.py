"""The paper's searches over connected contexts, each written once.

A search asks for choices and is sent the chosen context: `draw` answers with the exact mechanisms, `distributions` with every
possible answer in turn, so what is audited is what runs. A `Pick` that is scored costs one selection with the exponent; one
that is not is uniform and costs nothing. Which picks are made depends on the valid set and the answers so far alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wallflower.explain.selection import Selection
from wallflower.mechanisms.uniform import Uniform
from wallflower.noise.entropy import Entropy

START_PROBES = 2**20
"""How many contexts of the public order are looked at for one to start from."""
ATTEMPTS = 2**20
"""How many contexts `uniform` draws at most."""
FIRST_BATCH, BATCH = 16, 1024
"""Contexts decided together; how many changes no answer."""


@dataclass(frozen=True)
class Pick:
    """A request for one of `candidates`, which may repeat."""

    candidates: Sequence[int]
    scored: bool


Search = Generator[Pick, int, int | None]
"""Ends with the released context, or None when there is none."""


class Graph(Protocol):
    """Contexts, which of them are valid, and which differ by one value."""

    @property
    def count(self) -> int: ...

    def valid(self, indices: Sequence[int], /) -> list[bool]: ...

    def connected(self, index: int, /) -> list[int]: ...


def first_valid(graph: Graph) -> int | None:
    """Where a search starts unless the asker says: the first valid context of a fixed public order.

    The order is a multiplication modulo the number of contexts, which scatters. It must not be chosen by utility: that alone
    gives rows away (tests/explain/test_attacks.py).
    """
    stride = 0x9E3779B97F4A7C15
    while gcd(stride, graph.count) != 1:  # else the order would come back to where it began before every context came
        stride += 2
    probed, batch = 0, FIRST_BATCH
    while probed < min(graph.count, START_PROBES):
        order = [(place * stride + 1) % graph.count for place in range(probed, min(probed + batch, graph.count))]
        for index, good in zip(order, graph.valid(order), strict=True):
            if good:
                return index
        probed, batch = probed + batch, min(2 * batch, BATCH)
    return None


def exact(every: Sequence[int]) -> Search:
    """One selection among all valid contexts. `every` lists them."""
    return (yield Pick(every, scored=True)) if len(every) else None


def uniform(graph: Graph, samples: int, *, attempts: int = ATTEMPTS, batch: int = BATCH) -> Search:
    """Draw contexts uniformly, keep the first `samples` valid ones with repeats, select one of them.

    The paper's loop never ends when there are few valid contexts; this one stops after `attempts`, and has no answer when none was valid.
    """
    found: list[int] = []
    while len(found) < samples and attempts > 0:
        drawn = []
        for _ in range(min(batch, attempts)):
            drawn.append((yield Pick(range(graph.count), scored=False)))  # noqa: PERF401 - a comprehension cannot yield
        attempts -= len(drawn)
        found += [index for index, good in zip(drawn, graph.valid(drawn), strict=True) if good]
    found = found[:samples]
    return (yield Pick(found, scored=True)) if found else None


def walk(graph: Graph, start: int | None, samples: int) -> Search:
    """A random walk over valid contexts, then one selection among those it visited, with repeats."""
    if start is None or not graph.valid([start])[0]:
        return None
    path = [start]
    while len(path) < samples:
        around = _valid_around(graph, path[-1], ())
        if not around:
            break
        path.append((yield Pick(around, scored=False)))
    return (yield Pick(path, scored=True))


def dfs(graph: Graph, start: int | None, samples: int) -> Search:
    """Go deeper by selection, back up when there is nowhere to go; then one selection among the `samples` + 1 visited."""
    if start is None or not graph.valid([start])[0]:
        return None
    stack, visited = [start], [start]
    while stack and len(visited) <= samples:
        children = _valid_around(graph, stack[-1], visited)
        if not children:
            stack.pop()
            continue
        chosen = yield Pick(children, scored=True)
        stack.append(chosen)
        visited.append(chosen)
    return (yield Pick(visited, scored=True))


def bfs(graph: Graph, start: int | None, samples: int) -> Search:
    """Visit the selected one of all seen so far, `samples` times after the start; then one selection among the visited."""
    if start is None or not graph.valid([start])[0]:
        return None
    waiting, visited = [start], list[int]()
    while waiting and len(visited) <= samples:
        chosen = waiting[0] if not visited else (yield Pick(list(waiting), scored=True))
        waiting.remove(chosen)
        visited.append(chosen)
        waiting += _valid_around(graph, chosen, [*visited, *waiting])
    return (yield Pick(visited, scored=True))


def selections(search: str, samples: int) -> int:
    """How many scored picks a search makes at most: what its exponent is divided by."""
    return samples + 1 if search in {"dfs", "bfs"} else 1


def draw(
    search: Search, scores: Callable[[NDArray[np.int64]], NDArray[np.int64]], selection: Selection, entropy: Entropy
) -> int | None:
    """Run a search with real choices."""
    uniformly = Uniform()
    try:
        pick = next(search)
        while True:
            if pick.scored:
                where = selection(scores(np.asarray(pick.candidates, dtype=np.int64)), entropy)
            else:
                where = uniformly(len(pick.candidates), entropy)
            pick = search.send(int(pick.candidates[where]))
    except StopIteration as end:
        answer: int | None = end.value
        return answer


def _valid_around(graph: Graph, index: int, known: Sequence[int]) -> list[int]:
    seen = set(known)
    around = [other for other in graph.connected(index) if other not in seen]
    return [other for other, good in zip(around, graph.valid(around), strict=True) if good]
