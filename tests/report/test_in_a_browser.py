"""Every kind of page, opened in Chromium on a phone and on a desk: no console error, nothing sticks out, no word is broken."""

from __future__ import annotations

import os
import re

import pytest

from tests.cli.workspace import lay_out
from tests.report.browser import broken_here, chromium, headings_torn, missing, opened, troubles
from tests.service import accessibility
from wallflower.cli.app import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        missing() is not None and os.environ.get("CI") != "true", reason="needs chromium and chromedriver"
    ),
]

COUNT = ["count", "salaries.toml", "--columns", "salary", "--neighbours", "5", "--radius", "1000", "--epsilon", "1/2"]


@pytest.fixture(scope="module")
def driver():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The demo's report with every certificate and owner's report beside it, and those of a table with long names."""
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
    found = {str(page.relative_to(folder)): page for page in sorted(folder.rglob("*.html"))}
    assert len(found) >= 3 + 5 + 4  # the report, an owner's page of each area, a certificate of each area, and two
    return found


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_open_cleanly_and_break_no_word(driver, pages, width):
    found = {name: troubles(driver, page, width) + broken_here(driver) for name, page in pages.items()}
    assert found == {name: [] for name in pages}


def test_in_the_dark_every_page_is_dark_and_can_be_read_and_paper_stays_white(driver, pages):
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    painted = "return getComputedStyle(document.body).backgroundColor"
    wrong = []
    try:
        for name, page in pages.items():
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
            driver.get(page.resolve().as_uri())
            wrong += [(name, each) for each in accessibility.troubles(driver) if "contrast" in each]
            if driver.execute_script(painted) != "rgb(20, 24, 28)":
                wrong.append((name, "light"))
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", **dark})
            if driver.execute_script(painted) != "rgb(255, 255, 255)":
                wrong.append((name, "dark on paper"))
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert not wrong


def test_paper_breaks_no_word_and_tears_no_heading_from_what_follows(driver, pages):
    """A4 upright less its margins is about 670 px wide, and across 1,000; half of that is a column of the report."""
    found = {}
    for name, page in pages.items():
        with opened(driver, page, 670, printed=True):
            found[name] = broken_here(driver) + headings_torn(driver)
    assert found == {name: [] for name in pages}


def test_the_report_links_what_was_filed(pages):
    report = next(page for name, page in pages.items() if name == "demo/report.html")
    links = re.findall(r'<a href="([^"#]+)"', report.read_text(encoding="utf-8"))
    assert len(links) >= 10
    assert [link for link in links if not (report.parent / link).is_file()] == []
    # Fridges draw from the system's randomness, and no banner says otherwise.
    assert "NOT PRIVATE" not in pages["demo/stream/certificate.html"].read_text(encoding="utf-8")


PLANTED = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><body>%s"""


def test_the_look_finds_what_sticks_out_and_what_is_logged(driver, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(PLANTED % '<div style="width: 900px">wide</div><script>console.error("bad")</script>')
    found = " ".join(troubles(driver, page, 390))
    assert "bad" in found
    assert "wide" in found


def test_the_look_finds_a_broken_word_and_a_torn_heading(driver, tmp_path):
    page = tmp_path / "broken.html"
    page.write_text(
        PLANTED
        % '<h2>Torn</h2><p style="width: 2em; overflow-wrap: anywhere">a context</p><p>whole-but-for hyphens</p>'
    )
    with opened(driver, page, 390):
        assert broken_here(driver) == ["context"]
    with opened(driver, page, 390, printed=True):
        assert broken_here(driver) == ["context"]
        assert headings_torn(driver) == ["Torn"]


def test_the_report_stands_alone(pages):
    """Nothing is fetched: no address of another host but the names of XML dialects."""
    text = pages["demo/report.html"].read_text(encoding="utf-8")
    for dialect in ("http://www.w3.org", "http://purl.org", "http://creativecommons.org"):
        text = text.replace(dialect, "")
    assert "http://" not in text
    assert "https://" not in text
    assert "<script" not in text
