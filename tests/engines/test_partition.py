"""Where rows travel, and where parts begin: how many rows travel twice, and that none is lost, whatever is chosen."""

import numpy as np
import pytest

from wallflower.engines import partition
from wallflower.engines.executors import SpreadHere
from wallflower.engines.partition import Cut, begins, chunks, together


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(partition, "AT_A_TIME", 1_000)


def sent(values, cut):
    return len(cut.travel(values[:, None])[0]) / len(values)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("halo", "most", "at_most"), [(0, 10**6, 1.0), (20, 10**6, 1.11), (200, 10**6, 1.11), (200, 1_500, 3)]
)
def test_few_rows_travel_twice_where_there_is_memory_and_none_more_than_three_times(halo, most, at_most):
    values = np.random.default_rng(3).integers(0, 100_000, 20_000)
    places = np.sort(values)[250::250].tolist()
    starts = begins(places, 250, halo=2 * halo, most=most)
    cut = Cut(0, halo, halo, starts)
    assert list(starts) == sorted(set(starts))
    assert len(starts) >= 3
    assert sent(values, cut) <= at_most
    if most == 1_500:
        assert max(np.bincount(cut.homes(values))) <= 1_700  # about as many as there is memory for
    widths = np.diff(starts)
    assert widths.min() >= max(1, 2 * halo)


@pytest.mark.usefixtures("small")
def test_one_value_that_most_rows_have_is_one_part():
    places = [5] * 40 + [6, 7, 8]
    starts = begins(places, 1_000, halo=0, most=1_000)
    assert starts == (5, 6, 7, 8)


def test_rows_in_this_process_are_cut_by_the_memory_there_is():
    rows = np.random.default_rng(3).integers(0, 100_000, (20_000, 1))
    cut = SpreadHere(rows).cut(0, below=0, above=0, most=1_500)
    assert max(np.bincount(cut.homes(rows[:, 0]))) <= 1_700
    assert SpreadHere(rows).cut(0, below=0, above=0, most=10**6).parts == 1


def test_equal_rows_become_one_and_order_means_nothing():
    rows = np.array([[2, 1], [0, 5], [2, 1], [0, 4], [2, 1]])
    found = together(rows, np.array([1, 2, 3, 4, 5]), first=1)
    assert found.numbers.tolist() == [[2, 1], [0, 4], [0, 5]]
    assert found.times.tolist() == [9, 4, 2]
    assert len(together(rows[:0], np.zeros(0, dtype=np.int64)).times) == 0


def test_chunks_hold_every_row():
    batches = [np.full((size, 1), size) for size in (3, 1, 4, 1, 3, 1)]
    assert [len(each) for each in chunks(batches, 5)] == [8, 5]
    assert list(chunks([])) == []
