"""The documentation site: every page of docs is on it, it can be searched, and nothing on it is fetched from outside."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from scripts.site import ROOT, build, outside

import wallflower
from tests.report.browser import chromium, missing, sheets

PICTURES = sorted([*ROOT.glob("docs/pictures/*.svg"), *ROOT.glob("experiments/*/pictures/*.svg")])


@pytest.mark.parametrize(
    "planted",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<img src="http://example.org/a.png">',
        '<img srcset="a.png 1x, https://example.org/b.png 2x">',
        '<p style="background: url(https://example.org/a.png)">',
        "<style>@import 'https://example.org/a.css';</style>",
    ],
)
def test_what_a_page_would_fetch_from_outside_is_noticed(tmp_path, planted):
    Path(tmp_path, "page.html").write_text(f"<body>{planted}</body>", encoding="utf-8")
    (found,) = outside(tmp_path)
    assert found.startswith("page.html: ")
    assert "example.org" in found


def test_a_plain_link_and_a_file_beside_the_page_are_no_fetching(tmp_path):
    Path(tmp_path, "page.html").write_text('<a href="https://example.org">a</a><img src="a.png">', encoding="utf-8")
    Path(tmp_path, "page.css").write_text("body { background: url(a.png) }", encoding="utf-8")
    assert outside(tmp_path) == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_a_picture_brings_its_own_paper(picture):
    """Drawn dark on white, whole: so it reads the same on a dark page."""
    first = re.search(r'<path d="([^"]+)"\s+style="fill: #ffffff"', picture.read_text(encoding="utf-8"))
    assert first
    assert "L 0 0" in first[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(missing() is not None and os.environ.get("CI") != "true", reason="needs chromium and chromedriver")
def test_the_page_for_a_data_protection_officer_prints_on_one_sheet_of_two_sides(site):
    with chromium() as driver:
        assert sheets(driver, site / "docs/dpo.html") == 2
        assert sheets(driver, site / "docs/guide.html") > 2  # pages are counted, whatever they are


@pytest.mark.slow
def test_the_site_is_whole_and_needs_no_network(site):
    assert outside(site) == []
    for source in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/notebooks/*.ipynb"), ROOT / "LIMITATIONS.md"]:
        assert (site / source.relative_to(ROOT)).with_suffix(".html").is_file(), source
    front = (site / "README.html").read_text(encoding="utf-8")
    assert f"<title>Wallflower {wallflower.__version__}</title>" in front
    assert 'url=README.html"' in (site / "index.html").read_text(encoding="utf-8")

    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert '"docs/tutorials/count"' in index
    assert "lomax" in index

    reference = re.sub(r"<[^>]+>", "", (site / "docs/reference/python.html").read_text(encoding="utf-8"))
    assert "epsilon: Spelled" in reference
    assert "price(query: Query) -&gt; Price" in reference

    notebook = (site / "docs/notebooks/count.html").read_text(encoding="utf-8")
    assert 'class="highlight-python' in notebook
    assert "<table" in notebook  # an output that was kept as a page, not as text
