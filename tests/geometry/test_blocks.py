"""What the blocks of rows promise to the loops that read them: places inside their columns, a margin wide enough."""

import math

import numpy as np
import pytest

from wallflower.geometry.balls import Ball
from wallflower.geometry.blocks import lay_out


def laid_out(places, size=100):
    return lay_out(np.array(places), Ball((9,), 1), sizes=[size], centre=np.zeros(1), enough=1)[0]


def test_the_margin_covers_the_rounding_that_its_derivation_allows():
    """`plain.md`: from the largest coordinate and the widest column, both in radii; here a step is three radii."""
    reach = 3 * 1 + 3 * (100 + 1)
    assert laid_out([[0], [1]]).margin >= (24 * reach * math.sqrt(1) + 2 + 4) * 2.0**-24


@pytest.mark.parametrize("outside", [-1, 100])
def test_a_place_outside_its_column_is_refused(outside):
    with pytest.raises(ValueError, match="outside its column"):
        laid_out([[0], [outside]])


@pytest.mark.parametrize("limit", [2**64 - 1, 2**64, 2**64 + 5, 2**65 + 1])
def test_a_limit_beyond_64_bits_is_kept_by_its_last_64(limit):
    """Sums wrap at 2^64 as well, so that differences of what is summed and the limit stay right."""
    blocks = lay_out(np.array([[0], [1]]), Ball((9,), limit), sizes=[100], centre=np.zeros(1), enough=1)[0]
    assert int(blocks.limit) == limit % 2**64
