"""Open a page as a person would: headless Chromium, no network, at a given width."""

from __future__ import annotations

import base64
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

OVERFLOWING = """
const wide = arguments[0];
return [...document.querySelectorAll('body *')]
  .filter(e => !e.closest('svg') || e.tagName === 'svg')
  .filter(e => !e.closest('.scroll') || e.classList.contains('scroll'))
  .filter(e => e.getBoundingClientRect().right > wide + 1 || e.getBoundingClientRect().left < -1)
  .map(e => e.tagName + '.' + e.className + ': ' + (e.textContent || '').slice(0, 40));
"""


def missing() -> str | None:
    """What is not installed, if anything."""
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return ", ".join(absent) or None


@contextmanager
def chromium():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as profile:
        for flag in (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
        ):  # fmt: skip
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


def show(driver, width: int, *, media: str = "", colours: str = "") -> None:
    """The page that is open, or the next one, on a screen as wide (or on paper), for somebody who prefers these colours."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    features = [{"name": "prefers-color-scheme", "value": colours}] if colours else []
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def load(driver, page: Path) -> None:
    driver.get(page.resolve().as_uri())


def logged(driver) -> list[str]:
    """Console errors since somebody asked last."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in {"SEVERE", "WARNING"}]


def sticking_out(driver, width: int) -> list[str]:
    """Elements of the page that is open which stick out of it at this width; no page here asks by a script how wide it is."""
    found = [] if driver.execute_script("return innerWidth") == width else ["it has another width"]
    found += driver.execute_script(OVERFLOWING, width)
    if driver.execute_script("return document.documentElement.scrollWidth > arguments[0] + 1", width):
        found.append("the page scrolls sideways")
    return found


BROKEN = r"""
const words = /[\p{L}\p{N}_]+(?:[.,'’][\p{L}\p{N}_]+)*/gu;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const broken = [];
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  if (node.parentElement.closest('svg, style, script, template')) continue;
  for (const word of node.data.matchAll(words)) {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const lines = new Set([...range.getClientRects()].filter(box => box.width > 0).map(box => Math.round(box.top)));
    if (lines.size > 1) broken.push(word[0]);
  }
}
return broken;
"""


def broken_here(driver) -> list[str]:
    """Words of the page that is open which begin on one line and end on another."""
    return driver.execute_script(BROKEN)


def sheets(driver, page: Path) -> int:
    """How many sides of A4 the page fills when it is printed with its own margins."""
    driver.get(page.resolve().as_uri())
    printed = driver.execute_cdp_cmd(
        "Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
    )
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"])))


def headings_torn(driver) -> list[str]:
    """Headings of the page that is open on paper which it would part from what they head."""
    return driver.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3')]"
        ".filter(e => getComputedStyle(e).breakAfter !== 'avoid').map(e => e.textContent)"
        ".concat([...document.querySelectorAll('figure')]"
        ".filter(e => getComputedStyle(e).breakInside !== 'avoid').map(e => e.textContent.slice(0, 40)))"
    )
