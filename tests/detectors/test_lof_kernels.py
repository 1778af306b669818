"""The compiled factors against the definition, bit for bit: by multiplicity, side by side, and from the lists that a run of contexts shares."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tests.explain.tables import every_valid, population, random_table, some_valid, view
from wallflower.detectors import LOF, lof
from wallflower.detectors import lof_kernels as kernels
from wallflower.detectors import lof_lanes_kernels as lanes
from wallflower.detectors import lof_lists_kernels as lists
from wallflower.detectors.contexts import Side
from wallflower.detectors.lof import _LOFDecider, _placed


def by_multiplicity(values, value, k):
    distinct, copies = np.unique(np.array(values) - value, return_counts=True)
    room = tuple(np.empty(len(distinct) + 1, np.int64) for _ in range(4))
    centre = int(np.searchsorted(distinct, 0))
    return kernels.by_multiplicity(distinct, copies, len(distinct), centre, k, *room)


def side_by_side(tables, k):
    """The factors of several (values, value), each in a lane; lanes are used again and again."""
    held, found = lanes.empty_lanes(k), []
    for begin in range(0, len(tables), lanes.LANES):
        here = tables[begin : begin + lanes.LANES]
        for lane, (values, value) in enumerate(here):
            z = sorted(y - value for y in values)
            below, above = [y for y in z if y < 0][::-1], [y for y in z if y > 0]
            same = len(z) - len(below) - len(above)
            for row, y in enumerate(below):
                held[0][(lanes.middle(k) - 1 - row) * lanes.LANES + lane] = y
            for row, y in enumerate(above):
                held[0][(lanes.middle(k) + same + row) * lanes.LANES + lane] = y
            lanes.settled(held, lane, k, len(below), same, len(above))
            held[6][lane] = lane
        lanes.decide(held, len(here), k, 1.5, np.zeros(lanes.LANES, np.bool_))
        found += [lanes._factor(held, lane, *lanes._around(held[0], lane, k)) for lane in range(len(here))]
    return found


def some_tables(k, count):
    """Ties, all equal, powers of two, doubled values, of k + 1 to 6k rows, at most 3k of them on a side of the record's."""
    dice = random.Random(k)
    while count:
        spread = dice.choice([0, 1, 3, 12, 200, 10**6])
        values = [dice.randint(-spread, spread) for _ in range(dice.randrange(k + 1, 4 * k + 2))]
        if count % 3 == 0:
            values = [2 ** dice.randrange(20) * dice.choice([-1, 1]) for _ in values]
        if count % 5 == 0:
            values += values
        value = dice.choice(values)
        sides = (sum(y < value for y in values), sum(y > value for y in values))
        if max(sides) <= lanes.SIDE * k and values.count(value) <= k:
            yield values, value
            count -= 1
        elif spread <= 1:
            yield [0] * (k + 1), 0
            count -= 1


@pytest.mark.parametrize("k", [1, 2, 3, 5, 20, 40])
def test_both_ways_give_the_bits_of_the_definition(k):
    tables = list(some_tables(k, 100))
    tables += [([-y for y in values], -value) for values, value in tables]
    expected = [LOF(neighbours=k).factor(np.sort(np.array(values)), value) for values, value in tables]
    assert [by_multiplicity(values, value, k) for values, value in tables] == expected
    rows_fit = [place for place, (values, value) in enumerate(tables) if values.count(value) <= k]
    found = side_by_side([tables[place] for place in rows_fit], k)
    assert found == [expected[place] for place in rows_fit]


def test_a_planted_bug_is_seen():
    """Sums that forget that a neighbour's own reach may be the larger one: the plain distances."""
    values, k = [0, 1, 2, 3, 50, 52, 53, 90], 3
    density = {y: 3 / sum(sorted(abs(y - x) for x in values)[1:4]) for y in values}
    near = sorted(values, key=lambda x: abs(x - 90))[1:4]
    assert by_multiplicity(values, 90, k) != pytest.approx(sum(density[x] for x in near) / 3 / density[90], rel=1e-6)


ROWS = [
    ((4, 3, 2), None, 400, 60),
    ((4, 3, 2), None, 400, 3),
    ((3, 5), ["sets", "range"], 300, 25),
    ((6, 2, 3), ["range", "own", "sets"], 300, 10**6),
    ((9,), None, 500, 5000),
]


