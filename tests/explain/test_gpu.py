"""The GPU's kernels, compiled for a processor, against the numba kernels: every flag, every count, every rank; and bugs planted in them are found."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tests.explain.host_runner import compiled, compiler
from tests.explain.planted_kernels import OTHER_WAYS, PLANTED, Switched, source
from tests.explain.tables import every_valid, random_table, slow_validity, view
from wallflower.detectors import LOF, Grubbs, Histogram
from wallflower.detectors.critical_values import critical_values, tables
from wallflower.explain.gpu.engine import Engine
from wallflower.explain.gpu.problems import problem
from wallflower.explain.gpu.slices import sliced

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C++ compiler (g++) is installed")
LARGE = 4 * 10**11
WAYS = ({}, {"doubles": True}, {"doubles": True, "values": True})
"""In which LOF can be decided: floats first, doubles alone, and by distinct values."""
DETECTORS = [
    Grubbs(),
    Grubbs(alpha="0.3", argmax=True),
    LOF(neighbours=1),
    LOF(neighbours=2, threshold="1.2"),
    LOF(neighbours=3, threshold=1),
    LOF(neighbours=5, threshold="1.1"),
    LOF(neighbours=20),
    Histogram(rare="0.1"),
    Histogram(rare="0.06"),
]


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    return Switched(compiled(tmp_path_factory.mktemp("kernels"), source()))


def mirrored(table):
    return [(*row[:-1], -row[-1]) for row in table]


def adversarial():
    """Tables in which something is extreme: name, rows, shape, languages, detectors."""
    dice = random.Random(5)
    powers = [(dice.randrange(4), dice.randrange(3), sign * 2**power) for power in range(38) for sign in (1, -1)]
    equal = [(dice.randrange(4), dice.randrange(3), 7) for _ in range(60)]
    lumps = [(dice.randrange(5), dice.randrange(4), 10 * dice.randrange(9)) for _ in range(700)]
    even = [(row % 4, row % 3, row) for row in range(90)]
    copies = [(0, 0, 0)] * 30 + [(dice.randrange(4), dice.randrange(3), dice.choice([0, 0, 1, 5])) for _ in range(90)]
    far = [
        (dice.randrange(4), dice.randrange(3), dice.choice([-LARGE, LARGE - dice.randrange(3), 0, 1]))
        for _ in range(80)
    ]
    long = [(0, 0), *((row % 2, row) for row in range(1, 1000)), (0, 10**6)]
    two = [
        (0, 0, 0),
        *((dice.randrange(4), dice.randrange(3), 100 + dice.randrange(5)) for _ in range(60)),
        (0, 1, -30),
        (2, 2, -90),
    ]
    ends = [
        (0, 0, 0),
        (0, 0, 10),
        (0, 0, 100),
        (0, 0, 101),
        *((code, place, 102) for code in range(4) for place in range(3)),
    ]
    more = [(dice.randrange(5), dice.randrange(4), dice.randrange(14) ** 2) for _ in range(400)]
    wide = [(dice.randrange(40), dice.randrange(2), dice.randrange(50)) for _ in range(300)]
    deep = random_table(dice, (3, 2, 2, 2, 2, 2), 300, spread=40)
    factors = [LOF(neighbours=k, threshold=t) for k, t in ((1, 1), (2, "1.5"), (4, 1), (9, "1.05"), (40, 2))]
    every = [*factors, Grubbs(alpha="0.4"), Grubbs(argmax=True), Histogram(rare="0.2"), Histogram(rare="0.01")]
    yield "powers of two", powers, (4, 3), None, every
    yield "all equal", equal, (4, 3), None, every
    yield "lumps", lumps, (5, 4), None, every
    yield "even", even, (4, 3), None, every
    yield "copies of the record", copies, (4, 3), None, every
    yield "far", far, (4, 3), None, every
    yield "more than one chunk", long, (2,), None, [Histogram(rare="0.6"), Histogram(rare="0.3"), LOF(neighbours=300)]
    near = [(dice.randrange(4), dice.randrange(3), 1000 + dice.randrange(10**6)) for _ in range(250)]
    away = [(dice.randrange(4), dice.randrange(3), dice.randrange(10**5) - 5 * 10**6) for _ in range(250)]
    one_sided = [(0, 0, 0), *near, *away]
    yield (
        "all on one side",
        one_sided,
        (4, 3),
        None,
        [LOF(neighbours=k, threshold=f"{t}/20") for k in (26, 29) for t in (19, 21, 24, 30)],
    )
    yield "another one is further", two, (4, 3), None, every
    yield (
        "ties at the end of a walk",
        ends,
        (4, 3),
        None,
        [LOF(neighbours=2, threshold=f"{t}/4") for t in range(108, 132, 3)],
    )
    yield (
        "lumps further and further apart",
        more,
        (5, 4),
        None,
        [LOF(neighbours=k, threshold=f"{t}/20") for k in (4, 12) for t in (19, 24, 30)],
    )
    yield (
        "a long run",
        wide,
        (40, 2),
        ["range", "sets"],
        [LOF(neighbours=4), Grubbs(alpha="0.4"), Histogram(rare="0.05")],
    )
    yield (
        "many columns",
        deep,
        (3, 2, 2, 2, 2, 2),
        None,
        [LOF(neighbours=6, threshold="1.1"), Grubbs(alpha="0.4"), Histogram(rare="0.05")],
    )


def cases():
    """Tables, detectors and the flags that the processor finds."""
    for _, table, shape, languages, detectors in adversarial():
        for rows in (table, mirrored(table)):
            sight = view(rows, shape, least=3, lower=-LARGE, upper=LARGE, languages=languages)
            for detector in detectors:
                yield sight, detector
    dice = random.Random(8)
    for trial in range(16):
        shape = [(2, 2), (3, 2, 2), (5, 4), (2, 3, 1, 2)][trial % 4]
        spread = [2, 12, 500, 10**6, 10**11][trial % 5]
        table = random_table(dice, shape, dice.choice([1, 5, 40, 150]), spread=spread)
        if trial % 2:
            table[0] = (*table[0][:-1], dice.choice([-1, 1]) * (spread * 2 + dice.randrange(50)))
        languages = [dice.choice(["sets", "own", "range"]) for _ in shape] if trial % 3 == 0 else None
        sight = view(table, shape, least=dice.choice([1, 4]), lower=-LARGE, upper=LARGE, languages=languages)
        for detector in DETECTORS:
            yield sight, detector


@pytest.fixture(scope="module")
def decided():
    """Problems and the processor's flags."""
    return [(problem(sight, detector), every_valid(sight, detector)) for sight, detector in cases()]


