"""Every row is at home in exactly one strip, and a strip has every row as far as its halo goes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.geometry.strips import strips

HALO = st.sampled_from([0, 1, 5, 40, 2**55])


@given(
    values=st.sampled_from([3, 30, 1000]).flatmap(lambda most: st.lists(st.integers(0, most - 1), max_size=80)),
    below=HALO,
    above=HALO,
    most=st.sampled_from([1, 2, 5, 17, 1000]),
    batch=st.integers(1, 19),
)
@settings(max_examples=100, deadline=None)
def test_strips_keep_their_law(values, below, above, most, batch):
    rows = np.column_stack([np.sort(np.array(values, dtype=np.int64)), np.arange(len(values))])
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
