"""Context languages: which sets there are, against enumeration; both promises, exactly, over each; prices that tell nothing about a record."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from tests.explain.laws import plan
from tests.explain.tables import (
    every_valid,
    population,
    random_table,
    slow_validity,
    some_valid,
    view,
)
from wallflower.audit.exact import exact_audit
from wallflower.detectors import IQR, LOF, Distance, Grubbs, Histogram
from wallflower.explain import full, streaming
from wallflower.explain.landscape import Landscape
from wallflower.explain.languages import Vocabularies, Vocabulary
from wallflower.explain.space import Space
from wallflower.explain.utilities import Population
from wallflower.explain.validity import decider
from wallflower.schema.domains import Categories
from wallflower.schema.hierarchy import nested

SITES = ("a1", "a2", "b1", "b2", "b3")
TREE = nested({"north": {"a": ["a1", "a2"]}, "south": {"b": ["b1", "b2"], "c": ["b3"]}}, SITES, column="site")


def values(size):
    return Categories(tuple(f"v{code}" for code in range(size)))


def sets_by_definition(language, size, own):
    """Every set of codes of the language, by filtering all subsets."""
    every = [frozenset(c for c in range(size) if mask >> c & 1) for mask in range(1 << size) if mask >> own & 1]
    if language == "sets":
        return set(every)
    if language == "own":
        return {frozenset({own}), frozenset(range(size))}
    if language == "range":
        return {held for held in every if max(held) - min(held) + 1 == len(held)}
    nodes = zip(TREE.low, TREE.high, strict=True)
    spans = {frozenset(SITES.index(leaf) for leaf in TREE.leaves[low : high + 1]) for low, high in nodes}
    return {held for held in spans if own in held}


@pytest.mark.parametrize(
    ("language", "size"), [("tree", 5), *((one, size) for one in ("sets", "own", "range") for size in (1, 2, 3, 5))]
)
def test_a_language_has_exactly_its_sets_each_once(language, size):
    domain = Categories(SITES) if language == "tree" else values(size)
    words = Vocabulary("site", domain, language, TREE if language == "tree" else None)
    counts = []
    for own in range(size):
        space = Space.of((words,), own=(own,))
        held = [frozenset(space.chosen(index)[0]) for index in range(space.count)]
        assert len(set(held)) == len(held)
        assert set(held) == sets_by_definition(language, size, own)
        counts.append(space.count)
        for index in range(space.count):
            assert space.index(space.chosen(index)) == index
            for other in space.connected(index):  # one step away, both ways
                assert index in space.connected(other)
                assert held[index] < held[other] or held[other] < held[index]
    assert words.most == max(counts)  # what a price may use: it depends on no record


@pytest.mark.parametrize(
    "languages", [("sets", "sets"), ("own", "own"), ("range", "range"), ("range", "sets"), ("own", "range")]
)
def test_words_say_which_cells_a_context_holds(languages):
    for own in product(range(3), range(4)):
        each = [Vocabulary(f"c{at}", values(3 + at), language) for at, language in enumerate(languages)]
        space = Space.of(each, own=own)
        words = space.words(np.arange(space.count))
        assert words.dtype == np.uint64
        for index, word in enumerate(words):
            chosen = space.chosen(index)
            for codes in product(range(3), range(4)):
                cell = space.cells[tuple(of_code[code] for of_code, code in zip(space.classes, codes, strict=True))]
                assert ((cell & ~word) == 0) == all(code in held for code, held in zip(codes, chosen, strict=True))


MIXED = [("own", "range", "tree"), ("range", "own", "sets"), ("tree", "sets", "own"), ("range", "range", "range")]
SHAPE = (3, 4, 5)


def mixed(table, languages, **more):
    trees = [
        nested(
            {"x": [f"v{c}" for c in range(size - 1)], "y": [f"v{size - 1}"]}, [f"v{c}" for c in range(size)], column="c"
        )
        if language == "tree"
        else None
        for language, size in zip(languages, SHAPE, strict=True)
    ]
    return view(table, SHAPE, languages=languages, trees=trees, **more)


@pytest.mark.parametrize("languages", MIXED, ids="-".join)
@pytest.mark.parametrize(
    "detector",
    [
        Grubbs(alpha="0.3"),
        LOF(neighbours=3, threshold="1.2"),
        Histogram(rare="0.06"),
        Distance(p="0.2", radius=3),
        IQR(),
    ],
    ids=lambda d: d.text,
)
def test_every_detector_decides_every_language_as_by_enumeration(languages, detector):
    dice = random.Random(f"{languages} {detector.text}")
    for size in (1, 9, 60):
        table = random_table(dice, SHAPE, size, spread=9)
        table[0] = (*table[0][:-1], 25)
        sight = mixed(table, languages, least=dice.choice([1, 3]))
        expected = slow_validity(sight, detector)
        assert (every_valid(sight, detector) == expected).all()
        assert (every_valid(sight, detector, most=2) == expected).all()
        few = np.array(dice.sample(range(sight.space.count), 5))
        assert (some_valid(sight, detector, few) == expected[few]).all()
        assert sight.population.tolist() == [len(population(sight, index)) for index in range(sight.space.count)]


def test_rows_that_are_fetched_give_what_rows_added_up_by_the_engine_give(monkeypatch):
    dice = random.Random(4)
    table = random_table(dice, SHAPE, 50, spread=9)
    for detector in (Grubbs(alpha="0.3"), LOF(neighbours=3), Histogram(rare="0.1")):
        expected = every_valid(mixed(table, MIXED[0], least=2), detector)
        monkeypatch.setattr("wallflower.explain.record_view.MOST_CELLS", 1)
        assert (every_valid(mixed(table, MIXED[0], least=2), detector) == expected).all()
        monkeypatch.undo()


# Both promises, over every language.

SMALL = (2, 3)
CELLS = list(product(range(2), range(3)))
SMALL_TREES = [
    nested({"all": ["v0", "v1"]}, ("v0", "v1"), column="c0"),
    nested({"x": ["v0", "v1"], "y": ["v2"]}, ("v0", "v1", "v2"), column="c1"),
]


def small_view(table, language, **more):
    """The same tables in any language; in `tree` the second column has two branches."""
    trees = SMALL_TREES if language == "tree" else None
    return view(table, SMALL, languages=[language] * 2, trees=trees, **more)


def neighbours_of(table):
    return [(*table, (*cell, y)) for cell in CELLS for y in (-4, 0, 3, 10)]


def small_tables(seed, count, size):
    dice = random.Random(seed)
    for _ in range(count):
        yield (
            (0, 1, 0),
            *((*dice.choice(CELLS), dice.choice([9, 10, 10, 10, 11, 12, 0, -4])) for _ in range(size)),
        )


@pytest.mark.parametrize("language", ["sets", "own", "range", "tree"])
def test_no_neighbour_with_the_same_valid_contexts_of_the_language_sees_more_than_epsilon(language):
    detector, priced = Distance(p="0.5", radius=2), plan("exact")
    covered = {"language": 0, "sets": 0}

    def looked(table, language):
        sight = small_view(table, language)
        return every_valid(sight, detector), sight.population

    def law(table):
        valid, scores = looked(table, language)
        places = np.flatnonzero(valid).tolist()
        if not places:
            return {None: 1.0}
        logs = priced.selection.log_probabilities([int(scores[index]) for index in places])
        return {index: math.exp(log) for index, log in zip(places, logs, strict=True)}

    pairs = []
    for table in small_tables(language, 8, 9):
        for other in neighbours_of(table):
            same = (looked(table, language)[0] == looked(other, language)[0]).all()
            covered["language"] += same
            covered["sets"] += (looked(table, "sets")[0] == looked(other, "sets")[0]).all()
            if same:
                pairs.append((table, other))
    assert len(pairs) > 50
    assert covered["language"] >= covered["sets"]  # a smaller list of contexts covers more pairs
    found = exact_audit(law, pairs)
    assert found.within(Fraction(1, 2))
    assert found.loss > 0.1


@pytest.mark.parametrize("language", ["sets", "own", "range", "tree"])
@pytest.mark.parametrize("larger", [None, 2])
def test_full_is_epsilon_for_every_other_row_in_every_language(language, larger):
    priced = full.Plan(
        detector=Grubbs(),
        least=3,
        epsilon=Fraction(1),
        neighbours="add-remove",
        contexts_log2=3,
        max_rows=1000,
        certificate=None,
        larger=larger,
    )

    def law(table):
        scores = priced.scores(small_view(table, language, least=3, lower=-4, upper=12))
        return dict(enumerate(math.exp(log) for log in priced.selection.log_probabilities(scores.tolist())))

    pairs = [(t, o) for size in (8, 40) for t in small_tables(size, 3, size) for o in neighbours_of(t)]
    found = exact_audit(law, pairs)
    assert found.within(priced.guarantee().epsilon)
    assert found.loss > 0.1
    if larger is not None:  # the planted bug: the price of a score that moves by one, for one that moves by `larger`
        cheap = replace(priced, larger=None).selection.exponent * 3

        def wrong(table):
            scores = priced.scores(small_view(table, language, least=3, lower=-4, upper=12))
            weights = np.exp(float(cheap) * (scores - scores.max()))
            return dict(enumerate((weights / weights.sum()).tolist()))

        assert not exact_audit(wrong, pairs).within(priced.guarantee().epsilon)


# Streaming and top H, over every language: the law of what leaves, by driving the shipped draws through every outcome.


class Scripted:
    """A selection that takes the outcomes it is told to, and keeps the probability of each."""

    def __init__(self, exponent, script):
        self.exponent, self.script, self.chance = exponent, list(script), 1.0

    def level(self, counts, _):
        weights = {score: count * math.exp(float(self.exponent) * score) for score, count in counts.items()}
        return self._take(weights)

    def place(self, count, _):
        self.chance /= count
        return self.script.pop(0) % count

    def _take(self, weights):
        choice = sorted(weights)[self.script.pop(0) % len(weights)]
        self.chance *= weights[choice] / math.fsum(weights.values())
        return choice


def streamed_law(table, language, h, exponent, *, detector, most):
    """Every ordered answer of `streaming.select` with its probability; the blocks hold three contexts."""
    sight = small_view(table, language)
    land = Landscape(sight, decider(sight, detector), Population())
    law: dict[tuple[int, ...], float] = {}
    for script in product(range(most), repeat=2 * h):
        drawn = Scripted(exponent, script)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(streaming, "BLOCK", 3)
            patch.setattr(streaming, "Uniform", lambda drawn=drawn: drawn.place)
            found = streaming.select(
                sight, scores=land.block_scores, candidates=land.valid_places, selection=drawn, h=h, entropy=None
            )
        law[tuple(found)] = drawn.chance
    return law


@pytest.mark.parametrize("language", ["sets", "own", "range", "tree"])
@pytest.mark.parametrize("h", [1, 2])
def test_streaming_and_top_h_have_the_law_of_memory_in_every_language(language, h):
    """Against the law by multiplication over contexts that are enumerated and decided by the detector's definition."""
    detector, exponent = Distance(p="0.5", radius=2), Fraction(1, 4)
    looked_at = 0
    for table in small_tables(f"{language} {h}", 80, 9):
        if looked_at == 1:
            break
        sight = small_view(table, language)
        valid = np.flatnonzero(slow_validity(sight, detector)).tolist()
        if not h <= len(valid) <= 6:
            continue
        weights = {index: math.exp(float(exponent) * len(population(sight, index))) for index in valid}
        expected = {}
        for choice in permutations(valid, h):
            left, chance = dict(weights), 1.0
            for index in choice:
                chance *= left.pop(index) / math.fsum([*left.values(), weights[index]])
            expected[choice] = chance
        law = streamed_law(table, language, h, exponent, detector=detector, most=len(valid))
        assert law.keys() == expected.keys()
        assert all(law[choice] == pytest.approx(expected[choice], rel=1e-9) for choice in law)
        looked_at += 1
    assert looked_at


# What a price says.


# Words.


@pytest.mark.parametrize(("columns", "size", "fit"), [(1, 63, True), (1, 64, False), (20, 2, True), (21, 2, False)])
def test_a_word_holds_62_steps_and_the_cube_a_million_cells(columns, size, fit):
    """One bit more, and a step of one column would be taken for one of another."""
    domain = Categories(tuple(f"v{code}" for code in range(size)))
    language = "sets" if columns == 1 else "own"
    assert Vocabularies(tuple(Vocabulary(f"c{n}", domain, language) for n in range(columns))).fit is fit
