"""Every fast way to decide validity against the detector's own definition on filtered rows."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from tests.explain.tables import every_valid, population, random_table, slow_validity, some_valid, view
from wallflower.detectors import IQR, LOF, MAD, Distance, Grubbs, Histogram
from wallflower.engines.base import Cells

DETECTORS = [
    Grubbs(),
    Grubbs(alpha="0.3", argmax=True),
    LOF(neighbours=1),
    LOF(neighbours=2, threshold="1.2"),
    LOF(neighbours=5, threshold="1.1"),
    LOF(neighbours=20),
    Histogram(rare="0.1"),
    Histogram(rare="0.06"),
    Distance(p="0.2", radius=3),
    IQR(),
    IQR(factor="0.3"),
    MAD(),
    MAD(threshold="1/3"),
]
SHAPES = [(2, 2), (3, 2, 2), (5,), (2, 3, 1, 2), (4, 3)]


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.text)
@pytest.mark.parametrize("spread", [2, 12, 500])
def test_fast_validity_is_the_definition(detector, spread):
    dice = random.Random(f"{detector.text} {spread}")
    any_valid = 0
    for trial in range(40):
        shape = SHAPES[trial % len(SHAPES)]
        size = dice.choice([1, 2, 5, 12, 40])
        table = random_table(dice, shape, size, spread=spread)
        if trial % 2:
            table[0] = (*table[0][:-1], dice.choice([-1, 1]) * (spread * 2 + dice.randrange(50)))
        sight = view(table, shape, least=dice.choice([1, 4]))
        expected = slow_validity(sight, detector)
        assert (every_valid(sight, detector) == expected).all()
        assert (every_valid(sight, detector, most=3) == expected).all()
        few = np.array(dice.sample(range(sight.space.count), k=min(4, sight.space.count)))
        assert (some_valid(sight, detector, few) == expected[few]).all()
        any_valid += expected.any()
    if spread > 2:
        assert any_valid


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.text)
def test_validity_does_not_see_the_order_of_rows(detector):
    dice = random.Random(7)
    table = random_table(dice, (3, 2, 2), 40, spread=6)
    table[0] = (*table[0][:-1], 15)
    first = every_valid(view(table, (3, 2, 2)), detector)
    for _ in range(5):
        mixed = [table[0], *dice.sample(table[1:], len(table) - 1)]
        assert (every_valid(view(mixed, (3, 2, 2)), detector) == first).all()


def test_more_than_one_slice_agrees_with_single_contexts():
    dice = random.Random(11)
    shape = (7, 6, 5)
    table = random_table(dice, shape, 600, spread=300)
    table[0] = (*table[0][:-1], 420)
    sight = view(table, shape, least=5)
    for detector in (LOF(neighbours=4, threshold="1.3"), Histogram(rare="0.02"), Grubbs(alpha="0.5")):
        every = every_valid(sight, detector)
        few = np.array(dice.sample(range(sight.space.count), k=300))
        assert (some_valid(sight, detector, few) == every[few]).all()
        assert (every_valid(sight, detector, most=1000) == every).all()
        for index in few[:60]:
            values = population(sight, int(index))
            expected = len(values) >= 5 and detector.stands_out(values, sight.centre, step=Fraction(1))
            assert every[index] == expected


def test_populations_are_subset_sums():
    dice = random.Random(3)
    sight = view(random_table(dice, (3, 3, 2), 50, spread=5), (3, 3, 2))
    expected = [len(population(sight, index)) for index in range(sight.space.count)]
    assert sight.population.tolist() == expected
    assert sight.few(np.array([5, 0])).population.tolist() == [expected[5], expected[0]]
    (lowest,) = [block.over(np.arange(18).reshape(3, 3, 2), np.minimum) for block in sight.blocks()]
    assert lowest[-1] == 0


@dataclass(frozen=True)
class Loudest:
    """A user's own detector that sometimes breaks."""

    def stands_out(self, values, value, /, *, step):
        if len(values) == 3:
            raise RuntimeError(values)
        return value == values[-1]


def test_a_detector_of_ones_own_sees_the_filtered_values_and_may_break():
    dice = random.Random(5)
    sight = view(random_table(dice, (3, 2), 14, spread=9), (3, 2))
    expected = []
    for index in range(sight.space.count):
        values = population(sight, index)
        expected.append(len(values) != 3 and values[-1] == sight.centre)
    assert every_valid(sight, Loudest()).tolist() == expected


@pytest.mark.parametrize("error", [KeyError, ValueError, ZeroDivisionError, RecursionError])
def test_whatever_a_row_makes_a_detector_of_ones_own_do_ends_no_release(error):
    @dataclass(frozen=True)
    class Brittle:
        def stands_out(self, values, value, /, *, step):
            if 7 in values:
                raise error
            return True

    table = [(0, 0, 50), (0, 1, 7), (1, 0, 3)]
    found = every_valid(view(table, (2, 2)), Brittle())
    assert [bool(good) for good in found] == [7 not in population(view(table, (2, 2)), at) for at in range(4)]
    assert found.any()
    assert not found.all()


def test_contexts_are_connected_by_one_level_of_one_column():
    sight = view([(1, 2, 5)], (2, 5), languages=["sets", "range"])
    space = sight.space
    for index in range(space.count):
        own = space.level(index)
        apart = [sum(abs(a - b) for a, b in zip(own, space.level(other), strict=True)) for other in range(space.count)]
        assert sorted(space.connected(index)) == [other for other, steps in enumerate(apart) if steps == 1]


def test_rows_shared_with_a_public_context_are_counted_once_wherever_they_are_added_up(monkeypatch):
    table = random_table(random.Random(4), (3, 3), 60, spread=5)
    start = ((0, 2), (1,))
    pushed = view(table, (3, 3)).shared(start)
    monkeypatch.setattr("wallflower.explain.record_view.MOST_CELLS", 0)
    assert view(table, (3, 3)).shared(start).tolist() == pushed.tolist()
    assert pushed.sum() == sum(row[0] in start[0] and row[1] in start[1] for row in table)


@pytest.mark.parametrize(("total", "fits"), [(2**62 - 1, True), (2**62, False), (2**64, False)])
def test_sums_beyond_a_machine_word_are_left_to_whole_numbers(total, fits):
    sight = view([(0, 1)], (1,))
    made = np.array([1])
    sight.__dict__["cells"] = Cells(made, np.array([total], dtype=object), made.astype(object), made, made)
    assert (sight.totals is not None) is fits