def sights():
    """Contexts whose runs span one column or several, few ties and many, with values too far apart for 32 bits among them."""
    for turn, (shape, languages, size, spread) in enumerate(ROWS):
        dice = random.Random(turn)
        table = random_table(dice, shape, size, spread=spread)
        table[0] = (*(n // 2 for n in shape), spread + spread // 3)
        yield view(table, shape, languages=languages, lower=-(10**7), upper=10**7)
        yield view([(*row[:-1], -row[-1]) for row in table], shape, languages=languages, lower=-(10**7), upper=10**7)
        if spread < 5000:
            yield view([(*row[:-1], 700_000 * row[-1]) for row in table], shape, languages=languages)


@pytest.mark.parametrize("k", [1, 4, 20])
def test_runs_of_contexts_are_decided_to_the_last_bit(k):
    """The threshold is a factor itself, and the number before it: half a unit in the last place would be seen."""
    for turn, sight in enumerate(sights()):
        dice = random.Random(turn)
        places = dice.sample(range(sight.space.count), k=min(8, sight.space.count))
        factors = {
            place: LOF(neighbours=k).factor(values, sight.centre)
            for place in places
            if len(values := population(sight, place)) > 1
        }
        for place, factor in list(factors.items())[:2]:
            for limit in (factor, float(np.nextafter(factor, 0))):
                if not 1e-9 <= limit <= 1e18:
                    continue
                detector = LOF(neighbours=k, threshold=Fraction(limit))
                found = every_valid(sight, detector)
                assert {p: bool(found[p]) for p in factors} == {p: f > limit for p, f in factors.items()}
                assert bool(some_valid(sight, detector, [place])[0]) == (factor > limit)


def test_the_lists_of_a_run_lose_nothing():
    detector = LOF(neighbours=4, threshold="1.1")
    for sight in sights():
        few = np.arange(min(sight.space.count, 64))
        assert (some_valid(sight, detector, few) == every_valid(sight, detector)[few]).all()


def test_planted_losses_are_seen():
    """k values a side of each cell instead of 2k, and values that lie elsewhere in a run: thresholds are factors, so that any other number shows."""
    fewer_seen = places_seen = 0
    for seed in range(12):
        dice = random.Random(seed)
        table = [(dice.randrange(2), dice.randint(-60, 60)) for _ in range(60)]
        sight = view([(0, 90), *table], (2,))
        factor = LOF(neighbours=4).factor(population(sight, 0), sight.centre)
        detector = LOF(neighbours=4, threshold=Fraction(float(np.nextafter(factor, 0))))
        right = every_valid(sight, detector)
        fewer = _LOFDecider(detector, sight)
        fewer.entries = sight.entries(4)
        fewer_seen += any((fewer.valid(block) != right).any() for block in sight.blocks())
        places_seen += _misplaced(sight, detector) != right.tolist()
    assert fewer_seen > 0
    assert places_seen > 0


def _misplaced(sight, detector):
    """Decided with every value of a run's cells held to lie at the first place."""
    (block,) = sight.blocks()
    decided = _LOFDecider(detector, sight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            lof, "_placed", lambda side, levels: (*_placed(side, levels)[:3], np.zeros(len(side.words), np.int64))
        )
        return decided.valid(block).tolist()


def test_a_list_grows_when_it_must_and_bits_are_found():
    assert [lists.lowest_bit(np.uint64(1 << bit)) for bit in range(64)] == list(range(64))
    gaps = np.arange(1, 101)
    side = (gaps, np.ones(100, np.int64), np.zeros(100, np.uint64), gaps % 2)
    small, large = lists.empty_list(16, 2), lists.empty_list(128, 2)
    state = np.empty((3, 2), np.int64)
    assert lists.listed(side, np.uint64(0), 20, state, small)[0] == -1
    # The first place has the even gaps: it has 2·20 of them at 80, and nothing beyond is listed.
    assert lists.listed(side, np.uint64(0), 20, state, large) == (80, 0)
    lists.spread(np.array([2]), 2, 80, 0, large)
    found, copies = np.empty(41, np.int64), np.empty(41, np.int64)
    assert lists.held(large, 0, 80, 20, found, copies) == (40, 40)
    assert found[:40].tolist() == list(range(2, 81, 2))
    assert lists.held(large, 1, 80, 20, found, copies) == (40, 40)
    assert found[:40].tolist() == list(range(1, 41))


def test_places_are_those_of_the_least_context_that_holds_a_cell():
    side = Side(np.arange(1, 5), np.ones(4, np.int64), np.array([0b0000, 0b0001, 0b1000, 0b10010], dtype=np.uint64))
    _, _, high, place = _placed(side, (2, 4))  # one bit, then three
    assert place.tolist() == [0, 1, 6, 2]
    assert high.tolist() == [0, 0, 0, 1]
