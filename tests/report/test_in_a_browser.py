"""Every kind of page, opened in Chromium on a phone and on a desk: no console error, nothing sticks out."""

from __future__ import annotations

import os

import pytest

from tests.cli.workspace import lay_out
from tests.report.browser import chromium, missing, troubles
from wallflower.cli.app import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        missing() is not None and os.environ.get("CI") != "true", reason="needs chromium and chromedriver"
    ),
]

COUNT = ["count", "salaries.toml", "--columns", "salary", "--neighbours", "5", "--radius", "1000", "--epsilon", "1/2"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The demo's report, an owner's report and a certificate."""
    folder = tmp_path_factory.mktemp("pages")
    lay_out(folder)
    before = os.getcwd()  # noqa: PTH109 - restored below
    os.chdir(folder)
    try:
        assert run(["demo", "--out", "demo"]) == 0
        assert run([*COUNT, "--owner-report", "owner.html"]) == 0
        assert run(["certificate", "release.json", "-o", "certificate.html"]) == 0
    finally:
        os.chdir(before)
    return {
        "demo": folder / "demo" / "report.html",
        "owner": folder / "owner.html",
        "certificate": folder / "certificate.html",
    }


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_open_cleanly(pages, width):
    with chromium() as driver:
        found = {name: troubles(driver, page, width) for name, page in pages.items()}
    assert found == {name: [] for name in pages}


def test_the_look_finds_what_sticks_out_and_what_is_logged(tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><body><div style="width: 900px">wide</div><script>console.error("bad")</script>'
    )
    with chromium() as driver:
        found = " ".join(troubles(driver, page, 390))
    assert "bad" in found
    assert "wide" in found


def test_the_report_stands_alone(pages):
    """Nothing is fetched: no address of another host but the names of XML dialects."""
    text = pages["demo"].read_text(encoding="utf-8")
    for dialect in ("http://www.w3.org", "http://purl.org", "http://creativecommons.org"):
        text = text.replace(dialect, "")
    assert "http://" not in text
    assert "https://" not in text
    assert "<script" not in text
