"""Engines of other packages."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata

import pytest

from tests.contracts.engine_sources import declare, numbers
from wallflower.engines import open_source, registry
from wallflower.errors import DeclarationError


@pytest.fixture
def joined(monkeypatch):
    entry = metadata.EntryPoint(name="twice", value="tests.engines.elsewhere:ENGINE", group="wallflower.engines")
    monkeypatch.setattr(registry, "entry_points", lambda **_: [entry])
    registry.engines.cache_clear()
    yield
    registry.engines.cache_clear()


@pytest.mark.usefixtures("joined")
def test_an_engine_of_another_package_joins_by_entry_point(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n1.5\n-2\n", encoding="utf-8")
    source = open_source(replace(declare(numbers(), key=None), source=f"twice://{tmp_path}"))
    source.verify(("x",))
    with source.rows(("x",)) as rows:
        assert sorted(rows.fetch(numbers=("x",)).numbers[:, 0].tolist()) == [-20, -20, 15, 15]
    with pytest.raises(DeclarationError, match="no column"):
        open_source(replace(declare(numbers("y"), key=None), source=f"twice://{tmp_path}")).verify(("y",))


@pytest.mark.usefixtures("joined")
def test_no_other_package_takes_an_address_over():
    assert registry.engine_for("twice://here").name == "twice"
    assert registry.engine_for(None).name != "twice"
