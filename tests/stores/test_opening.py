from pathlib import Path

import pytest

from wallflower.errors import UsageError
from wallflower.stores.durable_file import sync_folder
from wallflower.stores.opening import open_store


def test_a_server_keeps_many_ledgers_and_is_asked_for_one_by_name():
    with pytest.raises(UsageError, match="name the table"):
        open_store("postgresql://nowhere/ledgers", table=None, patience_s=1)


def test_a_folder_is_synced_without_keeping_it_open(tmp_path):
    """A service syncs for as long as it lives: a handle kept each time would end it after a thousand releases."""
    before = set(Path("/proc/self/fd").iterdir())
    for _ in range(8):
        sync_folder(tmp_path)
    assert len(set(Path("/proc/self/fd").iterdir()) - before) < 8
