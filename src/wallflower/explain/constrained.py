"""The paper's promise, ε between tables with the same valid contexts, at what each search really costs. Proof: searches.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from wallflower.explain import searches
from wallflower.explain.landscape import Landscape
from wallflower.mechanisms.exponential import Exponential
from wallflower.noise.entropy import Entropy
from wallflower.privacy.guarantees import OutputConstrainedDP

SEARCHES = ("exact", "uniform", "walk", "dfs", "bfs")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A search with the exponent that its budget buys."""

    search: str
    samples: int
    epsilon: Fraction
    sensitivity: int
    monotone: bool
    neighbours: str
    start: tuple[tuple[int, ...], ...] | None
    """Codes of the asker's own starting context; None: the first valid one of the public order."""

    @property
    def selection(self) -> Exponential:
        """Each of the search's selections; together they lose `epsilon`."""
        unit = Exponential(exponent=Fraction(1), monotone=self.monotone)
        loss = unit.guarantee(distance=self.sensitivity, neighbours=self.neighbours).epsilon
        return Exponential(
            exponent=self.epsilon / (loss * searches.selections(self.search, self.samples)), monotone=self.monotone
        )

    def guarantee(self, *, holds_when: str) -> OutputConstrainedDP:
        once = self.selection.guarantee(distance=self.sensitivity, neighbours=self.neighbours)
        total = once.epsilon * searches.selections(self.search, self.samples)
        return OutputConstrainedDP(epsilon=total, neighbours=self.neighbours, holds_when=holds_when)

    def shortfall(self, contexts_log2: int) -> int:
        """The exact search falls short of the best utility by more than this once in twenty times at most."""
        return math.ceil((contexts_log2 * math.log(2) + math.log(20)) / float(self.selection.exponent))

    def run(self, landscape: Landscape, entropy: Entropy) -> int | None:
        """The index of the released context."""
        if self.search == "exact":
            every = landscape.every_valid
            return searches.draw(
                searches.exact(cast("Sequence[int]", every)),
                lambda indices: landscape.every_score[indices],
                self.selection,
                entropy,
            )
        return searches.draw(self._begin(landscape), landscape.scores, self.selection, entropy)

    def _begin(self, landscape: Landscape) -> searches.Search:
        if self.search == "uniform":
            return searches.uniform(landscape, self.samples)
        kind = {"walk": searches.walk, "dfs": searches.dfs, "bfs": searches.bfs}[self.search]
        own = None if self.start is None else landscape.asked.space.index(self.start)
        return kind(landscape, searches.first_valid(landscape) if self.start is None else own, self.samples)
