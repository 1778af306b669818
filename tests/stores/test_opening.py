import pytest

from wallflower.errors import UsageError
from wallflower.stores.opening import open_store


def test_a_server_keeps_many_ledgers_and_is_asked_for_one_by_name():
    with pytest.raises(UsageError, match="name the table"):
        open_store("postgresql://nowhere/ledgers", table=None, patience_s=1)
