"""One outlier at a time: every search, at the paper's cost and at ours, on the same valid contexts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from experiments.pcor_2021.expected import shortfalls
from experiments.pcor_2021.neighbours import Counted, counted
from wallflower.explain import searches
from wallflower.explain.landscape import Landscape
from wallflower.explain.utilities import Overlap, Population
from wallflower.explain.validity import decider
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.permute_and_flip import PermuteAndFlip
from wallflower.noise.entropy import SeededEntropy

PROBES = 4096


@dataclass(frozen=True)
class Setting:
    """One line of a table. `paper` divides the budget as the paper does: 2·ε1 or (2n + 2)·ε1."""

    search: str
    epsilon: str
    samples: int = 50
    paper: bool = False
    utility: str = "population"
    flip: bool = False
    """Select by permute-and-flip, which a search that selects once may, at the same price."""

    @property
    def exponent(self) -> Fraction:
        selections = searches.selections(self.search, self.samples)
        return Fraction(self.epsilon) / (selections * (2 if self.paper else 1))

    @property
    def name(self) -> str:
        flip = " flip" if self.flip else ""
        return f"{self.search} {self.epsilon} {self.samples} {'paper' if self.paper else 'ours'} {self.utility}{flip}"

    @property
    def selection(self) -> Exponential | PermuteAndFlip:
        return (PermuteAndFlip if self.flip else Exponential)(exponent=self.exponent, monotone=True)


class Known:
    """A graph whose valid contexts are known already: a search then costs lookups."""

    def __init__(self, landscape, valid):
        self.landscape, self._valid = landscape, valid

    @property
    def count(self):
        return self.landscape.count

    def valid(self, indices):
        return [bool(self._valid[index]) for index in indices]

    def connected(self, index):
        return self.landscape.connected(index)


def begin(setting, graph, every, start):
    if setting.search == "exact":
        return searches.exact(every)
    if setting.search == "uniform":
        return searches.uniform(graph, setting.samples) if every is None else of_valid(every, setting.samples)
    return getattr(searches, setting.search)(graph, start, setting.samples)


def of_valid(every, samples):
    """`uniform` when the valid contexts are known: drawn until valid is drawn among the valid, and the cap is never reached."""
    found = []
    for _ in range(samples):
        found.append((yield searches.Pick(every, scored=False)))  # noqa: PERF401 - a comprehension cannot yield
    return (yield searches.Pick(found, scored=True))


def every_valid(view, detector):
    """Whether each context is valid."""
    decided = decider(view, detector)
    return np.concatenate([decided.valid(block) for block in view.blocks()])


def is_outlier(data, rows, place, detector, least):
    """The rule for whom to ask about: one of the first 4,096 contexts of the public order is valid (all, when there are fewer)."""
    view = counted(data.view(place, least), rows)
    if view.space.count <= PROBES:
        return bool(every_valid(view, detector).any())
    order = (np.arange(min(PROBES, view.space.count), dtype=object) * (0x9E3779B97F4A7C15 | 1) + 1) % view.space.count
    return bool(decider(view, detector).valid(view.few(order.astype(np.int64))).any())


def outliers(data, detector, least, count, seed):
    """`count` records at random among those that `is_outlier` keeps, and how many had to be looked at."""
    found, looked, rows = [], 0, Counted.of(data)
    for place in np.random.default_rng(seed).permutation(len(data.codes)):
        if len(found) == count:
            break
        looked += 1
        if is_outlier(data, rows, int(place), detector, least):
            found.append(int(place))
    return found, looked


def study(data, place, detector, least, settings):
    """Utility ratio of one draw per setting, the exact expectations for `exact`, and how much was valid."""
    view = data.view(place, least)
    began = time.perf_counter()
    decided = decider(view, detector)
    valid = np.concatenate([decided.valid(block) for block in view.blocks()])
    took = time.perf_counter() - began
    every = np.flatnonzero(valid)
    if not len(every):
        return None
    landscape = Landscape(view, decided, Population())
    graph = Known(landscape, valid)
    start = searches.first_valid(graph)
    if start is None:
        start = int(every[0])
    scores = {"population": view.population}
    if any(setting.utility == "overlap" for setting in settings):
        scores["overlap"] = Landscape(view, decided, Overlap(view, view.space.chosen(start))).every_score
    found = {"valid": len(every), "seconds": took, "best": int(view.population[every].max())}
    for setting in settings:
        score = scores[setting.utility]
        entropy = SeededEntropy(place * 1000 + settings.index(setting))
        drawn = searches.draw(
            begin(setting, graph, every, start), lambda indices, s=score: s[indices], setting.selection, entropy
        )
        best = score[every].max()
        found[setting.name] = None if drawn is None or best == 0 else float(score[drawn] / best)
        if setting.search == "exact" and not setting.flip:
            short = shortfalls(score[every], float(setting.exponent))
            found[f"expected {setting.name}"] = 1 - short[0] / float(best) if best else None
            found[f"short {setting.name}"] = short
    return found


def timed(data, place, detector, least, setting):
    """Processor seconds of one search that decides each context when it comes to it, as a user would run it, after the rows are in memory."""
    view = data.view(place, least)
    began = time.process_time()
    landscape = Landscape(view, decider(view, detector), Population())
    selection, entropy = setting.selection, SeededEntropy(place)
    if setting.search == "exact":
        searches.draw(searches.exact(landscape.every_valid), lambda i: landscape.every_score[i], selection, entropy)
    else:
        start = None if setting.search == "uniform" else searches.first_valid(landscape)
        searches.draw(begin(setting, landscape, None, start), landscape.scores, selection, entropy)
    return time.process_time() - began
