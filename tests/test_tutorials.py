"""Every tutorial is run from its own text, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contracts.server_places import postgresql
from tests.doc_blocks import run_page
from tests.servers import spark
from tests.servers.ports import free_port

DOCS = Path(__file__).resolve().parents[1] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
AREAS = {"explain", "identify", "count", "publish", "stream"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_leads_to_a_certificate(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    instead = {"127.0.0.1:1883": f"127.0.0.1:{free_port()}"}
    if page.stem == "spark":
        spark.session()  # which the page's own getOrCreate then finds
    if "127.0.0.1:5432" in page.read_text(encoding="utf-8"):
        instead["127.0.0.1:5432"] = f"127.0.0.1:{postgresql().port}"
    run_page(page, instead=instead)
    certificate = (tmp_path / "certificate.html").read_text(encoding="utf-8")
    assert "<html" in certificate
    assert "NOT PRIVATE" not in certificate


def test_every_area_has_a_tutorial():
    assert {page.stem for page in TUTORIALS} >= AREAS
