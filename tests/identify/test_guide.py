"""The guide is run from its own text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doc_blocks import run_page

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "identify.md"


@pytest.mark.slow
def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run_page(GUIDE)
    assert any("One row can influence at most 1 of the 2 answers" in text for text in printed)
