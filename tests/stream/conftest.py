"""Every test ends what it started, also one that fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stream import support


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    yield
    support.end_what_was_left()
