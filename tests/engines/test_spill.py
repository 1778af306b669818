"""What is put aside comes back in order, in a folder that this user alone can enter, and is gone afterwards."""

import stat

import numpy as np
import pytest

from wallflower.engines import spill
from wallflower.engines.duckdb.parquet_copy import can_be_read
from wallflower.engines.spill import Spill
from wallflower.errors import ReleaseFailed


@pytest.mark.parametrize("few", [0, 1000])
def test_rows_come_back_in_order(few, monkeypatch):
    monkeypatch.setattr(spill, "FEW", few)
    random = np.random.default_rng(1)
    rows = random.integers(-(2**53), 2**53, (300, 3))
    rows[:, 1] = random.integers(0, 4, 300)
    with Spill(3, most=40) as heap:
        for at in range(0, 300, 7):
            heap.add(rows[at : at + 7])
        assert len(heap) == 300
        for by in ([0], [1, 2], [2]):
            found = np.concatenate(list(heap.ascending(by)))
            assert sorted(found.tolist()) == sorted(rows.tolist())
            keys = found[:, by].tolist()
            assert keys == sorted(keys)
        some = np.concatenate(list(heap.ascending([1, 0], columns=[2])))
        assert some[:, 0].tolist() == rows[np.lexsort([rows[:, 0], rows[:, 1]]), 2].tolist()


def test_nothing_is_read_from_an_empty_heap():
    with Spill(2, most=5) as heap:
        assert (len(heap), list(heap.ascending([0]))) == (0, [])


def test_the_folder_is_private_and_gone_afterwards(monkeypatch):
    monkeypatch.setattr(spill, "FEW", 0)
    with Spill(1, most=1) as heap:
        heap.add(np.zeros((5, 1), dtype=np.int64))
        folder = heap._base.folder
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_what_the_database_says_is_not_told(monkeypatch):
    monkeypatch.setattr(spill, "FEW", 0)
    with Spill(1, most=1) as heap:
        heap.add(np.full((5, 1), 424242, dtype=np.int64))
        with pytest.raises(ReleaseFailed) as told:
            list(heap.ascending([7]))
    assert "could not be read" in str(told.value)
    assert told.value.__context__ is None


def test_a_parquet_file_of_numbers_is_not_read_to_be_opened():
    """Nothing of it is doubtful; asking anyway once brought a one for every row into memory."""
    assert can_be_read(None, "nowhere", [])
