"""Every row is at home in exactly one strip, and a strip has every row as far as its halo goes."""

import numpy as np
import pytest

from wallflower.geometry.strips import strips


@pytest.mark.parametrize("seed", range(60))
def test_strips_keep_their_law(seed):
    random = np.random.default_rng(seed)
    rows = np.column_stack([random.integers(0, int(random.choice([3, 30, 1000])), 80), np.arange(80)])[
        : random.integers(81)
    ]
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    below, above = (int(random.choice([0, 1, 5, 40, 2**55])) for _ in range(2))
    most = int(random.choice([1, 2, 5, 17, 1000]))
    batch = int(random.integers(1, 20))
    homes = []
    for strip in strips(
        (rows[at : at + batch] for at in range(0, len(rows), batch)), 0, below=below, above=above, most=most
    ):
        home = strip.rows[strip.home]
        assert len(home)
        low, high = home[0, 0] - below, home[-1, 0] + above
        due = rows[(rows[:, 0] >= low) & (rows[:, 0] <= high)]
        assert strip.rows.tolist() == due.tolist()
        homes += home[:, 1].tolist()
    assert homes == rows[:, 1].tolist()


def test_strips_are_about_as_large_as_they_may_be():
    rows = np.arange(10_000)[:, None]
    sizes = [len(strip.rows) for strip in strips([rows], 0, below=3, above=3, most=100)]
    assert 80 < np.mean(sizes) < 130
    assert max(sizes) <= 130
