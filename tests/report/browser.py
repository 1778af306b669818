"""Open a page as a person would: headless Chromium, no network, at a given width."""

from __future__ import annotations

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


def troubles(driver, page: Path, width: int, *, picture: Path | None = None) -> list[str]:
    """Console errors and elements that stick out of the page at this width."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.get(page.resolve().as_uri())
    found = [entry["message"] for entry in driver.get_log("browser") if entry["level"] in {"SEVERE", "WARNING"}]
    found += driver.execute_script(OVERFLOWING, width)
    if driver.execute_script("return document.documentElement.scrollWidth > arguments[0] + 1", width):
        found.append("the page scrolls sideways")
    if picture is not None:
        height = driver.execute_script("return document.documentElement.scrollHeight")
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics | {"height": height})
        driver.save_screenshot(str(picture))
    return found
