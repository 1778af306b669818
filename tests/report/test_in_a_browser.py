"""Every kind of page, opened in Chromium on a phone and on a desk: no console error, nothing sticks out, no word is broken."""

from __future__ import annotations

import os
import re

import pytest

from tests.cli.workspace import lay_out
from tests.report.browser import broken_here, chromium, headings_torn, load, logged, missing, show, sticking_out
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


def look(driver) -> dict[str, list[str]]:
    """What is wrong with the page that is open: on a phone, on a desk, in the dark and on paper. It is laid out anew, not loaded."""
    painted = "return getComputedStyle(document.body).backgroundColor"
    found = {}
    for width in (390, 1280):
        show(driver, width)
        found[f"at {width}"] = sticking_out(driver, width) + broken_here(driver)
    show(driver, 1280, colours="dark")
    found["in the dark"] = [each for each in accessibility.troubles(driver) if "contrast" in each]
    if driver.execute_script(painted) != "rgb(20, 24, 28)":
        found["in the dark"].append("light")
    show(driver, 670, media="print", colours="dark")
    found["dark on paper"] = [] if driver.execute_script(painted) == "rgb(255, 255, 255)" else ["dark"]
    # A4 upright less its margins is about 670 px wide, and across 1,000; half of that is a column of the report.
    show(driver, 670, media="print")
    found["on paper"] = broken_here(driver) + headings_torn(driver)
    show(driver, 390)
    return found


@pytest.fixture(scope="module")
def looks(driver, pages):
    """Of every page, loaded once."""
    found = {}
    for name, page in pages.items():
        show(driver, 390)
        load(driver, page)
        found[name] = {**look(driver), "said": logged(driver)}
    return found


@pytest.mark.parametrize("where", ["at 390", "at 1280", "said"])
def test_pages_open_cleanly_and_break_no_word(looks, where):
    assert {name: found[where] for name, found in looks.items() if found[where]} == {}


@pytest.mark.parametrize("where", ["in the dark", "dark on paper"])
def test_in_the_dark_every_page_is_dark_and_can_be_read_and_paper_stays_white(looks, where):
    assert {name: found[where] for name, found in looks.items() if found[where]} == {}


def test_paper_breaks_no_word_and_tears_no_heading_from_what_follows(looks):
    assert {name: found["on paper"] for name, found in looks.items() if found["on paper"]} == {}


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
    show(driver, 390)
    load(driver, page)
    found = look(driver)
    assert "wide" in " ".join(found["at 390"])
    assert "wide" not in " ".join(found["at 1280"])
    assert found["in the dark"] == ["light"]
    assert found["dark on paper"] == ["dark"]  # it has no colour of its own at all
    assert "bad" in " ".join(logged(driver))


def test_the_look_finds_what_is_wrong_on_a_desk_in_the_dark_or_on_paper_alone(driver, tmp_path):
    page = tmp_path / "sometimes.html"
    page.write_text(
        PLANTED
        % """<style>
        body { background: rgb(255, 255, 255) }
        @media (prefers-color-scheme: dark) { body { background: rgb(20, 24, 28); color: #333 } h2 { color: #fff } }
        @media print { body { background: rgb(255, 255, 255); color: #000 } h2 { color: #000 } p { width: 2em } }
        @media (min-width: 1000px) { div { width: 1500px } }
        h2 { break-after: avoid } p { overflow-wrap: anywhere }
        </style><h2>Kept</h2><div>wide</div><p>a context</p>"""
    )
    show(driver, 390)
    load(driver, page)
    found = look(driver)
    assert found["at 390"] == []
    assert "wide" in " ".join(found["at 1280"])
    assert "contrast" in " ".join(found["in the dark"])
    assert found["dark on paper"] == []
    assert found["on paper"] == ["context"]


def test_the_look_finds_a_broken_word_and_a_torn_heading(driver, tmp_path):
    page = tmp_path / "broken.html"
    page.write_text(
        PLANTED
        % '<h2>Torn</h2><p style="width: 2em; overflow-wrap: anywhere">a context</p><p>whole-but-for hyphens</p>'
    )
    show(driver, 390)
    load(driver, page)
    found = look(driver)
    assert found["at 390"] == ["context"]
    assert found["on paper"] == ["context", "Torn"]


def test_the_report_stands_alone(pages):
    """Nothing is fetched: no address of another host but the names of XML dialects."""
    text = pages["demo/report.html"].read_text(encoding="utf-8")
    for dialect in ("http://www.w3.org", "http://purl.org", "http://creativecommons.org"):
        text = text.replace(dialect, "")
    assert "http://" not in text
    assert "https://" not in text
    assert "<script" not in text
