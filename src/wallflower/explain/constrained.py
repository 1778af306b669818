"""The paper's promise, ε between tables with the same valid contexts, at what each search really costs. Proof: searches.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from wallflower.explain import searches, streaming
from wallflower.explain.landscape import Landscape
from wallflower.explain.selection import Selection, bought, shortfall
from wallflower.mechanisms.checks import ADD_REMOVE
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
    top: int = 1
    """Contexts to release, one after the other without replacement; only by `exact`."""
    streamed: bool = False
    """Whether there may be more contexts than are held in memory."""
    concentrated: bool = False
    """Whether the budget is counted in zCDP, where selections of bounded range cost less."""
    rows: int | None = None
    """At most so many rows of a person come or go together, and the promise is about a person; None: it is about a row."""

    @property
    def distance(self) -> int:
        """How far one neighbouring change moves a utility: a replaced row is one removed and one added."""
        # Where a row moves all utilities one way, no two of them part by more than twice the sensitivity when one is replaced, which
        # is what a distance of one sensitivity is charged for; else each may move by twice as much, and they may part by four times.
        steps = 1 if self.monotone or self.neighbours == ADD_REMOVE else 2
        return (self.rows or 1) * self.sensitivity * steps

    @property
    def selections(self) -> int:
        return self.top * searches.selections(self.search, self.samples)

    @property
    def selection(self) -> Selection:
        """Each of the search's selections; together they lose `epsilon`."""
        return bought(
            self.epsilon / self.selections,
            distance=self.distance,
            monotone=self.monotone,
            neighbours=self.neighbours,
            better=self.selections == 1 and not self.streamed and not self.concentrated,
        )

    def guarantee(self, *, holds_when: str) -> OutputConstrainedDP:
        once = self.selection.guarantee(distance=self.distance, neighbours=self.neighbours)
        return OutputConstrainedDP(
            unit="row" if self.rows is None else "person",
            epsilon=once.epsilon * self.selections,
            rho=once.concentrated * self.selections,
            neighbours=self.neighbours,
            holds_when=holds_when,
        )

    def shortfall(self, contexts_log2: int) -> int:
        """The exact search falls short of the best utility by more than this once in twenty times at most."""
        return shortfall(self.selection, contexts_log2)

    def run(self, landscape: Landscape, entropy: Entropy) -> list[int]:
        """The indices of the released contexts; none where there is no answer."""
        selection = self.selection
        if isinstance(selection, Exponential) and self.search == "exact":
            return streaming.select(
                landscape.view,
                scores=landscape.block_scores,
                candidates=landscape.valid_places,
                selection=selection,
                h=self.top,
                entropy=entropy,
                every=landscape.every,
            )
        if self.search == "exact":
            every = landscape.every_valid
            found = searches.draw(
                searches.exact(cast("Sequence[int]", every)),
                lambda indices: landscape.every_score[indices],
                selection,
                entropy,
            )
        else:
            found = searches.draw(self._begin(landscape), landscape.scores, selection, entropy)
        return [] if found is None else [found]

    def _begin(self, landscape: Landscape) -> searches.Search:
        if self.search == "uniform":
            return searches.uniform(landscape, self.samples)
        kind = {"walk": searches.walk, "dfs": searches.dfs, "bfs": searches.bfs}[self.search]
        own = None if self.start is None else landscape.view.space.index(self.start)
        return kind(landscape, searches.first_valid(landscape) if self.start is None else own, self.samples)
