"""Both ways of the compiled factor against the definition, bit for bit, on tied and untied rows."""

from __future__ import annotations

import random

import numpy as np
import pytest

from wallflower.detectors import LOF
from wallflower.detectors import lof_kernels as kernels


def both(values, value, k):
    """The factor by multiplicities and by single rows."""
    distinct, copies = np.unique(np.array(values) - value, return_counts=True)
    centre, size = int(np.searchsorted(distinct, 0)), len(values)
    most = max(size, 4 * k + 8) + 1
    room = tuple(np.empty(most, np.int64) for _ in range(10))
    linear = kernels._factor(distinct, copies, len(distinct), centre, k, *room[4:8])
    units = np.empty(size + 2 * k, np.float32)
    units[:k], units[k + size :] = -kernels.FAR, kernels.FAR
    units[k : k + size] = np.sort(np.array(values) - value)
    first = int(copies[:centre].sum())
    return linear, kernels._by_units(units, size, first, k, np.empty(size, np.float32), room)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 20, 40])
def test_both_ways_give_the_bits_of_the_definition(k):
    dice = random.Random(k)
    for turn in range(150):
        spread = dice.choice([1, 3, 12, 200, 10**6])
        values = [dice.randint(-spread, spread) for _ in range(dice.randrange(k + 1, k + 60))]
        if turn % 3 == 0:
            values = [2 ** dice.randrange(20) * dice.choice([-1, 1]) for _ in values]
        if turn % 5 == 0:
            values += values
        value = dice.choice(values)
        expected = LOF(neighbours=k).factor(np.sort(np.array(values)), value)
        mirrored = LOF(neighbours=k).factor(np.sort(-np.array(values)), -value)
        assert both(values, value, k) == (expected, expected)
        assert both([-y for y in values], -value, k) == (mirrored, mirrored)


def test_a_planted_bug_is_seen():
    """Sums that forget that a neighbour's own reach may be the larger one: the plain distances."""
    values, k = [0, 1, 2, 3, 50, 52, 53, 90], 3
    density = {y: 3 / sum(sorted(abs(y - x) for x in values)[1:4]) for y in values}
    near = sorted(values, key=lambda x: abs(x - 90))[1:4]
    assert both(values, 90, k)[0] != pytest.approx(sum(density[x] for x in near) / 3 / density[90], rel=1e-6)
