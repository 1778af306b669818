"""The console as people use it: an asker and an owner in two windows, narrow and wide, by keyboard, without JavaScript."""

from __future__ import annotations

import re
import shutil
import time
from contextlib import ExitStack, contextmanager

import pytest

from tests.report import browser as pages
from tests.service import accessibility
from tests.service.running import PASSWORD, add_people, serving, write_files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(pages.missing() is not None, reason=f"not installed: {pages.missing()}"),
]
WIDTHS = (390, 768, 1280)


@pytest.fixture(scope="module")
def running(laid_out, tmp_path_factory):
    folder = tmp_path_factory.mktemp("browsed")
    shutil.copytree(laid_out.folder, folder, dirs_exist_ok=True)
    (folder / "service.db").unlink()
    path, port = write_files(folder)
    database = str(folder / "service.db")
    add_people(database, ["ada", "otto", "dora"])
    with serving(folder, path, port, database) as service:
        yield service


@pytest.fixture(scope="module")
def windows(running):
    """Two windows: ada, who asks, and otto, who decides."""
    with ExitStack() as stack:
        found = {}
        for name in ("ada", "otto"):
            driver = stack.enter_context(pages.chromium())
            _enter(driver, running, name)
            found[name] = driver
        yield found


def _by_id(driver, name):
    from selenium.webdriver.common.by import By

    return driver.find_element(By.ID, name)


LEAVING = "does not belong to the document"


def _all(driver, query):
    from selenium.webdriver.common.by import By

    return driver.find_elements(By.CSS_SELECTOR, query)


def _press(driver, query):
    """Press, and wait until the next page is there."""
    from selenium.common.exceptions import StaleElementReferenceException, WebDriverException

    page = _all(driver, "html")[0]
    _all(driver, query)[0].click()

    def gone() -> bool:
        try:
            page.is_enabled()
        except WebDriverException as error:
            # Asked at the very moment at which the page goes away, the driver has no name for it.
            if not isinstance(error, StaleElementReferenceException) and LEAVING not in str(error):
                raise
            return driver.execute_script("return document.readyState") == "complete"
        return False

    _until(gone)


