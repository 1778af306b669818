"""Exact numbers: what they spell, and what is refused."""

from __future__ import annotations

import pytest

from wallflower.errors import UsageError
from wallflower.schema.exact import positive


def test_an_epsilon_that_promises_nothing_is_refused():
    with pytest.raises(UsageError, match="promises nothing"):
        positive("1e20", name="epsilon")
    assert positive("10000", name="epsilon") == 10_000