def wrong(runner, decided, kernels):
    return sum(
        int((Engine(asked, runner).flags() != expected).sum()) for asked, expected in decided if asked.kernel in kernels
    )


def test_every_flag_is_the_processors(runner, decided):
    runner.switch(None)
    assert wrong(runner, decided, {"lof", "grubbs", "histogram"}) == 0
    for ways in WAYS:
        runner.switch(None, **ways)
        assert wrong(runner, decided, {"lof"}) == 0
    for kernel in ("lof", "grubbs", "histogram"):
        flags = np.concatenate([expected for asked, expected in decided if asked.kernel == kernel])
        assert flags.any(), "a table in which nothing stands out shows little"
        assert not flags.all()


def test_the_processor_says_what_the_definition_says():
    dice = random.Random(2)
    sight = view(random_table(dice, (3, 2), 40, spread=6), (3, 2))
    for detector in DETECTORS:
        assert (every_valid(sight, detector) == slow_validity(sight, detector)).all()


@pytest.mark.parametrize("way", OTHER_WAYS)
def test_other_ways_give_the_same_flags(runner, decided, way):
    runner.switch(way)
    assert wrong(runner, decided, {way.split(":")[0]}) == 0


def unlike_whole_numbers(runner):
    """How many close calls of Grubbs' test differ from Python's whole numbers."""
    dice = random.Random(3)
    found = 0
    for _ in range(4000):
        kappa = dice.randrange(2**20, 2 ** dice.choice([21, 40, 62]))
        total = dice.randrange(2 ** dice.choice([5, 40, 61]))
        squares = ((total * total << 20) // kappa) + dice.randrange(-1, 2)
        if not 0 <= squares < 2**126:
            continue
        if dice.randrange(4) == 0:  # exactly equal
            kappa, squares = 1 << 20 << dice.randrange(5), total * total
            total <<= (kappa.bit_length() - 21) // 2
            squares = (total * total << 20) // kappa
        bits = dice.choice([42, 47, 52]) if squares < 2**126 else 42
        expected = total * total << 20 > kappa * squares
        found += runner.stands_out(dice.choice([-1, 1]) * total, squares, bits, kappa) != expected
    return found


def test_close_calls_are_decided_in_whole_numbers(runner):
    runner.switch(None)
    assert unlike_whole_numbers(runner) == 0


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(runner, decided, bug):
    part = bug.split(":")[0]
    kernels = {part} if part in {"lof", "grubbs", "histogram"} else {"lof", "grubbs", "histogram"}
    found = 0
    for ways in WAYS if part == "lof" else WAYS[:1]:
        runner.switch(bug, **ways)
        found += unlike_whole_numbers(runner) if part == "whole numbers" else wrong(runner, decided, kernels)
    assert found > 0


def test_small_fast_memory_means_smaller_slices(runner, decided):
    runner.switch(None)
    few = Switched.__new__(Switched)
    few.__dict__ = {**runner.__dict__, "shared_bytes": 6000}
    assert wrong(few, decided[::7], {"lof"}) == 0


def sight_of_slices():
    dice = random.Random(11)
    table = random_table(dice, (6, 5, 4), 500, spread=120)
    table[0] = (*table[0][:-1], 190)
    return view(table, (6, 5, 4), least=5)


@pytest.mark.parametrize(
    "detector", [LOF(neighbours=4, threshold="1.3"), Grubbs(alpha="0.5"), Histogram(rare="0.02")], ids=lambda d: d.name
)
def test_scores_are_counted_and_found_by_rank(runner, detector):
    runner.switch(None)
    sight = sight_of_slices()
    valid = np.flatnonzero(every_valid(sight, detector))
    shared = sight.shared(((0, 1), (0, 2, 3), (1, 2)))
    overlap = np.concatenate([block.over(shared) for block in sight.blocks()])
    held = sight.counts.ravel() > 0
    assert len(valid)
    for scores, engine in (
        (sight.population, Engine(problem(sight, detector), runner)),
        (overlap, Engine(problem(sight, detector), runner, shared.ravel()[held])),
    ):
        counts = engine.counted()
        assert counts == Counter(scores[valid].tolist())
        wanted = {level: [0, counts[level] - 1] for level in list(counts)[:: max(1, len(counts) // 20)]}
        found, seen = engine.found(wanted)
        assert seen == {level: counts[level] for level in wanted}
        for (level, rank), index in found.items():
            assert index == valid[scores[valid] == level][rank]
        assert len(found) == sum(len(set(ranks)) for ranks in wanted.values())


def test_scores_are_found_over_several_launches(runner, monkeypatch):
    runner.switch(None)
    monkeypatch.setattr("wallflower.explain.gpu.engine.FLAGGED", 100)
    monkeypatch.setattr("wallflower.explain.gpu.engine.TOGETHER", 100)
    monkeypatch.setattr("wallflower.explain.gpu.engine.SCORES_AT_ONCE", 3)
    sight = sight_of_slices()
    detector = Grubbs(alpha="0.5")
    valid = every_valid(sight, detector)
    engine = Engine(problem(sight, detector), runner)
    assert (engine.flags() == valid).all()
    counts = engine.counted()
    assert counts == Counter(sight.population[valid].tolist())
    found, seen = engine.found({level: range(counts[level]) for level in counts})
    assert sorted(found.values()) == np.flatnonzero(valid).tolist()
    assert seen == counts


def test_rows_beyond_machine_words_stay_on_the_processor():
    most = 2**52 - 1
    table = [(row % 3, most if row else -most) for row in range(600)]
    sight = view(table, (3,), lower=-most, upper=most)
    assert problem(sight, Grubbs()) is None
    assert problem(view(table[:500], (3,), lower=-most, upper=most), Grubbs()) is not None


def test_tables_hold_every_critical_value():
    for largest in (3, 4096, 4097, 8191, 8192, 51_000):
        fine, coarse = tables(Fraction(1, 20), largest)
        assert fine[min(largest, 4096)] == critical_values(Fraction(1, 20), np.array([min(largest, 4096)]))[0]
        octave = largest.bit_length() - 13
        if octave >= 0:
            width = 4 << octave
            place = octave * 1024 + (largest - (4096 << octave)) // width
            assert place + 1 < len(coarse)


def test_slices_hold_each_context_once():
    sight = sight_of_slices()
    words = sight.words.ravel()
    for most in (1, 8, 100, 4096):
        slices = sliced(sight.space.levels, words, most_run=most)
        assert slices.run * slices.count == sight.space.count
        inside = (slices.members[:, None] >> slices.kind_of[None, :]) & 1
        for at in range(min(slices.count, 5)):
            high = sight.space.words(np.array([at * slices.run]))[0]
            here = (slices.high_part(words) & ~high) == 0
            indices = np.arange(at * slices.run, (at + 1) * slices.run)
            expected = (words[None, :] & ~sight.space.words(indices)[:, None]) == 0
            assert ((inside == 1) & here == expected).all()