def _wide(driver, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


RELOADED_S = 0.3
"""A page that is loaded anew at every look costs more than what it waits for."""


def _until(condition, patience_s=300, every_s=0.05):
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(every_s)
    message = "it did not happen"
    raise AssertionError(message)


def _fill(driver, running, epsilon, purpose):
    _wide(driver, 1280)
    driver.get(f"{running.address}/tables/stays/ask/count")
    for box in _all(driver, "input[name=columns]")[:2]:
        box.click()
    field = _by_id(driver, "epsilon")
    field.clear()
    field.send_keys(epsilon)
    _by_id(driver, "purpose").send_keys(purpose)


def _submit(driver) -> str:
    _press(driver, "button[name=submit]")
    return _until(lambda: "/requests/" in driver.current_url and driver.current_url)


def _card(owner, question: str) -> str:
    """Where the owner's queue shows a request, among those of other tests."""
    place = next(
        place
        for place, form in enumerate(_all(owner, "section.card form[action$=decide]"), start=1)
        if question.rsplit("/", 1)[1] in form.get_attribute("action")
    )
    return f"section.card:nth-of-type({place})"


def _rehearsed(owner, running, card: str) -> str:
    """What a card shows of its rehearsal; the clerk may still be at it."""
    owner.get(f"{running.address}/queue")
    return " ".join(each.text for each in _all(owner, f"{card} .rehearsal dl"))


def test_an_asker_and_an_owner_in_two_windows(running, windows):
    """Live price, submission, refusal with a reason, approval, answer, certificate, policy."""
    ada, otto = windows["ada"], windows["otto"]
    _fill(ada, running, "0.2", "planning beds")
    first = _until(lambda: "0.2" in _by_id(ada, "price").text and _by_id(ada, "price").text)
    field = _by_id(ada, "epsilon")
    field.clear()
    field.send_keys("0.4")
    second = _until(lambda: "0.4" in _by_id(ada, "price").text and _by_id(ada, "price").text)
    assert re.search(r"±\d+", first)[0] != re.search(r"±\d+", second)[0]
    question = _submit(ada)
    otto.get(f"{running.address}/queue")
    card = _card(otto, question)
    assert "planning beds" in _all(otto, card)[0].text
    _press(otto, f"{card} form[action$=rehearse] button")
    _until(lambda: "made-up rows" in _rehearsed(otto, running, card), every_s=RELOADED_S)
    _all(otto, f"{card} input[name=reason]")[0].send_keys("Not this quarter.")
    _press(otto, f"{card} button[value=refuse]")
    assert _until(lambda: ada.get(question) or "Not this quarter." in ada.page_source)

    _fill(ada, running, "0.2", "planning beds again")
    question = _submit(ada)
    otto.get(f"{running.address}/queue")
    _press(otto, f"{_card(otto, question)} button[value=policy]")
    _until(lambda: ada.get(question) or "answered" in _all(ada, ".steps")[0].text, every_s=RELOADED_S)
    assert re.fullmatch(r"\d+", _all(ada, ".big")[0].text)
    _press(ada, "a.button[href$=certificate]")
    assert "Differential privacy" in ada.page_source
    _fill(ada, running, "0.1", "by policy")
    _submit(ada)
    assert "decided" in _all(ada, ".steps")[0].text


def test_a_budget_that_is_used_up_is_said_before_anything_is_submitted(running, windows):
    ada = windows["ada"]
    _fill(ada, running, "100", "too much")
    assert "refused" in _until(lambda: "refused" in _by_id(ada, "price").text and _by_id(ada, "price").text)


def _at(driver, field):
    from selenium.webdriver.common.by import By

    return driver.find_element(By.NAME, field)


def _said_at(driver, field) -> str:
    return _by_id(driver, f"wrong-{field}").text


def test_an_edited_declaration_shows_its_error_at_its_field(running, windows):
    """While one types, and after a button; the text on the other side says the same."""
    otto = windows["otto"]
    _wide(otto, 1280)
    otto.get(f"{running.address}/tables/stays/declare")
    field = _at(otto, "columns/days/upper")
    field.clear()
    field.send_keys("-1")
    assert "-1" in _until(lambda: _said_at(otto, "columns/days/upper"))
    assert field.get_attribute("aria-invalid") == "true"
    field.clear()
    field.send_keys("400")
    _until(lambda: not _said_at(otto, "columns/days/upper"))
    assert "upper = 400" in _by_id(otto, "as-text").get_attribute("textContent")
    field.clear()
    field.send_keys("-1")
    _press(otto, "button[name=try]")
    assert "-1" in _said_at(otto, "columns/days/upper")
    assert "1 field" in _by_id(otto, "trouble").text
    otto.get(f"{running.address}/tables/stays/declare?as=text")
    text = _by_id(otto, "text").get_attribute("value")
    assert "upper = 365" in text  # nothing was saved
    otto.execute_script(
        "document.querySelector('#text').value = arguments[0]", text.replace("upper = 365", "upper = -1")
    )
    _press(otto, "button[name=try]")
    assert _by_id(otto, "text").get_attribute("aria-invalid") == "true"
    assert re.search(r"line \d+", _by_id(otto, "trouble").text)


LOOKS = ((390, "light"), (390, "dark"), *((width, "light") for width in WIDTHS[1:]))
"""Colours do not depend on the width. No script of a page asks how wide it is, so a page that is open is looked at in all of these."""


def test_every_page_fits_is_named_and_can_be_read(running, windows):
    """No console error, no request elsewhere, no overflow, no broken word; labels, contrast, headings: light, and dark once."""
    _fill(windows["ada"], running, "0.3", "seen at every width")
    question = _submit(windows["ada"]).removeprefix(running.address)  # so that the queue has a card, too
    asker = (
        question,
        "/",
        "/tables/stays",
        "/tables/stays/ask/count",
        "/tables/salaries/ask/explain",
        "/tables/salaries/ask/publish",
        "/requests",
        "/account",
        "/api",
    )
    owner = (
        "/queue",
        "/tables/stays/declare",
        "/tables/stays/declare?as=text",
        "/tables/stays/ledger",
        "/tables/stays/people",
    )
    wrong = []
    for name, paths in (("ada", asker), ("otto", owner)):
        driver = windows[name]
        for path in paths:
            _wide(driver, WIDTHS[0])
            driver.get_log("browser")  # what was said before
            driver.get(running.address + path)
            for width, scheme in LOOKS:
                wrong += [(path, width, scheme, each) for each in _found(driver, width, scheme)]
            said = [entry["message"] for entry in driver.get_log("browser") if entry["level"] in {"SEVERE", "WARNING"}]
            asked = driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
            said += [each for each in asked if not each.startswith((running.address, "data:"))]
            wrong += [(path, each) for each in said]
    assert not wrong


def _found(driver, width: int, scheme: str) -> list[str]:
    """What is wrong with the page that is open, at this width and in these colours."""
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    _wide(driver, width)
    found = [] if driver.execute_script("return innerWidth") == width else ["it has another width"]
    if not driver.execute_script("return matchMedia(arguments[0]).matches", f"(prefers-color-scheme: {scheme})"):
        found.append("it has other colours")
    found += accessibility.troubles(driver) + accessibility.broken_words(driver)
    found += driver.execute_script(pages.OVERFLOWING, width)
    if driver.execute_script("return document.documentElement.scrollWidth > arguments[0]", width):
        found.append("the page scrolls sideways")
    return found


def test_a_page_that_is_bad_at_one_width_or_in_the_dark_is_noticed(windows):
    """Looked at without being loaded again."""
    ada = windows["ada"]
    page = (
        "<!doctype html><html lang=en><meta name=viewport content='width=device-width, initial-scale=1'><title>a</title>"
        "<style>body { margin: 0 } @media (min-width: 700px) and (max-width: 800px) { div { width: 900px } }"
        "@media (prefers-color-scheme: dark) { p { color: %23222; background: %23000 } }</style>"
        "<main><h1>a</h1><div>wide</div><p>dark</p></main>"
    )
    _wide(ada, WIDTHS[0])
    ada.get("data:text/html," + page)
    found = {look: " ".join(_found(ada, *look)) for look in LOOKS}
    assert "sideways" in found.pop((768, "light"))
    assert "contrast" in found.pop((390, "dark"))
    assert set(found.values()) == {""}


def test_a_page_that_is_bad_is_noticed(windows):
    ada = windows["ada"]
    ada.get(
        "data:text/html,<body><h1>a</h1><h3>b</h3><input><p style='color:%23ccc'>pale</p><svg role='img'></svg></body>"
    )
    found = " ".join(accessibility.troubles(ada))
    for what in ("no language", "not one main", "skipped", "no label", "contrast", "no words for a picture"):
        assert what in found
    ada.get("data:text/html,<body><p style='width:2em;overflow-wrap:anywhere'>unbreakable</p></body>")
    assert accessibility.broken_words(ada) == ["unbreakable"]


def test_the_keyboard_alone_is_enough_to_ask(running, windows):
    from selenium.webdriver.common.keys import Keys

    ada = windows["ada"]
    _wide(ada, 1280)
    ada.get(f"{running.address}/tables/stays/ask/count")

    def at():
        return ada.switch_to.active_element

    seen = []
    for _ in range(40):
        at().send_keys(Keys.TAB)
        here = at()
        what = here.get_attribute("name") or here.text
        seen.append(what)
        outlined = ada.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        assert outlined != "none", what
        if what == "columns":
            here.send_keys(Keys.SPACE)
        elif what == "purpose":
            here.send_keys("by keyboard")
        elif what == "submit":
            here.send_keys(Keys.ENTER)
            break
    assert "/requests/" in _until(lambda: "/requests/" in ada.current_url and ada.current_url)
    assert seen[0] == "To the content"


def _enter(driver, running, name: str) -> None:
    driver.get(f"{running.address}/login")
    driver.delete_all_cookies()
    driver.get(f"{running.address}/login")
    _by_id(driver, "name").send_keys(name)
    _by_id(driver, "password").send_keys(PASSWORD)
    _press(driver, "main button")


@contextmanager
def _without_scripts(driver, running, name: str):
    """Somebody comes in anew in a window that runs no script of a page; afterwards it does again, and they are still in."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        _enter(driver, running, name)
        yield driver
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_without_javascript_a_button_brings_the_price(running, windows):
    with _without_scripts(windows["ada"], running, "ada") as driver:
        _wide(driver, 1280)
        driver.get(f"{running.address}/tables/stays/ask/count")
        for box in _all(driver, "input[name=columns]")[:2]:
            box.click()
        assert "±" not in _by_id(driver, "price").text
        _press(driver, "button[name=update]")
        assert "±" in _by_id(driver, "price").text
        _by_id(driver, "purpose").send_keys("plain")
        _submit(driver)


def test_without_javascript_a_declaration_shows_its_mistakes_too(running, windows):
    with _without_scripts(windows["otto"], running, "otto") as driver:
        _wide(driver, 1280)
        driver.get(f"{running.address}/tables/stays/declare")
        _at(driver, "columns/age/upper").clear()
        _press(driver, "button[name=try]")
        assert "needs" in _said_at(driver, "columns/age/upper")
